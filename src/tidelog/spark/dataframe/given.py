"""The facts of a program's input relations, all in one table, and what an epoch changes of them.

What is always true: a fact is in the table once. Checking and counting a change set is one Spark action, whatever the
number of relations.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from tidelog.analysis.check import Checked
from tidelog.analysis.types import RelationInfo
from tidelog.spark.dataframe.fixpoint import Evaluation
from tidelog.spark.dataframe.tables import COUNT, ITERATION, Layout, Part, Table, column, in_one_task, united
from tidelog.spark.dataframe.transitions import BEFORE_COUNT, NOW_COUNT, Transition
from tidelog.spark.dataframe.translate import BEFORE, NEVER, NOW
from tidelog.spark.dataframe.values import come_in


def input_layout(checked: Checked) -> Layout:
    names = dict.fromkeys(directive.relation for directive in checked.directives("input"))
    return Layout({name: checked.relations[name].kinds for name in names})


def inside(frame: DataFrame, info: RelationInfo, checked: Checked) -> DataFrame:
    """A user's frame with columns as the executor has them."""
    types = [checked.types.types[name] for name in info.types]
    columns = [
        come_in(F.col(f"`{attribute}`"), declared).alias(column(i))
        for i, (attribute, declared) in enumerate(zip(info.attributes, types, strict=True))
    ]
    return frame.select(*columns) if columns else frame


def given_table(evaluation: Evaluation, checked: Checked, facts: Mapping[str, DataFrame]) -> Table:
    """The facts to begin with."""
    layout = input_layout(checked)
    state = F.lit(0).alias(ITERATION), F.lit(1).cast("bigint").alias(COUNT)
    frames = [layout.tagged(name, inside(frame, checked.relations[name], checked)) for name, frame in facts.items()]
    empty = layout.empty(evaluation.surroundings.spark)
    found = united(frames).distinct().select("*", *state) if frames else empty
    taken, counts = evaluation.checkpoints.take(found, layout.counted(F.lit(True)))
    return Table(layout, (Part(taken, 0, 0),), counts, sum(counts.values()))


@dataclass
class FactChange:
    """The input facts before and after an epoch; what of the change set changed nothing is counted."""

    transition: Transition
    ignored_inserts: dict[str, int] = field(default_factory=dict)
    ignored_deletes: dict[str, int] = field(default_factory=dict)


def change_facts(
    evaluation: Evaluation,
    checked: Checked,
    given: Table,
    delete: Mapping[str, DataFrame],
    insert: Mapping[str, DataFrame],
) -> FactChange:
    """Deletions are applied first: a fact that is deleted and inserted ends up present."""
    layout = given.layout

    def marked(frames: Mapping[str, DataFrame], mark: int) -> list[DataFrame]:
        return [
            layout.tagged(name, inside(frame, checked.relations[name], checked), F.lit(mark).alias("_mark"))
            for name, frame in frames.items()
        ]

    known = given.frame.select(*layout.columns, F.lit(0).alias("_mark"))
    both = united([known, *marked(delete, 1), *marked(insert, 2)])

    def has(mark: int) -> Column:
        return F.max((F.col("_mark") == mark).cast("int")).alias(f"_is{mark}")

    grouped = in_one_task(both, given.rows).groupBy(*layout.columns).agg(has(0), has(1), has(2))
    old, deleted, inserted = (F.col(f"_is{mark}") == 1 for mark in range(3))
    after = inserted | (old & ~deleted)
    frame = grouped.select(
        *layout.columns,
        *_state(old, BEFORE, BEFORE_COUNT),
        *_state(after, NOW, NOW_COUNT),
        (inserted & old & ~deleted).alias("_present"),
        (deleted & ~old).alias("_absent"),
    )
    transition, counts = Transition.take(
        evaluation.checkpoints, layout, frame,
        layout.counted(F.col("_present"), "present ") | layout.counted(F.col("_absent"), "absent "),
    )  # fmt: skip
    return FactChange(transition, _nonzero(counts, "present "), _nonzero(counts, "absent "))


def _state(there: Column, iteration: str, count: str) -> tuple[Column, Column]:
    return (
        F.when(there, F.lit(0)).otherwise(F.lit(NEVER)).alias(iteration),
        there.cast("bigint").alias(count),
    )


def _nonzero(counts: Mapping[str, int], prefix: str) -> dict[str, int]:
    return {name.removeprefix(prefix): n for name, n in counts.items() if name.startswith(prefix) and n}
