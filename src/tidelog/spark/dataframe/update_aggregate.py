"""Update of an aggregate relation: the groups that a change touches are computed again, no others.

The plans are those of `evaluate/touched_groups.py`. All of it is one Spark action.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from tidelog.evaluate.touched_groups import TOUCHED, VALUES, changed, plan_for_recompute, plans_for_touched
from tidelog.plan.aggregate_relations import AggregateRelation
from tidelog.plan.steps import View
from tidelog.spark.dataframe.fixpoint import Evaluation
from tidelog.spark.dataframe.strata import Program, estimate
from tidelog.spark.dataframe.tables import Table, column, in_one_task, united
from tidelog.spark.dataframe.transitions import Transition, is_there, merged, unchanged
from tidelog.spark.dataframe.translate import BEFORE, NEVER, NOW, Translation

Views = Callable[[str, View], DataFrame]


class AggregateUpdate:
    """One aggregate relation; `tables` are those before the epoch, `changes` what changed below."""

    def __init__(
        self,
        evaluation: Evaluation,
        program: Program,
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
        self.surroundings = replace(evaluation.surroundings, kinds={**program.kinds, **extra})
        self.rows = sum(tables[name].counts[name] for name in tables)

    def run(self) -> Transition:
        layout, name = self.old.layout, self.aggregate.relation
        touched = self.touched()
        plan = plan_for_recompute(self.aggregate, self.sizes)
        values = Translation(self.surroundings, plan, self.views(NOW, {TOUCHED: touched})).heads()
        groups = [column(i) for i in range(len(self.aggregate.group))]
        never, none = F.lit(NEVER), F.lit(0).cast("bigint")
        known = layout.rows(name, unchanged(self.old), "_b", "_bn", "_w", "_wn")
        gone = self.joined(known, touched, groups, "left_semi").withColumns({"_w": never, "_wn": none})
        kept = self.joined(known, touched, groups, "left_anti")
        states = [F.col(c) for c in ("_b", "_bn", "_w", "_wn")]
        rows = united(
            [
                layout.tagged(name, gone, *states),
                layout.tagged(name, kept, *states),
                layout.tagged(name, values, never, none, F.lit(1), F.lit(1).cast("bigint")),
            ]
        )
        return Transition.take(self.evaluation.checkpoints, layout, merged(layout, in_one_task(rows, self.rows)))[0]

    def joined(self, rows: DataFrame, touched: DataFrame, groups: list[str], how: str) -> DataFrame:
        rows = in_one_task(rows, self.rows)
        return rows.join(touched, groups, how) if groups else rows.join(touched.limit(1), F.lit(True), how)

    def touched(self) -> DataFrame:
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
        return in_one_task(united(found), self.rows).distinct()

    def views(self, state: str, more: Mapping[str, DataFrame]) -> Views:
        """The relations in one of the two states."""

        def view(name: str, _: View) -> DataFrame:
            if name in more:
                return more[name]
            change = self.changes.get(name)
            if change is None:
                return in_one_task(self.tables[name].relation(name), self.rows)
            return in_one_task(change.layout.rows(name, change.frame.where(is_there(state))), self.rows)

        return view
