"""Tables: the relations of a stratum in one frame, so that one Spark job finds the tuples of all of them.

What it holds: a row per tuple, with the number of its relation (`_r`), its columns, its iteration (`_i`) and its count
(`_n`). Relations share columns by type: those of (number, symbol) and (symbol, float) need a bigint, a double and two
strings less one. What a row's relation does not have is zero or empty, so that rows are compared as wholes.

A table is a list of parts with ascending iterations, each a frame whose lineage is cut. What is always true: a tuple is
in one part. Small tables have one part, which every iteration writes anew; large ones get a part per iteration, and old
parts are merged when they are many.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from tidelog.plan.steps import View
from tidelog.spark.dataframe.values import NOTHING, SPARK_TYPES
from tidelog.values import Kind

TAG, ITERATION, COUNT = "_r", "_i", "_n"
SMALL = 100_000
"""So many tuples are worked on by one task: shuffling them would cost more than it gains."""
ALONE = "_"
"""The one column of a frame without columns; always true."""


def column(number: int) -> str:
    """The name of a relation's column inside the executor."""
    return f"c{number}"


@dataclass(frozen=True)
class Layout:
    """Where the columns of relations are in a table."""

    kinds: Mapping[str, tuple[Kind, ...]]

    @cached_property
    def tags(self) -> dict[str, int]:
        return {name: tag for tag, name in enumerate(self.kinds)}

    @cached_property
    def places(self) -> dict[str, tuple[str, ...]]:
        """For each relation the columns of the table that are its own."""
        found = {}
        for name, kinds in self.kinds.items():
            used: Counter[str] = Counter()
            columns = []
            for kind in kinds:
                spark_type = SPARK_TYPES[kind]
                columns.append(f"{spark_type}_{used[spark_type]}")
                used[spark_type] += 1
            found[name] = tuple(columns)
        return found

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """What tells rows apart: the relation's number and all columns."""
        return (TAG, *sorted({column for columns in self.places.values() for column in columns}))

    def tagged(self, name: str, frame: DataFrame, *more: Column) -> DataFrame:
        """Rows of a relation as rows of the table, with more columns of their own."""
        mine = {place: F.col(column(i)) for i, place in enumerate(self.places[name])}
        shared = [mine[c].alias(c) if c in mine else _nothing(c) for c in self.columns[1:]]
        return frame.select(F.lit(self.tags[name]).alias(TAG), *shared, *more)

    def rows(self, name: str, frame: DataFrame, *more: str) -> DataFrame:
        """The rows of one relation, with its own columns."""
        mine = [F.col(place).alias(column(i)) for i, place in enumerate(self.places[name])]
        return frame.where(F.col(TAG) == self.tags[name]).select(*(mine or [F.lit(True).alias(ALONE)]), *more)

    def empty(self, spark: SparkSession) -> DataFrame:
        """A table without rows."""
        nothing = [_nothing(place) for place in self.columns[1:]]
        state = F.lit(0).alias(ITERATION), F.lit(0).cast("bigint").alias(COUNT)
        return spark.range(0, 0, 1, 1).select(F.lit(0).alias(TAG), *nothing, *state)

    def counted(self, condition: Column, prefix: str = "") -> dict[str, Column]:
        """Metrics: how many rows of each relation fulfil the condition."""
        return {
            prefix + name: F.sum(((F.col(TAG) == tag) & condition).cast("bigint")) for name, tag in self.tags.items()
        }


def _nothing(place: str) -> Column:
    spark_type = place.split("_")[0]
    return F.lit(NOTHING[spark_type]).cast(spark_type).alias(place)


@dataclass(frozen=True)
class Part:
    """Tuples of the iterations from `first` to `last`."""

    frame: DataFrame
    first: int
    last: int


@dataclass(frozen=True)
class Table:
    """See the module's docstring. `counts` are the tuples of each relation, `derivations` the sum of their counts."""

    layout: Layout
    parts: tuple[Part, ...]
    counts: Mapping[str, int]
    derivations: int = 0

    @property
    def rows(self) -> int:
        return sum(self.counts.values())

    @cached_property
    def frame(self) -> DataFrame:
        return united([part.frame for part in self.parts])

    def view(self, name: str, view: View, iteration: int) -> DataFrame:
        """What a plan sees of a relation in this iteration."""
        last = iteration - 1
        match view:
            case View.DELTA:
                return self.layout.rows(name, self._between(last, last))
            case View.OLD:
                return self.layout.rows(name, self._between(0, last - 1))
        return self.layout.rows(name, self.frame)

    def _between(self, first: int, last: int) -> DataFrame:
        chosen = [part for part in self.parts if part.first <= last and part.last >= first] or list(self.parts[:1])
        frame = united([part.frame for part in chosen])
        inside = all(first <= part.first and part.last <= last for part in chosen)
        return frame if inside else frame.where(F.col(ITERATION).between(first, last))

    def relation(self, name: str, *more: str) -> DataFrame:
        return self.layout.rows(name, self.frame, *more)


def united(frames: Sequence[DataFrame]) -> DataFrame:
    """All rows of frames with the same columns."""
    return reduce(DataFrame.union, frames)


FEW = 20_000
"""So few tuples are sent to every task that joins them."""


def in_one_task(frame: DataFrame, rows: int) -> DataFrame:
    """A small frame as one partition: joins and groups of such frames move no data."""
    return frame.coalesce(1) if rows <= SMALL else frame


def input_view(table: Table, name: str, rows: int) -> DataFrame:
    """A finished relation, as a plan over so many rows in all should see it."""
    if rows <= SMALL:
        return table.relation(name).coalesce(1)
    return F.broadcast(table.relation(name)) if table.counts[name] <= FEW else table.relation(name)
