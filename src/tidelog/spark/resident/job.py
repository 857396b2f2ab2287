"""The background Spark job whose first barrier task is the worker.

Spark does not retry a barrier stage that ends with a result: whoever notices that the job has ended submits a fresh
one. The job carries a tag, so that it can be interrupted without touching anything else that the user's session runs.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from tidelog.spark.injected import is_stopped
from tidelog.spark.resident.parts import BarrierTeam, be_a_part
from tidelog.spark.resident.worker import Assignment, serve
from tidelog.spark.slots import classic_context
from tidelog.spark.words import spark_words
from tidelog.wire.rendezvous import WorkerLost

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


KILLING = 15.0
"""Seconds that Spark may take to kill a task that does not react."""


class Job:
    """A running job of so many resident tasks: the worker, and those that have parts of its relations, if there are."""

    patience = 120.0
    """Seconds that a worker may take to start: Python, its modules, and a state to load. A job that fails ends this."""

    def __init__(self, spark: SparkSession, assignment: Assignment, tasks: int) -> None:
        self.spark = spark
        self.tag = f"tidelog-{uuid.uuid4()}"
        self.problem: BaseException | None = None
        self.ended = threading.Event()
        frame = spark.range(0, tasks, 1, tasks).mapInArrow(_task(assignment), "nothing int", barrier=True)
        self._thread = threading.Thread(target=self._run, args=(frame,), name="tidelog-job", daemon=True)
        self._thread.start()

    def _run(self, frame: Any) -> None:
        try:
            self._tag_thread()
            frame.collect()
        except BaseException as problem:
            self.problem = problem
        finally:
            self.ended.set()

    def _tag_thread(self) -> None:
        """Tags belong to a thread. (`SparkSession.interruptTag` does not find the jobs of a classic session.)"""
        context = classic_context(self.spark)
        if context is None:
            self.spark.addTag(self.tag)
        else:
            context.addJobTag(self.tag)

    def alive(self) -> None:
        if self.ended.is_set():
            raise WorkerLost(f"its Spark job has ended{f': {spark_words(self.problem)}' if self.problem else ''}")

    def end(self, patience: float) -> None:
        """Wait for the task to return; if it does not, cancel the job, which has Spark kill the task's process."""
        if self.ended.wait(patience) or is_stopped(self.spark):
            return
        context = classic_context(self.spark)
        if context is None:
            self.spark.interruptTag(self.tag)
        else:
            context.cancelJobsWithTag(self.tag)
        self.ended.wait(KILLING)


def _task(assignment: Assignment) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        (number,) = (n for batch in batches for n in batch.column(0).to_pylist())
        if number:
            return be_a_part(number - 1)
        return serve(assignment, number, BarrierTeam(assignment.rendezvous) if assignment.settings.workers else None)

    return run
