"""Aggregates become relations of their own, so that a rule's derivations are joins of tuples and nothing else.

best(s, m) :- shop(s, c), c != 0, m = max a : { sale(s, a) }.

best(s, m) :- shop(s, c), c != 0, best@max0.1(s, m).
best@groups0.0(s) :- shop(s, c), c != 0.
best@max0.1(s, m): for each s of best@groups0.0, m = max a : { sale(s, a) }

The *group* of an aggregate is what it takes from outside (the injected slots). Its *domain* is the relation of the
groups that the rule may ask for, those without a match included: they have a count and a sum, too. The domain's rule
takes from the body the atoms that bind the group and what joins them, no more than needed, and whatever conditions
those atoms decide. It may have groups that the rule never meets; they are joined away.

An aggregate inside an aggregate is rewritten in the same way, as part of a body that begins with the outer domain.
In a recursive stratum the domain must be known before the recursion begins; if the group is bound by atoms of the
stratum itself, there is no such rewrite.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from tidelog.analysis.clauses import Clause
from tidelog.plan import core
from tidelog.plan.steps import Slot
from tidelog.values import Kind


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
    aggregate: core.Aggregated
    slots: tuple[tuple[str, Kind], ...]
    clause: Clause

    @property
    def groups(self) -> tuple[Slot, ...]:
        """The group as arguments of an atom."""
        return tuple(map(Slot, self.group))

    @property
    def kinds(self) -> tuple[Kind, ...]:
        return tuple(self.slots[slot][1] for slot in (*self.group, self.result))

    def rule(self) -> core.CoreRule:
        """The whole relation as one rule."""
        return core.CoreRule(
            self.number,
            self.relation,
            (*self.groups, Slot(self.result)),
            (core.CoreAtom(self.domain, self.groups), core.CoreDefine(self.result, self.aggregate)),
            self.slots,
            self.clause,
        )


Made = core.CoreRule | AggregateRelation


def extract_aggregates(rule: core.CoreRule, own: Collection[str]) -> tuple[core.CoreRule, list[Made]] | None:
    """The rule over aggregate relations, and what defines those and their domains, in order of evaluation.

    None if some domain depends on the relations of the rule's `own` stratum.
    """
    extraction = _Extraction(rule, own)
    try:
        body = extraction.without_aggregates(rule.body)
    except _GroupsAreRecursive:
        return None
    return replace(rule, body=body, slots=tuple(extraction.slots)), extraction.made


class _GroupsAreRecursive(Exception):
    """An aggregate's group is bound by nothing but atoms of its own stratum."""


