"""Transitions: a stratum's table before an epoch and after it, tuple by tuple.

A row has the iteration and the count that the tuple had before (`_b`, `_bn`) and those it has now (`_w`, `_wn`); where
it is not there, the iteration is NEVER. Both tables, what was inserted and what was deleted are filters over one frame.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from tidelog.spark.dataframe.checkpoints import Checkpoints
from tidelog.spark.dataframe.tables import COUNT, ITERATION, Layout, Part, Table, in_one_task, united
from tidelog.spark.dataframe.translate import BEFORE, NEVER, NOW

BEFORE_COUNT, NOW_COUNT = "_bn", "_wn"
STATES = (BEFORE, BEFORE_COUNT, NOW, NOW_COUNT)


def is_there(iteration: str) -> Column:
    return F.col(iteration) != NEVER


@dataclass(frozen=True)
class Transition:
    """See the module's docstring. `inserted` and `deleted` count tuples by relation."""

    layout: Layout
    frame: DataFrame
    inserted: Mapping[str, int]
    deleted: Mapping[str, int]
    after: Table

    @classmethod
    def take(
        cls, checkpoints: Checkpoints, layout: Layout, frame: DataFrame, more: Mapping[str, Column] | None = None
    ) -> tuple[Transition, dict[str, int]]:
        """The transition of a frame, which is computed now, and what else was to be counted."""
        come, gone = is_there(NOW) & ~is_there(BEFORE), is_there(BEFORE) & ~is_there(NOW)
        metrics = layout.counted(come, "+") | layout.counted(gone, "-") | layout.counted(is_there(NOW), "=")
        derivations = F.sum(F.when(is_there(NOW), F.col(NOW_COUNT)))
        last = F.max(F.when(is_there(NOW), F.col(NOW)))
        taken, counts = checkpoints.take(frame, metrics | {"derivations": derivations, "last": last} | dict(more or {}))
        names = list(layout.kinds)
        after = Table(
            layout,
            (Part(_after(layout, taken), 0, counts["last"]),),
            {name: counts[f"={name}"] for name in names},
            counts["derivations"],
        )
        inserted, deleted = ({name: counts[sign + name] for name in names} for sign in "+-")
        return cls(layout, taken, inserted, deleted, after), counts

    @property
    def changed(self) -> bool:
        return any(self.inserted.values()) or any(self.deleted.values())

    def rows_inserted(self, name: str) -> DataFrame:
        return self.layout.rows(name, self.frame.where(is_there(NOW) & ~is_there(BEFORE)))

    def rows_deleted(self, name: str) -> DataFrame:
        return self.layout.rows(name, self.frame.where(is_there(BEFORE) & ~is_there(NOW)))


def _after(layout: Layout, frame: DataFrame) -> DataFrame:
    state = F.col(NOW).alias(ITERATION), F.col(NOW_COUNT).alias(COUNT)
    return frame.where(is_there(NOW)).select(*layout.columns, *state)


def unchanged(table: Table) -> DataFrame:
    """The frame of a transition in which nothing has happened yet."""
    return table.frame.select(
        *table.layout.columns,
        F.col(ITERATION).alias(BEFORE), F.col(COUNT).alias(BEFORE_COUNT),
        F.col(ITERATION).alias(NOW), F.col(COUNT).alias(NOW_COUNT),
    )  # fmt: skip


def between(checkpoints: Checkpoints, old: Table, new: Table) -> Transition:
    """The transition from one table to another of the same layout."""
    never, none = F.lit(NEVER), F.lit(0).cast("bigint")
    layout = new.layout
    before = old.frame.select(*layout.columns, ITERATION, COUNT, never.alias(NOW), none.alias(NOW_COUNT))
    after = new.frame.select(*layout.columns, never, none, ITERATION, COUNT)
    both = in_one_task(
        united([before.toDF(*layout.columns, *STATES), after.toDF(*layout.columns, *STATES)]), old.rows + new.rows
    )
    return Transition.take(checkpoints, layout, merged(layout, both))[0]


def merged(layout: Layout, rows: DataFrame) -> DataFrame:
    """One row per tuple, of rows that each say one half of a transition."""
    least = [F.min(name).alias(name) for name in (BEFORE, NOW)]
    most = [F.max(name).alias(name) for name in (BEFORE_COUNT, NOW_COUNT)]
    return rows.groupBy(*layout.columns).agg(*least, *most).select(*layout.columns, *STATES)
