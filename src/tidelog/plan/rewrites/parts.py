"""PartRelations of a body: items that variables tie together which nobody else asks for.

A *part* is a set of items connected by its *inner* slots; what it shares with the rest of the rule is its *boundary*.
Given the values of its boundary, a part either has a match or has none, whatever the rest does. So a part can become a
relation over its boundary, with the part as its only rule. `PartRelations` makes these rules and their names; equal
parts of a program, up to the names of variables, are one relation.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from tidelog.plain import dataclass, replace
from tidelog.plan import core
from tidelog.plan.steps import Const, Slot
from tidelog.values import Kind

Keys = Mapping[str, Sequence[Collection[int]]]
"""Columns of a relation that determine its others."""

_COMPARISONS = ("=", "!=", "<", "<=", ">", ">=", "contains", "not_contains")
_TOTAL = (
    "+", "-", "*", "band", "bor", "bxor", "land", "lor", "lxor", "neg", "bnot", "lnot", "min", "max", "strlen", "cat",
    "itou", "itof", "utoi", "utof",
)  # fmt: skip


@dataclass(frozen=True)
class RulePart:
    """See the module's docstring; the boundary is in the order of its first mention."""

    items: tuple[core.CoreItem, ...]
    inner: frozenset[int]
    boundary: tuple[int, ...]

    @property
    def atoms(self) -> list[core.CoreAtom]:
        return [item for item in self.items if isinstance(item, core.CoreAtom)]

    @property
    def can_move(self) -> bool:
        """Whether the part may be evaluated where the rest of the rule does not hold, without an error that the rule
        would not have had; and whether its atoms bind its boundary."""
        if not self.atoms or not all(map(_never_fails, self.items)):
            return False
        return core.known_from_atoms(self.items).issuperset(self.boundary)


def parts_of(body: Iterable[core.CoreItem], outer: Collection[int]) -> list[RulePart]:
    """The parts of a body between which no slot is shared but the `outer` ones."""
    body = list(body)
    groups: list[tuple[set[int], list[int]]] = []  # inner slots, and the places of the items
    by_slot: dict[int, tuple[set[int], list[int]]] = {}
    for place, item in enumerate(body):
        inner = set(core.mentions(item)).difference(outer)
        met = list({id(g): g for slot in inner if (g := by_slot.get(slot)) is not None}.values())
        joined = max(met, key=lambda group: len(group[1]), default=(set[int](), list[int]()))
        for group in met:
            if group is not joined:
                joined[0].update(group[0])
                joined[1].extend(group[1])
                group[1].clear()
        joined[0].update(inner)
        joined[1].append(place)
        by_slot.update(dict.fromkeys(joined[0] if len(met) > 1 else inner, joined))
        if not met:
            groups.append(joined)
    parts = []
    for inner, places in groups:
        if places:
            items = tuple(body[place] for place in sorted(places))
            mentioned = dict.fromkeys(slot for item in items for slot in core.mentions(item))
            parts.append(RulePart(items, frozenset(inner), tuple(slot for slot in mentioned if slot not in inner)))
    return parts


def pieces(items: Iterable[core.CoreItem]) -> int:
    """Into how many parts without a common slot the items fall: a body of several is a cross product."""
    return len(parts_of((item for item in items if isinstance(item, (core.CoreAtom, core.CoreDefine))), ()))


def determined_by(slots: Iterable[int], body: Iterable[core.CoreItem], keys: Keys) -> frozenset[int]:
    """The slots that have one value at most once these have values: what is computed of them, the fields of their
    records, and what a key gives."""
    known = frozenset(slots)
    items = [item for item in body if not core.gives_many(item)]
    while True:
        found = core.known_from(known, items).union(
            *(core.slots_in(i.args) for i in items if isinstance(i, core.CoreAtom) and has_key(i, known, keys))
        )
        if found == known:
            return found
        known = found


def has_key(atom: core.CoreAtom, known: Collection[int], keys: Keys) -> bool:
    """Whether known slots and constants leave the atom one tuple at most."""
    given = {c for c, a in enumerate(atom.args) if isinstance(a, Const) or (isinstance(a, Slot) and a.index in known)}
    return len(given) == len(atom.args) or any(given.issuperset(key) for key in keys.get(atom.relation, ()))


class PartRelations:
    """The relations that the parts of a program have become."""

    def __init__(self) -> None:
        self.names: dict[object, str] = {}
        self.made: dict[int, int] = {}  # by the number of a clause

    def relation(self, rule: core.CoreRule, items: Iterable[core.CoreItem], boundary: Iterable[int]) -> core.CoreRule:
        """The rule of the relation of some items of a rule."""
        args, body = tuple(map(Slot, boundary)), tuple(core.positioned(items))
        key = canonical(args, body, rule.slots)
        if key not in self.names:
            number = self.made[rule.number] = self.made.get(rule.number, -1) + 1
            self.names[key] = f"{rule.clause.head.name}@part{rule.number}.{number}"
        return replace(rule, relation=self.names[key], args=args, body=body)


def canonical(
    args: tuple[Slot, ...], body: Iterable[core.CoreItem], slots: tuple[tuple[str, Kind], ...]
) -> tuple[object, ...]:
    """Equal for two bodies that differ in the numbers of their slots only."""
    numbers: dict[int, int] = {}

    def renamed(value: object) -> object:
        match value:
            case Slot(index=index):
                return "slot", numbers.setdefault(index, len(numbers))
            case core.CoreAtom(relation=relation, args=columns):
                return "atom", relation, renamed(columns)
            case core.CoreAbsent(relation=relation, args=columns):
                return "absent", relation, renamed(columns)
            case core.CoreFilter(op=op, kind=kind, left=left, right=right):
                return op, kind, renamed(left), renamed(right)
            case core.CoreDefine(slot=slot, expression=core.Computed(op=op, kind=kind, args=inputs, arg_kinds=kinds)):
                return renamed(Slot(slot)), op, kind, renamed(inputs), kinds
            case core.CoreDefine(slot=slot, expression=core.Packed(fields=fields)):
                return renamed(Slot(slot)), renamed(fields)
            case tuple():
                return tuple(map(renamed, value))
        return value

    found = renamed(args), tuple(map(renamed, body))
    return *found, tuple(slots[slot][1] for slot in numbers)


def _never_fails(item: core.CoreItem) -> bool:
    match item:
        case core.CoreFilter(op=op):
            return op in _COMPARISONS
        case core.CoreDefine(expression=core.Computed(op=op)):
            return op in _TOTAL
        case core.CoreDefine(expression=expression):
            return isinstance(expression, core.Packed)
    return True
