"""Aggregates become relations of their own, so that a rule's derivations are joins of tuples and nothing else.

>>> from tidelog.plan.rewrites.example import example
>>> print(example("best(s, m) :- shop(s, c), c != 0, m = max a : { sale(s, a) }.", extract_aggregates))
best@groups0.0(s) :- shop(s, c), c != 0.
best@max0.1(s, m) for each best@groups0.0(s): max a : { sale(s, a) }
best(s, m) :- shop(s, c), c != 0, best@max0.1(s, m).

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

from tidelog.errors import InternalError
from tidelog.plain import replace
from tidelog.plan import core
from tidelog.plan.rewrites.parts import pieces
from tidelog.plan.rewrites.rewrite import Rewritten, RuleScope
from tidelog.plan.steps import Slot


def extract_aggregates(rule: core.CoreRule, scope: RuleScope) -> Rewritten:
    """The rule over aggregate relations, and what defines those and their domains, in order of evaluation."""
    found = _extracted(rule, scope.own)
    if found is None:
        raise InternalError(f"rule {rule.number}: the groups of an aggregate are found by the recursion")
    return found


def groups_are_recursive(rule: core.CoreRule, own: Collection[str]) -> bool:
    """Whether the domain of some aggregate depends on the relations of the rule's `own` stratum."""
    return _extracted(rule, own) is None


def _extracted(rule: core.CoreRule, own: Collection[str]) -> Rewritten | None:
    if not any(isinstance(i, core.CoreDefine) and isinstance(i.expression, core.Aggregated) for i in rule.body):
        return Rewritten((rule,))
    extraction = _Extraction(rule, own)
    try:
        body = extraction.without_aggregates(rule.body)
    except _GroupsAreRecursive:
        return None
    return Rewritten((replace(rule, body=body, slots=tuple(extraction.slots)),), tuple(extraction.made))


class _GroupsAreRecursive(Exception):
    """An aggregate's group is bound by nothing but atoms of its own stratum."""


class _Extraction:
    """The rewrite of one rule."""

    def __init__(self, rule: core.CoreRule, own: Collection[str]) -> None:
        self.rule = rule
        self.own = own
        self.slots = list(rule.slots)
        self.made: list[core.CoreRule | core.AggregateRelation] = []
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
            made = self.relation_of(slot, aggregate, groups)
            ordinary.append(core.CoreAtom(made.relation, (*made.groups, Slot(slot))))
        return tuple(core.positioned(ordinary))

    def relation_of(
        self, slot: int, aggregate: core.Aggregated, groups: tuple[core.CoreItem, ...]
    ) -> core.AggregateRelation:
        group = tuple(sorted(aggregate.injected))
        domain = self.domain(groups, group)
        _, *body = self.without_aggregates((core.CoreAtom(domain, tuple(map(Slot, group))), *aggregate.body))
        relation = core.AggregateRelation(
            self.rule.number,
            self.named(aggregate.op.removeprefix("@")),
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
        if not group <= core.known_from_atoms(part):
            return None
        for item in [item for item in reversed(part) if _multiplies(item)]:
            rest = _decided(other for other in part if other is not item)
            if group <= core.known_from_atoms(rest) and pieces(rest) <= pieces(part):
                part = rest
        if pieces(part) > pieces(_decided(body)):
            return None
        return tuple(core.positioned(_without_unused(part, group)))

    def named(self, what: str) -> str:
        """A name for what is made next; no program has an `@` in a name."""
        variant = f"/{self.rule.variant}" if self.rule.variant else ""
        return f"{self.rule.relation}@{what}{self.rule.number}{variant}.{len(self.made)}"


def _decided(items: Iterable[core.CoreItem]) -> list[core.CoreItem]:
    """Those of the items that can be evaluated without anything else."""
    items = list(items)
    known = core.known_from_atoms(items)
    return [item for item in items if known.issuperset(core.mentions(item))]


def _multiplies(item: core.CoreItem) -> bool:
    """Whether one binding may become several."""
    return isinstance(item, core.CoreAtom) or core.gives_many(item)


def _without_unused(items: list[core.CoreItem], wanted: Iterable[int]) -> list[core.CoreItem]:
    """The items without values that are computed for nobody."""
    while True:
        uses = Counter(slot for item in items for slot in core.mentions(item))
        uses.update(wanted)
        used = [item for item in items if not (isinstance(item, core.CoreDefine) and uses[item.slot] == 1)]
        if len(used) == len(items):
            return used
        items = used