class _Extraction:
    """The rewrite of one rule."""

    def __init__(self, rule: core.CoreRule, own: Collection[str]) -> None:
        self.rule = rule
        self.own = own
        self.slots = list(rule.slots)
        self.made: list[Made] = []
        self.domains: dict[tuple[tuple[core.CoreItem, ...], tuple[int, ...]], str] = {}

    def without_aggregates(self, body: Iterable[core.CoreItem]) -> tuple[core.CoreItem, ...]:
        """The body with an atom for each aggregate; one may be needed to bind the group of the next."""
        ordinary: list[core.CoreItem] = []
        waiting: list[tuple[int, core.Aggregated]] = []
        for item in body:
            match item:
                case core.CoreDefine(slot=slot, expression=core.Aggregated() as aggregate):
                    waiting.append((slot, aggregate))
                case _:
                    ordinary.append(item)
        while waiting:
            parts = ((w, self.binding_part(ordinary, w[1].injected)) for w in waiting)
            ready = next(((w, groups) for w, groups in parts if groups is not None), None)
            if ready is None:
                raise _GroupsAreRecursive
            (slot, aggregate), groups = ready
            waiting.remove((slot, aggregate))
            ordinary += self.looked_up(slot, self.relation_of(slot, aggregate, groups), ordinary)
        return tuple(core.positioned(ordinary))

    def looked_up(self, slot: int, relation: AggregateRelation, others: list[core.CoreItem]) -> list[core.CoreItem]:
        """The aggregate as an atom. A float that has a value already is compared as a float, not as a word."""
        name, kind = self.slots[slot]
        if kind is not Kind.FLOAT or slot not in _known(others):
            return [core.CoreAtom(relation.relation, (*relation.groups, Slot(slot)))]
        beside = Slot(len(self.slots))
        self.slots.append((f"{name}'", kind))
        atom = core.CoreAtom(relation.relation, (*relation.groups, beside))
        return [atom, core.CoreFilter("=", kind, beside, Slot(slot))]

    def relation_of(
        self, slot: int, aggregate: core.Aggregated, groups: tuple[core.CoreItem, ...]
    ) -> AggregateRelation:
        group = tuple(sorted(aggregate.injected))
        domain = self.domain(groups, group)
        _, *body = self.without_aggregates((core.CoreAtom(domain, tuple(map(Slot, group))), *aggregate.body))
        relation = AggregateRelation(
            self.rule.number,
            self.named(aggregate.op),
            domain,
            group,
            len(self.slots),
            replace(aggregate, body=tuple(core.positioned(body))),
            (*self.slots, self.slots[slot]),
            self.rule.clause,
        )
        self.made.append(relation)
        return relation

    def domain(self, groups: tuple[core.CoreItem, ...], group: tuple[int, ...]) -> str:
        """The relation of an aggregate's groups; aggregates with the same groups share it."""
        if (groups, group) not in self.domains:
            name = self.named("groups")
            self.domains[groups, group] = name
            args = tuple(map(Slot, group))
            self.made.append(replace(self.rule, relation=name, args=args, body=groups, slots=tuple(self.slots)))
        return self.domains[groups, group]

    def binding_part(self, body: list[core.CoreItem], group: frozenset[int]) -> tuple[core.CoreItem, ...] | None:
        """What of a body binds the group: few atoms, and all conditions that they decide.

        None if the rule's own stratum is needed for that, be it only to join what would else be a cross product.
        """
        part = _decided(i for i in body if not (isinstance(i, core.CoreAtom) and i.relation in self.own))
        if not group <= _known(part):
            return None
        for item in [item for item in reversed(part) if _multiplies(item)]:
            rest = _decided(other for other in part if other is not item)
            if group <= _known(rest) and _pieces(rest) <= _pieces(part):
                part = rest
        if _pieces(part) > _pieces(_decided(body)):
            return None
        return tuple(core.positioned(_without_unused(part, group)))

    def named(self, what: str) -> str:
        """A name for what is made next; no program has an `@` in a name."""
        return f"{self.rule.relation}@{what}{self.rule.number}.{len(self.made)}"


def _known(items: Iterable[core.CoreItem]) -> frozenset[int]:
    """The slots that have a value once the atoms among the items are matched."""
    items = list(items)
    atoms = [item for item in items if isinstance(item, core.CoreAtom)]
    return core.known_from((slot for atom in atoms for slot in core.slots_in(atom.args)), items)


def _decided(items: Iterable[core.CoreItem]) -> list[core.CoreItem]:
    """Those of the items that can be evaluated without anything else."""
    items = list(items)
    known = _known(items)
    return [item for item in items if known.issuperset(core.mentions(item))]


def _pieces(items: Iterable[core.CoreItem]) -> int:
    """Into how many parts without a common slot the items fall: a body of several is a cross product."""
    pieces: list[set[int]] = []
    for item in items:
        if isinstance(item, (core.CoreAtom, core.CoreDefine)):
            slots = set(core.mentions(item))
            joined = [piece for piece in pieces if not piece.isdisjoint(slots)]
            pieces = [piece for piece in pieces if piece.isdisjoint(slots)] + [slots.union(*joined)]
    return len(pieces)


def _multiplies(item: core.CoreItem) -> bool:
    """Whether one binding may become several."""
    match item:
        case core.CoreAtom() | core.CoreDefine(expression=core.Computed(op="range")):
            return True
    return False


def _without_unused(items: list[core.CoreItem], wanted: Iterable[int]) -> list[core.CoreItem]:
    """The items without values that are computed for nobody."""
    while True:
        uses = Counter(slot for item in items for slot in core.mentions(item))
        uses.update(wanted)
        used = [item for item in items if not (isinstance(item, core.CoreDefine) and uses[item.slot] == 1)]
        if len(used) == len(items):
            return used
        items = used
