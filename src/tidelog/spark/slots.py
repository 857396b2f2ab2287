"""How many tasks a Spark session can run at once."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

logger = logging.getLogger(__name__)

ARRIVAL = 60.0
"""Seconds that a cluster's executors may take to register, which they do after the session has started."""
NOTICEABLE = 2.0
UNKNOWN = 16
"""Tasks to make where the session does not tell how many can run."""


def shares(spark: SparkSession, pieces: int) -> int:
    """Into how many tasks so many pieces of work should go: a task costs as much as some megabytes of data, so not into
    more than can run at once."""
    return max(1, min(pieces, task_slots(spark) or UNKNOWN))


def await_slots(spark: SparkSession, needed: int) -> int | None:
    """How many tasks can run at once, as soon as that suffices, or after giving a cluster's executors time to come. A
    wait that can be felt is logged."""
    context = classic_context(spark)
    patience = 0.0 if context is None or str(context.master).startswith("local") else ARRIVAL
    start = time.monotonic()
    quiet = True
    while (slots := task_slots(spark)) is not None and slots < needed and time.monotonic() < start + patience:
        if quiet and time.monotonic() > start + NOTICEABLE:
            quiet = False
            logger.warning("waiting up to %.0f s for the executors of %s: %d of %d task slots are there",
                           patience, context.master, slots, needed)  # fmt: skip
        time.sleep(0.1)
    return slots


def task_slots(spark: SparkSession) -> int | None:
    """How many tasks can run at once; None if this kind of session does not tell."""
    context = classic_context(spark)
    if context is None:
        return None
    try:
        scala = context._jsc.sc()
        return int(scala.maxNumConcurrentTasks(scala.resourceProfileManager().defaultResourceProfile()))
    except Exception:  # not part of Spark's public interface: another version may lack it
        return int(context.defaultParallelism)


def classic_context(spark: SparkSession) -> Any:
    """The session's SparkContext; None if it is one of Spark Connect, which has none."""
    from pyspark.errors import PySparkException

    try:
        return spark.sparkContext
    except PySparkException:
        return None
