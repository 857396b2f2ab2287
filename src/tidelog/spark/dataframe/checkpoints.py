"""Frames that are computed once and cut off from how they were computed.

A fixpoint makes each frame from the last; without a cut, the plan of iteration k contains those of all before it.
Spark's reliable checkpoints are used where the session has a folder for them (`spark.checkpoint.dir`); otherwise local
ones, which live in the executors' memory and on their disks. On a cluster local checkpoints are kept twice, so that the
loss of one executor loses nothing. Nothing has to be released by hand: Spark drops a checkpoint once nobody refers to
its frame.

`take` runs one Spark action. What it counts is observed while the frame is computed; where a session does not report
that (Spark Connect), a second action over the finished frame counts.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark import StorageLevel
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F

from tidelog.analysis.clauses import Clause
from tidelog.spark.dataframe.faults import translated
from tidelog.spark.dataframe.sql import Query, Sql, of_frame


class Checkpoints:
    """Takes checkpoints in a session; `clauses` are those that errors may be about."""

    def __init__(self, spark: SparkSession, clauses: list[Clause]) -> None:
        self.spark, self.clauses = spark, clauses
        self.actions = 0
        self.reliable = _setting(spark, "spark.checkpoint.dir") is not None
        self.replicated = not (_setting(spark, "spark.master") or "local").startswith("local")
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

    def cut(self, frame: DataFrame) -> DataFrame:
        """The frame, computed, without its past."""
        if self.reliable:
            return frame.checkpoint()
        if self.replicated:
            return frame.localCheckpoint(storageLevel=StorageLevel.MEMORY_AND_DISK_2)
        return frame.localCheckpoint()


def _setting(spark: SparkSession, key: str) -> str | None:
    try:
        return spark.conf.get(key, None)
    except PySparkException:  # a server may hide its settings
        return None
