"""Update of an aggregate relation: the groups that a change touches are computed again, no others.

The plans are those of `plan/orders/touched_groups.py`. All of it is one Spark action.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tidelog.plain import replace
from tidelog.plan.core import AggregateRelation
from tidelog.plan.orders.touched_groups import TOUCHED, VALUES, changed, plan_for_recompute, plans_for_touched
from tidelog.plan.steps import View
from tidelog.spark.dataframe.fixpoint import Evaluation
from tidelog.spark.dataframe.sql import Select, union
from tidelog.spark.dataframe.strata import FrameProgram, estimate
from tidelog.spark.dataframe.tables import Table, column, in_one_task, tasks_for
from tidelog.spark.dataframe.transitions import ABSENT, NOW_COUNT, STATES, Transition, is_there, merged, unchanged
from tidelog.spark.dataframe.translate import BEFORE, NEVER, NOW, Translation

Views = Callable[[str, View], Select]


class FrameAggregateUpdate:
    """One aggregate relation; `tables` are those before the epoch, `changes` what changed below."""

    def __init__(
        self,
        evaluation: Evaluation,
        program: FrameProgram,
        aggregate: AggregateRelation,
        tables: Mapping[str, Table],
        changes: Mapping[str, Transition],
    ) -> None:
        self.evaluation, self.aggregate, self.tables, self.changes = evaluation, aggregate, tables, changes
        self.old = tables[aggregate.relation]
        self.sizes = estimate(program, tables)
        extra = {changed(name): program.kinds[name] for name in program.kinds}
        extra |= {TOUCHED: aggregate.kinds[:-1], VALUES: aggregate.kinds}
        self.sizes.arities |= {name: len(kinds) for name, kinds in extra.items()}
        self.rows = sum(tables[name].counts[name] for name in tables)
        kinds = {**program.kinds, **extra}
        self.surroundings = replace(evaluation.surroundings, kinds=kinds, tasks=tasks_for(self.rows))

    def run(self) -> Transition:
        layout, name = self.old.layout, self.aggregate.relation
        touched = self.touched()
        plan = plan_for_recompute(self.aggregate, self.sizes)
        values = Translation(self.surroundings, plan, self.views(NOW, {TOUCHED: touched})).heads()
        known = in_one_task(layout.rows(name, unchanged(self.old), *STATES), self.rows)
        states = {c: c for c in STATES}
        rows = [
            layout.tagged(name, self.of_groups(known, touched, "LEFT ANTI"), states),
            layout.tagged(
                name, self.of_groups(known, touched, "LEFT SEMI"), states | {NOW: str(NEVER), NOW_COUNT: "0L"}
            ),
            layout.tagged(name, values, ABSENT | {NOW: "1", NOW_COUNT: "1L"}),
        ]
        found = merged(layout, in_one_task(union(rows), self.rows))
        return Transition.take(self.evaluation.checkpoints, layout, found)[0]

    def of_groups(self, rows: Select, groups: Select, how: str) -> Select:
        """The rows of these groups (LEFT SEMI), or of all others (LEFT ANTI)."""
        columns = [column(i) for i in range(len(self.aggregate.group))]
        if not columns:
            return rows.join(groups.limit(1), "true", how)
        return rows.matching(groups, columns, how)

    def touched(self) -> Select:
        """The groups that have a match more or less."""
        found = []
        for plan in plans_for_touched(self.aggregate, self.sizes):
            change = self.changes.get(plan.relation)
            if change is None:
                continue
            gone, come = change.rows_deleted(plan.relation), change.rows_inserted(plan.relation)
            if plan.negated:
                gone, come = come, gone
            for rows, state in ((gone, BEFORE), (come, NOW)):
                pivot = {changed(plan.relation): in_one_task(rows, self.rows)}
                found.append(Translation(self.surroundings, plan.plan, self.views(state, pivot)).heads())
        return in_one_task(union(found), self.rows).distinct()

    def views(self, state: str, more: Mapping[str, Select]) -> Views:
        """The relations in one of the two states."""

        def view(name: str, _: View) -> Select:
            if name in more:
                return more[name]
            change = self.changes.get(name)
            if change is None:
                return in_one_task(self.tables[name].relation(name), self.rows)
            return in_one_task(change.layout.rows(name, change.rows.where(is_there(state))), self.rows)

        return view
