"""The frames of a fixpoint: each is computed, counted and cut off from its past (`spark/cut.py`).

A fixpoint makes each frame from the last; without a cut, the plan of iteration k contains those of all before it.
`take` runs one Spark action. What it counts is observed while the frame is computed; where a session does not report
that (Spark Connect), a second action over the finished frame counts.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F

from tidelog.analysis.clauses import Clause
from tidelog.spark.cut import cutter
from tidelog.spark.dataframe.faults import translated
from tidelog.spark.dataframe.sql import Query, Sql, of_frame


class Checkpoints:
    """Takes checkpoints in a session; `clauses` are those that errors may be about."""

    def __init__(self, spark: SparkSession, clauses: list[Clause]) -> None:
        self.spark, self.clauses = spark, clauses
        self.actions = 0
        self.cut = cutter(spark)
        self.observes = not type(spark).__module__.startswith("pyspark.sql.connect")

    def take(self, rows: Query, counted: Mapping[str, Sql]) -> tuple[Query, dict[str, int]]:
        """The rows, computed, and the values of the aggregates over them."""
        metrics = F.expr(f"array({', '.join(f'cast({sql} AS bigint)' for sql in counted.values())})").alias("metrics")
        with translated(self.clauses):
            self.actions += 1
            frame = rows.frame(self.spark)
            if not counted:
                return self._taken(self.cut(frame), rows), {}
            if self.observes:
                observation = Observation()
                taken = self.cut(frame.observe(observation, metrics))
                found = observation.get["metrics"]
            else:
                taken = self.cut(frame)
                found = taken.agg(metrics).collect()[0][0]
        return self._taken(taken, rows), {name: n or 0 for name, n in zip(counted, found, strict=True)}

    def _taken(self, frame: DataFrame, rows: Query) -> Query:
        """The computed rows. That they are one partition must be said again: a checkpoint forgets it."""
        return of_frame(frame.coalesce(1) if rows.single else frame, rows.columns, rows.single)
