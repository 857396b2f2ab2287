"""The workers of a session, as the driver sees them: started, told things, and replaced when they are lost.

Each start is an *attempt*: a fresh Spark job with workers that say hello under its number, so that a message of a
worker that was taken for dead is never mistaken for one of its successor. There is one worker now; the rendezvous, the
job and the attempts are made for any number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from tidelog.analysis.check import Checked
from tidelog.errors import TidelogError, error
from tidelog.evaluate.limits import Observer
from tidelog.local import Settings
from tidelog.spark.resident.job import Job, check_slots
from tidelog.spark.resident.keys import Keys
from tidelog.spark.resident.messages import Close, Message
from tidelog.spark.resident.rendezvous import Answer, Member, Rendezvous, WorkerLost
from tidelog.spark.resident.worker import Assignment
from tidelog.spark.slots import classic_context
from tidelog.state.files import Files
from tidelog.state.lock import break_lock

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WORKERS = 1
PATIENCE = 120.0
"""Seconds that a worker may take to start: Python, numba, and a state to load. A job that fails ends this at once."""


class Crew:
    """See the module's docstring."""

    def __init__(
        self, spark: SparkSession, checked: Checked, settings: Settings, observer: Observer | None = None
    ) -> None:
        check_slots(spark, WORKERS)
        self.spark, self.checked, self.settings = spark, checked, settings
        self.keys = Keys.new()
        self.rendezvous = Rendezvous(driver_host(spark), self.keys, observer)
        self.attempt = 0
        self.job: Job | None = None
        self.worker: Member | None = None

    def start(self) -> Member:
        """Submit a fresh job and wait for its worker."""
        self.attempt += 1
        assignment = Assignment(self.rendezvous.address, self.keys, self.attempt, self.checked.program, self.settings)
        self.job = Job(self.spark, assignment, WORKERS)
        try:
            self.worker = self.rendezvous.joined(0, self.attempt, self.job.alive, PATIENCE)
        except TidelogError:
            self.job = None
            raise
        except WorkerLost as problem:
            self.job.end(0.0)
            self.job = None
            raise error(
                "TL1206", f"the worker did not start: {problem}",
                help="Spark's tasks need the Python of this process (PYSPARK_PYTHON) with Tidelog installed, "
                "and a way to "
                f"connect to {self.rendezvous.address}",
            ) from None  # fmt: skip
        return self.worker

    def tell(self, make: Callable[[int], Message], tables: Sequence[pa.Table] = ()) -> Answer:
        """A command to the worker. Raises `WorkerLost` if it is gone."""
        if self.worker is None or self.job is None:
            raise WorkerLost("it has not started")
        return self.rendezvous.command(self.worker, make, tables, self.job.alive)

    def check(self) -> None:
        """Raise `WorkerLost` if the worker is known to be gone."""
        if self.job is not None:
            self.job.alive()

    def dismiss(self) -> None:
        """End a job whose worker is lost, and take the state's lock away from it: on another machine, nobody could tell
        that its owner is gone."""
        if self.job is not None:
            self.job.end(0.0)
        if self.worker is not None and self.settings.state is not None:
            break_lock(Files.at(self.settings.state), self.worker.pid)
        self.job = self.worker = None

    def close(self) -> None:
        """Let the worker go home."""
        if self.job is not None:
            try:
                self.tell(Close)
                self.job.end(5.0)
            except WorkerLost:
                self.dismiss()
        self.rendezvous.close()


def driver_host(spark: SparkSession) -> str:
    """The address at which Spark's tasks reach this process. Of a Spark Connect server only one on this machine can."""
    context = classic_context(spark)
    if context is None or str(context.master).startswith("local"):
        return "127.0.0.1"
    return str(context.getConf().get("spark.driver.host", "127.0.0.1"))
