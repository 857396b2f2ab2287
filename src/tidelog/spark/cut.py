"""Frames that are computed once and cut off from how they were computed.

Spark's reliable checkpoints are used where the session has a folder for them (`spark.checkpoint.dir`); otherwise local
ones, which live in the executors' memory and on their disks. On a cluster local checkpoints are kept twice, so that the
loss of one executor loses nothing. Nothing has to be released by hand: Spark drops a checkpoint once nobody refers to
its frame.
"""

from __future__ import annotations

from collections.abc import Callable

from pyspark import StorageLevel
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession


def cutter(spark: SparkSession) -> Callable[[DataFrame], DataFrame]:
    """What makes of a frame of this session the same, computed, without its past."""
    if _setting(spark, "spark.checkpoint.dir") is not None:
        return lambda frame: frame.checkpoint()
    if not (_setting(spark, "spark.master") or "local").startswith("local"):
        return lambda frame: frame.localCheckpoint(storageLevel=StorageLevel.MEMORY_AND_DISK_2)
    return lambda frame: frame.localCheckpoint()


def _setting(spark: SparkSession, key: str) -> str | None:
    try:
        return spark.conf.get(key, None)
    except PySparkException:  # a server may hide its settings
        return None
