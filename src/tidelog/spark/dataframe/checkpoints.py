"""The frames of a fixpoint: each is computed, counted and cut off from its past (`spark/cut.py`).

A fixpoint makes each frame from the last; without a cut, the plan of iteration k contains those of all before it.
`take` runs one Spark action. What it counts is observed while the frame is computed; where a session does not report
that (Spark Connect), a second action over the finished frame counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F

from tidelog.analysis.clauses import Clause
from tidelog.spark.cut import cutter
from tidelog.spark.dataframe.faults import translated
from tidelog.spark.dataframe.sql import Select, Sql, of_frame


class Checkpoints:
    """Takes checkpoints in a session; `clauses` are those that errors may be about."""

    def __init__(self, spark: SparkSession, clauses: list[Clause]) -> None:
        self.spark, self.clauses = spark, clauses
        self.actions = 0
        self.cut = cutter(spark)
        self.observes = not type(spark).__module__.startswith("pyspark.sql.connect")

    def take(self, rows: Select, counted: Mapping[str, Sql]) -> tuple[Select, dict[str, int]]:
        """The rows, computed, and the values of the aggregates over them."""
        wanted = [*counted.values(), "count(1)"]
        metrics = F.expr(f"array({', '.join(f'cast({sql} AS bigint)' for sql in wanted)})").alias("metrics")
        with translated(self.clauses):
            self.actions += 1
            frame = rows.frame(self.spark)
            if not counted:
                taken = self.cut(frame)
                return of_frame(taken.coalesce(1) if rows.single else taken, rows.columns, rows.single), {}
            if self.observes:
                observation = Observation()
                taken = self.cut(frame.observe(observation, metrics))
                found = observation.get["metrics"]
            else:
                taken = self.cut(frame)
                found = taken.agg(metrics).collect()[0][0]
        taken = in_one_partition(taken, found[-1]) if rows.single else taken
        counts = {name: n or 0 for name, n in zip(counted, found, strict=False)}
        return of_frame(taken, rows.columns, rows.single), counts

    def collect(self, rows: Select) -> list[tuple[Any, ...]]:
        """A few rows, in this process."""
        with translated(self.clauses):
            self.actions += 1
            return [tuple(row) for row in rows.frame(self.spark).collect()]


def in_one_partition(frame: DataFrame, rows: int) -> DataFrame:
    """A checkpoint of so many rows, known to Spark as one partition, which it has forgotten, and as small: what Spark
    believes of a checkpoint's size is what it believed of the query, and grows with every join that was in its past;
    beyond 128 MB it divides any partition by a shuffle. A limit that cuts nothing off is what it believes. Few limits
    make few texts of code to compile."""
    return frame.coalesce(1).limit(1 << max(14, rows.bit_length()))
