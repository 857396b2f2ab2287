"""Subsumption: `less <= greater :- body` drops a tuple where a greater one holds.

Emitted rows wait in a relation of their own, `fresh`, until the iteration ends. Then everything that some other tuple,
old or new, subsumes is dropped, and the rest is what the iteration found. The subsumption rules run as ordinary
plans, once with the lesser tuple among the fresh ones, once with the greater, once with both; so an iteration costs
what its fresh tuples cost. A relation cannot lose single tuples: those that were old are noted as `gone`, and the
relation is made anew without them when they are many, or at once if some plan could still see them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from tidelog.evaluate.bindings import Words
from tidelog.evaluate.context import Context
from tidelog.evaluate.special import Gate
from tidelog.evaluate.stages import PlanRun
from tidelog.evaluate.statistics import Statistics
from tidelog.plan import core, steps
from tidelog.plan.estimate import Estimate
from tidelog.plan.order import order
from tidelog.plan.steps import Slot
from tidelog.values import Kind


class Subsumption(Gate):
    """The gate of a relation that has subsumption rules. `seen` says whether plans look at all of its tuples while
    the stratum runs, and not just at the last iteration's."""

    def __init__(self, context: Context, relation: Any, rules: list[core.CoreRule], seen: bool) -> None:
        self.relation = relation
        self.seen = seen
        database, name, arity = context.database, relation.name, relation.arity
        self.fresh, self.dropped, self.gone = (
            database.create(f"{name}@{part}", arity) for part in ("fresh", "dropped", "gone")
        )
        self.accept(relation.rows(None))
        relation.clear()
        fresh = self.fresh.name
        self.plans = [
            PlanRun(context, plan_for_pairs(rule, less, greater, Statistics(database)), self._mark, (name, fresh))
            for rule in rules
            for less, greater in ((fresh, fresh), (fresh, name), (name, fresh))
        ]

    def accept(self, rows: Words) -> None:
        self.fresh.insert(rows)

    def close(self) -> None:
        """Add what was emitted, and drop what is subsumed."""
        fresh = self.fresh.rows(None).astype(np.int64)
        self.fresh.clear()
        fresh = fresh[~self._holds(fresh)]
        if len(fresh) == 0:
            return
        self.fresh.insert(fresh)
        self.fresh.settle()
        self.dropped.clear()
        for plan in self.plans:
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
        for helper in (self.fresh, self.dropped, self.gone):
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
    with the first of them that is not the whole relation."""
    atoms, slots = rule.atoms()[:2], list(rule.slots)
    pair = [_named(atom, name, slots) for atom, name in zip(atoms, (less, greater), strict=True)]
    args = tuple(arg for atom in pair for arg in atom.args if arg is not None)
    rest = (item for item in rule.body if item not in atoms)
    pairs = replace(rule, args=args, body=(*pair, *rest), slots=tuple(slots))
    pivot = pair[0] if less != rule.relation else pair[1]
    return order(pairs, {}, estimate, pivot.position, existential=False)


def _named(atom: core.CoreAtom, relation: str, slots: list[tuple[str, Kind]]) -> core.CoreAtom:
    """The atom over another relation, with a slot for every column."""
    args = []
    for arg in atom.args:
        if arg is None:
            slots.append(("_", Kind.NUMBER))
            arg = Slot(len(slots) - 1)
        args.append(arg)
    return replace(atom, relation=relation, args=tuple(args))
