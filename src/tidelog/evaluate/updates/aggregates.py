"""Update of an aggregate relation: the groups that a change touches are computed again, no others.

The plans are those of `touched_groups.py`; what this adds is which rows they run over, and what becomes of the results.
Cost: the matches that come and go, and all matches of the touched groups.
"""

from __future__ import annotations

import numpy as np

from tidelog.evaluate.bindings import Words
from tidelog.evaluate.stages import PlanRun
from tidelog.evaluate.state import State
from tidelog.evaluate.statistics import Statistics
from tidelog.plain import dataclass, replace
from tidelog.plan import core, steps
from tidelog.plan.core import AggregateRelation
from tidelog.plan.orders.touched_groups import (
    TOUCHED,
    VALUES,
    changed,
    plan_for_recompute,
    plans_for_touched,
)
from tidelog.plan.steps import Match, Probe, Scan, Slot, View
from tidelog.store import Pipeline, Relation
from tidelog.store.index import Index
from tidelog.store.update import UNLIMITED, OverBudget, Watch

STATES = (View.BEFORE, View.AFTER)


@dataclass(frozen=True)
class Finder:
    """What finds the groups that changed rows of a relation touch, in the state before and in the one after."""

    relation: str
    negated: bool
    before: PlanRun
    after: PlanRun


def execute(run: PlanRun) -> int:
    """Run a plan; the work done."""
    before = run.effort
    run.run()
    return run.effort - before


class AggregateUpdate:
    """Keeps one aggregate relation up to date. Its plans are made once for the relations that they read."""

    stale = False  # it sees for itself whether those relations have been replaced

    def __init__(self, state: State, aggregate: AggregateRelation) -> None:
        self.state, self.aggregate = state, aggregate
        database, arity = state.database, len(aggregate.group)
        self.touched, self.values = database.unmounted(TOUCHED, arity), database.unmounted(VALUES, arity + 1)
        self.pivots: dict[str, Relation] = {}  # of changed rows, by the relation that they are of
        self.planned_for: list[Relation] = []

    @property
    def plans(self) -> list[steps.Plan]:
        runs = [run for finder in self.finders for run in (finder.before, finder.after)]
        return [run.plan for run in (*runs, self.recompute)]

    def prepare(self) -> list[Index]:
        """Plan, unless the plans are there."""
        names = (self.aggregate.relation, *self.aggregate_inputs())
        relations = [self.state.database[name] for name in names]
        if self.planned_for != relations:
            self.plan()
            self.planned_for = relations
        return []

    def run(self, budget: int = UNLIMITED, watch: Watch | None = None) -> int:
        """Update the relation by what changed below it; the work done."""
        self.prepare()
        with self.state.database.mounted((self.touched, self.values, *self.pivots.values())):
            work = self.find_touched()
            if work > budget:
                raise OverBudget
            before = self.rows_before()
            work += execute(self.recompute)
            self.replace_values(before, self.values.rows().astype(np.int64))
        if watch is not None:
            watch(1, work)
        return work

    # ---- plans

    def aggregate_inputs(self) -> list[str]:
        """The relations that the aggregate reads."""
        body = self.aggregate.aggregate.body
        atoms = [item.relation for item in body if isinstance(item, (core.CoreAtom, core.CoreAbsent))]
        return list(dict.fromkeys((self.aggregate.domain, *atoms)))

    def plan(self) -> None:
        database, aggregate, context = self.state.database, self.aggregate, self.state.context
        for name in self.aggregate_inputs():
            if name not in self.pivots:
                self.pivots[name] = database.unmounted(changed(name), database[name].arity)
        with database.mounted((self.touched, self.values, *self.pivots.values())):
            estimate = Statistics(database)
            self.finders = [
                Finder(plan.relation, plan.negated, *(PlanRun(context, self.in_state(plan.plan, v)) for v in STATES))
                for plan in plans_for_touched(aggregate, estimate)
            ]
            self.recompute = PlanRun(context, self.in_state(plan_for_recompute(aggregate, estimate), View.AFTER))
            self.known = self.plan_for_known()

    def plan_for_known(self) -> Pipeline:
        """The rows of the touched groups as they were."""
        group = range(len(self.aggregate.group))
        key = tuple((column, Slot(column)) for column in group)
        row = len(group)
        scan = Scan(Match(TOUCHED, View.ALL, (), tuple((c, c) for c in group)))
        probe = Probe(Match(self.aggregate.relation, View.BEFORE, key, row=row))
        pipeline = self.state.database.pipeline([scan, probe], outputs=(row,))
        assert isinstance(pipeline, Pipeline)
        return pipeline

    def in_state(self, plan: steps.Plan, view: View) -> steps.Plan:
        """The plan over the relations as they were before the epoch, or as they are after it."""

        def seen(step: steps.Step) -> steps.Step:
            if isinstance(step, steps.AggregateStep):
                return replace(step, body=tuple(map(seen, step.body)))
            match = getattr(step, "match", None)
            if match is None or not self.state.database[match.relation].stateful:
                return step
            return replace(step, match=replace(match, view=view))

        return replace(plan, steps=tuple(map(seen, plan.steps)))

    # ---- an epoch

    def find_touched(self) -> int:
        """Fill TOUCHED with the groups that have a match more or less."""
        work = 0
        for finder in self.finders:
            change = self.state.epoch.changes.get(finder.relation)
            if change:
                gone, come = change.deleted, change.inserted
                if finder.negated:
                    gone, come = come, gone
                work += self.find_from(finder.relation, gone, finder.before)
                work += self.find_from(finder.relation, come, finder.after)
        self.touched.settle()
        return work

    def find_from(self, name: str, numbers: Words, run: PlanRun) -> int:
        """Run a plan over these changed rows of a relation."""
        if len(numbers) == 0:
            return 0
        pivot = self.pivots[name]
        pivot.insert(self.state.database[name].rows()[numbers])
        pivot.settle()
        try:
            return execute(run)
        finally:
            pivot.clear()

    def rows_before(self) -> Words:
        """The rows of the touched groups as they were."""
        found = self.known.run()
        assert found is not None
        return found[:, 0].copy()

    def replace_values(self, before: Words, values: Words) -> None:
        relation = self.state.database[self.aggregate.relation]
        after = relation.enter_absent(values)
        self.state.exchange(relation.name, np.setdiff1d(before, after), np.setdiff1d(after, before), iteration=1)
