"""Workers that are processes of the driver: for a Spark session on this machine that a command has started itself.

Nobody else uses such a session, so its worker needs no task slot and need not wait for Spark's first job: one starts
beside the JVM, imports and loads what a worker needs, and waits for its assignment on standard input. What is always
true: it ends when standard input does, so it never outlives its driver. In everything else it is a worker like those in
Spark's tasks (`worker.py`), and is replaced like them.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from tidelog.spark.slots import classic_context
from tidelog.wire import children
from tidelog.wire.children import Child

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tidelog.spark.resident.worker import Assignment


class OwnProcess(Child):
    """A worker's process, as the driver sees it: what a `Job` is where the worker is a task."""

    patience = 600.0
    """Seconds that it may take to start, kernels to be compiled included: if it ends meanwhile, that is noticed."""

    def __init__(self) -> None:
        super().__init__(__name__)

    def assign(self, assignment: Assignment) -> None:
        from pyspark import cloudpickle

        self.employ(cloudpickle.dumps(assignment))  # type: ignore[no-untyped-call]


class Reserve:
    """The processes of a session that this process has started: the first is there before anybody asks."""

    def __init__(self) -> None:
        self._waiting: OwnProcess | None = OwnProcess()
        self._application = ""

    def serve(self, spark: SparkSession) -> None:
        """From now on sessions on `spark` get their workers here."""
        self._application = str(spark.sparkContext.applicationId)
        _reserves[self._application] = self

    def take(self) -> OwnProcess:
        found, self._waiting = self._waiting or OwnProcess(), None
        return found

    def close(self) -> None:
        _reserves.pop(self._application, None)
        if self._waiting is not None:
            self._waiting.end(0.0)
            self._waiting = None


_reserves: dict[str, Reserve] = {}  # by application


def reserve_of(spark: SparkSession) -> Reserve | None:
    """Where the workers of this session come from, if it is one that this process has started for itself."""
    context = classic_context(spark) if _reserves else None
    return None if context is None else _reserves.get(str(context.applicationId))


def main() -> None:
    from pyspark import cloudpickle

    from tidelog.spark.resident.worker import serve
    from tidelog.store import native

    native.announce = lambda line: print(line, file=sys.stderr, flush=True)
    native.load()
    order = children.order()
    if order is None:
        return  # the driver has ended, or needs no worker
    for _ in serve(cloudpickle.loads(order), 0):
        pass
    sys.stdout.flush()
    os._exit(0)  # all is closed, and to take a large store apart takes time


if __name__ == "__main__":
    main()
