"""Rules as the planner sees them: numbered slots instead of names, flat atoms, one definition per computed value.

A `CoreRule` says the same as its clause; an `AggregateRelation` is what a rewrite makes of an aggregate. A body is a
set of items whose order does not matter; `orders/` turns it into steps. Arguments are slots, constants, or None for a
column that nobody looks at.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from tidelog.analysis.clauses import Clause
from tidelog.plain import dataclass, replace
from tidelog.plan.steps import Const, Operand, Slot
from tidelog.values import Kind

Argument: TypeAlias = Operand | None


@dataclass(frozen=True, slots=True)
class CoreAtom:
    """A positive atom; `position` counts the atoms of the body in textual order."""

    relation: str
    args: tuple[Argument, ...]
    position: int = 0


@dataclass(frozen=True, slots=True)
class CoreAbsent:
    relation: str
    args: tuple[Argument, ...]


@dataclass(frozen=True, slots=True)
class CoreFilter:
    op: str
    kind: Kind
    left: Operand
    right: Operand


# ---- definitions: slot := expression


@dataclass(frozen=True, slots=True)
class Computed:
    """A built-in functor; `range` gives several values."""

    op: str
    kind: Kind
    args: tuple[Operand, ...]
    arg_kinds: tuple[Kind, ...]


@dataclass(frozen=True, slots=True)
class Called:
    """A user's functor."""

    functor: str
    args: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Packed:
    """A record or ADT branch: computed from its fields, or taken apart when the whole is known."""

    fields: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Counted:
    """The next number of the program's counter."""


@dataclass(frozen=True, slots=True)
class Iterated:
    """The number of the running iteration."""


@dataclass(frozen=True, slots=True)
class Aggregated:
    """`op` of `value` over the matches of `body`, once the `injected` slots are known.

    Matches that differ in none of the `distinct` slots are one; None: each counts. A user's functor, its name in `op`
    behind an `@`, begins with `init`.
    """

    op: str
    kind: Kind
    value: Operand | None
    body: tuple[CoreItem, ...]
    injected: frozenset[int]
    distinct: frozenset[int] | None = None
    init: Operand | None = None


Expression: TypeAlias = Computed | Called | Packed | Counted | Iterated | Aggregated


@dataclass(frozen=True, slots=True)
class CoreDefine:
    slot: int
    expression: Expression


CoreItem: TypeAlias = CoreAtom | CoreAbsent | CoreFilter | CoreDefine


@dataclass(frozen=True, slots=True)
class CoreRule:
    """`relation(args) :- body`. `number` is the clause's number in the program.

    A subsumption clause derives the tuples that are to be dropped; `subsumes` is then True and the body begins with
    the dropped atom and the one that stays. Of several rules that a rewrite has made of one, each is another `variant`.
    """

    number: int
    relation: str
    args: tuple[Operand, ...]
    body: tuple[CoreItem, ...]
    slots: tuple[tuple[str, Kind], ...]
    clause: Clause
    subsumes: bool = False
    variant: int = 0

    def atoms(self) -> list[CoreAtom]:
        return [item for item in self.body if isinstance(item, CoreAtom)]


@dataclass(frozen=True, slots=True)
class AggregateRelation:
    """`relation(group…, result)`: for each tuple of `domain`, the aggregate over its matches, if it has a value.

    `group` are the slots of the columns, in order, and `result` that of the last one. The aggregate's body has no
    aggregates in it. `number` is that of the clause it comes from.
    """

    number: int
    relation: str
    domain: str
    group: tuple[int, ...]
    result: int
    aggregate: Aggregated
    slots: tuple[tuple[str, Kind], ...]
    clause: Clause

    @property
    def groups(self) -> tuple[Slot, ...]:
        """The group as arguments of an atom."""
        return tuple(map(Slot, self.group))

    @property
    def kinds(self) -> tuple[Kind, ...]:
        return tuple(self.slots[slot][1] for slot in (*self.group, self.result))

    def rule(self) -> CoreRule:
        """The whole relation as one rule."""
        return CoreRule(
            self.number,
            self.relation,
            (*self.groups, Slot(self.result)),
            (CoreAtom(self.domain, self.groups), CoreDefine(self.result, self.aggregate)),
            self.slots,
            self.clause,
        )


def slots_in(arguments: tuple[Argument, ...]) -> Iterator[int]:
    return (a.index for a in arguments if isinstance(a, Slot))


def inputs_of(expression: Expression) -> frozenset[int]:
    """The slots that must be known before the expression can be computed."""
    match expression:
        case Computed(args=args) | Called(args=args):
            return frozenset(slots_in(args))
        case Packed(fields=fields):
            return frozenset(slots_in(fields))
        case Aggregated(injected=injected):
            return injected
        case _:
            return frozenset()


def mentions(item: CoreItem) -> list[int]:
    """Every slot that an item reads or binds."""
    match item:
        case CoreAtom(args=args) | CoreAbsent(args=args):
            return list(slots_in(args))
        case CoreFilter(left=left, right=right):
            return list(slots_in((left, right)))
        case CoreDefine(slot=slot, expression=expression):
            return [slot, *inputs_of(expression)]


def known_from(slots: Iterable[int], items: Iterable[CoreItem]) -> frozenset[int]:
    """The slots that have a value once these have: what can be computed, and the fields of known records."""
    known = set(slots)
    pending = [item for item in items if isinstance(item, CoreDefine)]
    while True:
        still = []
        for item in pending:
            if inputs_of(item.expression) <= known:
                known.add(item.slot)
            elif isinstance(item.expression, Packed) and item.slot in known:
                known.update(slots_in(item.expression.fields))
            else:
                still.append(item)
        if len(still) == len(pending):
            return frozenset(known)
        pending = still


def known_from_atoms(items: Iterable[CoreItem]) -> frozenset[int]:
    """The slots that have a value once the atoms among the items are matched."""
    items = list(items)
    return known_from((s for item in items if isinstance(item, CoreAtom) for s in slots_in(item.args)), items)


def gives_many(item: CoreItem) -> bool:
    """Whether a definition gives its slot several values: a range."""
    return isinstance(item, CoreDefine) and isinstance(item.expression, Computed) and item.expression.op == "range"


def relations_in(body: Iterable[CoreItem]) -> Iterator[str]:
    """The relations that a body reads, those inside aggregates too."""
    for item in body:
        match item:
            case CoreAtom(relation=name) | CoreAbsent(relation=name):
                yield name
            case CoreDefine(expression=Aggregated(body=inner)):
                yield from relations_in(inner)


def positioned(items: Iterable[CoreItem]) -> list[CoreItem]:
    """The items with their atoms numbered from 0."""
    result: list[CoreItem] = []
    atoms = 0
    for item in items:
        if isinstance(item, CoreAtom):
            item = replace(item, position=atoms)
            atoms += 1
        result.append(item)
    return result


__all__ = [
    "AggregateRelation", "Aggregated", "Argument", "Called", "Computed", "Const", "CoreAbsent", "CoreAtom",
    "CoreDefine", "CoreFilter", "CoreItem", "CoreRule", "Counted", "Expression", "Iterated", "Packed", "gives_many",
    "inputs_of", "known_from", "known_from_atoms", "mentions", "positioned", "relations_in", "slots_in",
]  # fmt: skip
