"""Workers of one session in several tasks: the first task asks them, each of the others has a part of the relations.

All are tasks of one barrier job, which start together and end together. The first, which is the resident worker that
the driver knows (`worker.py`), tells the others through Spark whom to call; from then on they speak through sockets of
their own. What is always true: if one is lost, Spark ends all, and the driver submits a fresh job. A part that hears
nothing of the first task ends itself.
"""

from __future__ import annotations

import base64
import os
import socket
from collections import Counter
from collections.abc import Callable, Iterator

import pyarrow as pa

from tidelog.exchange.part_worker import PartOrder, part_worker, shared_memory
from tidelog.exchange.questions import KINDS
from tidelog.exchange.serving import serve as serve_part
from tidelog.exchange.workers import Contract, Workers
from tidelog.exchange.workforce import Workforce
from tidelog.plain import replace
from tidelog.wire.messages import Beat
from tidelog.wire.sockets import host_towards

SILENCE = 15.0
"""Seconds without a sign of life after which the first task is taken for dead."""
LOST = 70
"""The status of a process that ends because another of its job is gone."""


class BarrierTasks:
    """The tasks of an attempt: a `workforce.Running`. That they live, their signs of life tell."""

    patience = 120.0
    """Seconds that they may take to start."""

    def alive(self) -> None:
        pass

    def end(self, patience: float) -> None:
        pass


class BarrierTeam:
    """Has the parts in the other tasks of this job: what `local.teams.Team` is in a task."""

    def __init__(self, rendezvous: str) -> None:
        self._host = host_towards(rendezvous)
        self._called = False

    def __call__(self, order: PartOrder, size: int, watch: Callable[[Beat], None]) -> Workers:
        if self._called:
            os._exit(LOST)  # a part is gone: this attempt is over, and the driver begins another
        return Workforce(size, part_worker, order, KINDS, self._start, self._host, patience=SILENCE, always_listen=True)

    def _start(self, contract: Contract) -> BarrierTasks:
        from pyspark import cloudpickle

        self._called = True
        _told(base64.b64encode(cloudpickle.dumps(contract)).decode())  # type: ignore[no-untyped-call]
        return BarrierTasks()

    def dismiss(self) -> None:
        """Let the other tasks end, if nobody has called them."""
        if not self._called:
            self._called = True
            _told("")


def be_a_part(number: int) -> Iterator[pa.RecordBatch]:
    """The function of another task: returns when the session closes, and gives no rows."""
    from pyspark import cloudpickle

    host = socket.gethostname()
    called, *hosts = _told(host)
    if called:
        contract: Contract = cloudpickle.loads(base64.b64decode(called))
        limits = shared_memory(contract.order.limits, Counter(hosts)[host])
        serve_part(replace(contract, order=replace(contract.order, limits=limits)), number)
    yield from ()


def _told(message: str) -> list[str]:
    """What all tasks of the job say, once each has said something; the first task first."""
    from pyspark import BarrierTaskContext

    return list(BarrierTaskContext.get().allGather(message))
