"""Subsumption: `less <= greater :- body` drops a tuple where a greater one holds.

Emitted rows wait in a relation of their own, `fresh`, until the iteration ends. Then everything that some other tuple,
old or new, subsumes is dropped, and the rest is what the iteration found. The subsumption rules run as ordinary
plans, once with the lesser tuple among the fresh ones, once with the greater, once with both; so an iteration costs
what its fresh tuples cost. A rule whose body also has atoms over relations of the stratum may begin to hold for two old
tuples, and its atoms over the relation itself mean old and fresh tuples alike: it runs over a copy of the `whole`, in
every iteration. A relation cannot lose single tuples: those that were old are noted as `gone`, and the relation is made
anew without them when they are many, or at once if some plan could still see them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from tidelog.evaluate.bindings import Words
from tidelog.evaluate.context import Context
from tidelog.evaluate.special import Gate
from tidelog.evaluate.stages import PlanRun
from tidelog.evaluate.statistics import Statistics
from tidelog.plain import replace
from tidelog.plan import core, steps
from tidelog.plan.orders.estimate import Estimate
from tidelog.plan.orders.order import order
from tidelog.plan.steps import Slot
from tidelog.values import Kind


class SubsumptionGate(Gate):
    """The gate of a relation that has subsumption rules. `seen` says whether plans look at all of its tuples while
    the stratum runs, and not just at the last iteration's; `growing` are the relations of the stratum."""

    def __init__(
        self, context: Context, relation: Any, rules: Sequence[core.CoreRule], seen: bool, growing: Collection[str]
    ) -> None:
        self.relation = relation
        self.seen = seen
        database, name, arity = context.database, relation.name, relation.arity
        self.helpers = self.fresh, self.dropped, self.gone, self.whole = [
            database.create(f"{name}@{part}", arity) for part in ("fresh", "dropped", "gone", "whole")
        ]
        self.accept(relation.rows(None))
        relation.clear()
        fresh, whole, statistics = self.fresh.name, self.whole.name, Statistics(database)
        self.plans = [
            PlanRun(context, plan_for_pairs(rule, less, greater, statistics), self._mark, (name, fresh))
            for rule in rules
            if not reads(rule, growing)
            for less, greater in ((fresh, fresh), (fresh, name), (name, fresh))
        ]
        self.plans_over_all = [
            PlanRun(context, plan_for_pairs(rule, whole, whole, statistics), self._mark, (*growing, whole))
            for rule in rules
            if reads(rule, growing)
        ]

    def accept(self, rows: Words) -> None:
        self.fresh.insert(rows)

    def close(self) -> None:
        """Add what was emitted, and drop what is subsumed."""
        fresh = self.fresh.rows(None).astype(np.int64)
        self.fresh.clear()
        fresh = fresh[~self._holds(fresh)]
        if len(fresh) == 0 and not self.plans_over_all:
            return
        self.fresh.insert(fresh)
        self.fresh.settle()
        self.dropped.clear()
        if self.plans_over_all:
            self._fill_whole(fresh)
        for plan in (*self.plans, *self.plans_over_all):
            plan.run()
        dropped = self.dropped.rows(None).astype(np.int64)
        self.gone.insert(dropped[self._holds(dropped)])
        stay = fresh[~self.dropped.contains(fresh)]
        if self.seen or 2 * self.gone.count > self.relation.count or self._is_gone(stay).any():
            self._forget_gone()
        self.relation.insert(stay)
        self.fresh.clear()

    def finish(self) -> None:
        """The stratum ends: nothing that is gone stays, nor what this gate needed."""
        self._forget_gone()
        for helper in self.helpers:
            helper.database.drop(helper.name)

    def _holds(self, rows: Words) -> Any:
        """Which rows are in the relation, and not gone."""
        return self.relation.contains(rows) & ~self._is_gone(rows)

    def _is_gone(self, rows: Words) -> Any:
        return self.gone.contains(rows) if self.gone.count else np.zeros(len(rows), np.bool_)

    def _mark(self, pairs: Words) -> None:
        """Note the lesser of each pair of different tuples of which the greater is not gone."""
        less, greater = np.hsplit(pairs, 2)
        counts = (less != greater).any(axis=1) & ~self._is_gone(greater)
        self.dropped.insert(less[counts])

    def _fill_whole(self, fresh: Words) -> None:
        old = self.relation.rows(None)
        self.whole.clear()
        self.whole.insert(old[~self._is_gone(old)])
        self.whole.insert(fresh)
        self.whole.settle()

    def _forget_gone(self) -> None:
        if self.gone.count:
            rows = self.relation.rows(None)
            kept = rows[~self.gone.contains(rows)]
            self.relation.clear()
            self.relation.insert(kept)
            self.relation.settle()
            self.gone.clear()


def plan_for_pairs(rule: core.CoreRule, less: str, greater: str, estimate: Estimate) -> steps.Plan:
    """The plan that derives pairs of tuples side by side, the lesser and the greater from these relations; it begins
    with the first of them that is not the relation itself. What else the body has of the relation is looked for where
    the lesser is."""
    atoms, slots = rule.atoms()[:2], list(rule.slots)
    pair = [_named(atom, name, slots) for atom, name in zip(atoms, (less, greater), strict=True)]
    args = tuple(arg for atom in pair for arg in atom.args if arg is not None)
    rest = (_renamed(item, rule.relation, less) for item in rule.body if item not in atoms)
    pairs = replace(rule, args=args, body=(*pair, *rest), slots=tuple(slots))
    pivot = pair[0] if less != rule.relation else pair[1]
    return order(pairs, {}, estimate, pivot.position, existential=False)


def reads(rule: core.CoreRule, relations: Collection[str]) -> bool:
    """Whether the body of a subsumption rule, besides its two tuples, has atoms over some of these relations. Negated
    atoms and aggregates never are: strata see to that."""
    return any(atom.relation in relations for atom in rule.atoms()[2:])


def _renamed(item: core.CoreItem, relation: str, name: str) -> core.CoreItem:
    return replace(item, relation=name) if isinstance(item, core.CoreAtom) and item.relation == relation else item


def _named(atom: core.CoreAtom, relation: str, slots: list[tuple[str, Kind]]) -> core.CoreAtom:
    """The atom over another relation, with a slot for every column."""
    args = []
    for arg in atom.args:
        if arg is None:
            slots.append(("_", Kind.NUMBER))
            arg = Slot(len(slots) - 1)
        args.append(arg)
    return replace(atom, relation=relation, args=tuple(args))
