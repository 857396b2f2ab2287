"""Update of an aggregate relation: the groups that a change touches are computed again, no others.

The plans are those of `touched_groups.py`; what this adds is which rows they run over, and what becomes of the results.
Cost: the matches that come and go, and all matches of the touched groups.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tidelog.evaluate.bindings import Words
from tidelog.evaluate.stages import PlanRun
from tidelog.evaluate.state import Change, State
from tidelog.evaluate.statistics import Statistics
from tidelog.evaluate.touched_groups import (
    TOUCHED,
    VALUES,
    TouchedPlan,
    changed,
    plan_for_recompute,
    plans_for_touched,
)
from tidelog.plan import steps
from tidelog.plan.aggregate_relations import AggregateRelation
from tidelog.plan.steps import Match, Probe, Scan, Slot, View
from tidelog.store.layout import NEVER


class AggregateUpdate:
    """Keeps one aggregate relation up to date."""

    stale = False  # it looks its relations up whenever it runs

    def __init__(self, state: State, aggregate: AggregateRelation) -> None:
        self.state, self.aggregate = state, aggregate

    def prepare(self) -> None:
        pass

    def run(self) -> int:
        """Update the relation by what changed below it; the work done."""
        database, aggregate = self.state.database, self.aggregate
        arity = len(aggregate.group)
        scratch = [database.create(TOUCHED, arity), database.create(VALUES, arity + 1)]
        try:
            work = self.find_touched()
            before = self.rows_before()
            recompute = self.in_state(plan_for_recompute(aggregate, Statistics(database)), View.AFTER)
            work += self.execute(recompute)
            self.replace_values(before, database[VALUES].rows().astype(np.int64))
            return work
        finally:
            for relation in scratch:
                database.drop(relation.name)

    def find_touched(self) -> int:
        """Fill TOUCHED with the groups that have a match more or less."""
        work = 0
        for plan in plans_for_touched(self.aggregate, Statistics(self.state.database)):
            change = self.state.epoch.changes.get(plan.relation)
            if change:
                gone, come = change.deleted, change.inserted
                if plan.negated:
                    gone, come = come, gone
                work += self.find_from(plan, gone, View.BEFORE) + self.find_from(plan, come, View.AFTER)
        self.state.database[TOUCHED].settle()
        return work

    def find_from(self, plan: TouchedPlan, numbers: Words, view: View) -> int:
        """Run a plan over these changed rows, in one of the two states."""
        if len(numbers) == 0:
            return 0
        database = self.state.database
        relation = database[plan.relation]
        pivot = database.create(changed(relation.name), relation.arity)
        try:
            pivot.insert(relation.rows()[numbers].astype(np.int64))
            pivot.settle()
            return self.execute(self.in_state(plan.plan, view))
        finally:
            database.drop(pivot.name)

    def execute(self, plan: steps.Plan) -> int:
        run = PlanRun(self.state.context, plan)
        run.run()
        return run.effort

    def in_state(self, plan: steps.Plan, view: View) -> steps.Plan:
        """The plan over the relations as they were before the epoch, or as they are after it."""

        def seen(step: steps.Step) -> steps.Step:
            if isinstance(step, steps.Aggregate):
                return replace(step, body=tuple(map(seen, step.body)))
            match = getattr(step, "match", None)
            if match is None or not self.state.database[match.relation].stateful:
                return step
            return replace(step, match=replace(match, view=view))

        return replace(plan, steps=tuple(map(seen, plan.steps)))

    def rows_before(self) -> Words:
        """The rows of the touched groups as they were."""
        group = range(len(self.aggregate.group))
        key = tuple((column, Slot(column)) for column in group)
        row = len(group)
        pipeline = self.state.database.pipeline(
            [
                Scan(Match(TOUCHED, View.ALL, (), tuple((c, c) for c in group))),
                Probe(Match(self.aggregate.relation, View.BEFORE, key, row=row)),
            ],
            row + 1,
            outputs=(row,),
        )
        found = pipeline.run()
        assert found is not None
        return found[:, 0].copy()

    def replace_values(self, before: Words, values: Words) -> None:
        relation = self.state.database[self.aggregate.relation]
        after = relation.enter_absent(values)
        gone, come = np.setdiff1d(before, after), np.setdiff1d(after, before)
        for rows, iteration in ((gone, NEVER), (come, 1)):
            relation.remember(rows)
            relation.set_now(rows, iteration)
            relation.set_derived(rows, int(iteration != NEVER))
        relation.dirty = True
        self.state.epoch.changes[relation.name] = Change(come, gone)
