"""How many tasks a Spark session can run at once, and how many of these slots are taken for good.

What is always true: the resident sessions of this process leave at least one slot of their application to other jobs,
theirs and the user's, which would otherwise wait for ever. Sessions of other processes on one Spark Connect server are
not known here.
"""

from __future__ import annotations

import gc
import logging
import threading
import time
from typing import TYPE_CHECKING, Any

from tidelog.errors import TidelogError, error

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

logger = logging.getLogger(__name__)

ARRIVAL = 60.0
"""Seconds that a cluster's executors may take to register, which they do after the session has started."""
NOTICEABLE = 2.0
UNKNOWN = 16
"""Tasks to make where the session does not tell how many can run."""
LEAVING = 30.0
"""Seconds that a session which is being closed may take to give its slots back."""


class Claim:
    """Slots that a session keeps until it gives them back."""

    def __init__(self, application: str, slots: int) -> None:
        self.application, self.slots = application, slots
        self.leaving = False

    def leave(self) -> None:
        """The slots will be free in a moment."""
        with _changed:
            self.leaving = True

    def give_back(self) -> None:
        with _changed:
            if self in _claims:
                _claims.remove(self)
            _changed.notify_all()


_claims: list[Claim] = []
_changed = threading.Condition()


def claim(spark: SparkSession, slots: int) -> Claim:
    """Take slots for good; an error if not one would be left for other jobs."""
    context = classic_context(spark)
    own = Claim("" if context is None else str(context.applicationId), slots)
    if context is not None:
        _make_room(spark, own)
    there = await_slots(spark, claimed(spark) + slots + 1)
    with _changed:
        held = _held(own.application) if context is not None else 0
        if there is not None and there < held + slots + 1:
            raise _too_few(there, held, slots)
        _claims.append(own)
    return own


def is_crowded(spark: SparkSession, slots: int) -> bool:
    """Whether so many slots could be taken if it were not for the other sessions of this process."""
    held = claimed(spark)
    there = task_slots(spark) if held else None
    return there is not None and slots + 1 <= there < held + slots + 1


def claimed(spark: SparkSession) -> int:
    """How many slots the sessions of this process keep."""
    context = classic_context(spark) if _claims else None
    return 0 if context is None else _held(str(context.applicationId))


def sessions(spark: SparkSession) -> int:
    """How many sessions of this process keep slots."""
    context = classic_context(spark) if _claims else None
    return 0 if context is None else sum(c.application == str(context.applicationId) for c in tuple(_claims))


def _held(application: str) -> int:
    return sum(c.slots for c in tuple(_claims) if c.application == application)


def _make_room(spark: SparkSession, wanted: Claim) -> None:
    """If there are too few slots, wait for sessions that are about to give theirs back, those included that nobody can
    reach any more and that only wait to be collected."""

    def fits() -> bool:
        return (task_slots(spark) or 0) >= _held(wanted.application) + wanted.slots + 1

    if not _held(wanted.application) or fits():
        return
    gc.collect()
    with _changed:
        _changed.wait_for(lambda: fits() or not any(c.leaving for c in _claims), LEAVING)


def _too_few(there: int, held: int, slots: int) -> TidelogError:
    cores = f"give Spark more cores, such as local[{held + slots + 1}]"
    instead = "use executor='dataframe', which needs no resident worker"
    if not held:
        return error(
            "TL1201", f"Spark has {there} task slot{'s' * (there != 1)}: {_takers(slots)} {slots}, and jobs "
            "that bring facts and results need at least one more", help=f"{cores}, or {instead}",
        )  # fmt: skip
    others = "another session that is open keeps 1" if held == 1 else f"other sessions that are open keep {held}"
    return error(
        "TL1201", f"Spark has {there} task slots, of which {others}: in this one {_takers(slots)} {slots}, "
        "and jobs that bring facts and results need at least one more",
        help=f"close() sessions that are no longer needed, or use them inside a `with`; {cores}; or {instead}",
    )  # fmt: skip


def _takers(slots: int) -> str:
    return "the resident worker takes" if slots == 1 else "the resident worker and those with its parts take"


def shares(spark: SparkSession, pieces: int) -> int:
    """Into how many tasks so many pieces of work should go: a task costs as much as some megabytes of data, so not into
    more than can run at once."""
    return max(1, min(pieces, (task_slots(spark) or UNKNOWN) - claimed(spark)))


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
