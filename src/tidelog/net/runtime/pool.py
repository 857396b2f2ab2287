"""Processes that host the nodes of a network: started, connected to each other, watched, ended.

A pool knows nothing of nodes and bursts. It starts `worker` processes, hands each the keys over its standard input,
and then sends payloads and collects answers. One network after the other may be loaded on it. A process that ends by
itself is noticed within a tenth of a second, and whoever waits for an answer gets an error that says which one. The
processes end when they are told to, or when this one is gone.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from types import TracebackType
from typing import Any

from tidelog.errors import Diagnostic, Source, Span, TidelogError, error
from tidelog.net.runtime.channel import Channel, Keys

_LOOK_AROUND = 100
_TIME_TO_START = 60.0
_TIME_TO_END = 5.0


class Pool:
    """`with Pool(4) as pool: …`: four processes, each connected to the others."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.workers: list[subprocess.Popen[str]] = []

    def __enter__(self) -> Pool:
        self._keys = Keys.fresh()
        self._channel = Channel(self._keys)
        try:
            self._start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def send(self, index: int, payload: Any) -> None:
        self._channel.send(index, payload)

    def send_all(self, payload: Any) -> None:
        for index in range(self.size):
            self.send(index, payload)

    def ask(self, question: Any, kind: str) -> list[list[Any]]:
        """The answers of all processes, which are payloads `[kind, index, …]`."""
        self.send_all(question)
        return self._collect(kind)

    def next(self, deadline: float | None = None) -> list[Any]:
        """The next payload. An error if a process has ended, failed, or does not answer in time."""
        while True:
            payload: list[Any] | None = self._channel.receive(_LOOK_AROUND)
            if payload is not None:
                if payload[0] == "failed":
                    raise _failure(*payload[2:])
                return payload
            self._look_around()
            if deadline is not None and time.monotonic() > deadline:
                raise error("TL1057", f"the processes have not started within {_TIME_TO_START:.0f} seconds")

    def close(self) -> None:
        """Ends the processes: asks, and after a while insists."""
        for index, worker in enumerate(self.workers):
            if worker.poll() is None and self._channel.knows(index):
                self.send(index, ["end"])
        deadline = time.monotonic() + _TIME_TO_END
        for worker in self.workers:
            try:
                worker.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                worker.kill()
                worker.wait()
        self.workers.clear()
        self._channel.close()

    def _start(self) -> None:
        for index in range(self.size):
            worker = subprocess.Popen(
                [sys.executable, "-m", "tidelog.net.runtime.worker"], stdin=subprocess.PIPE, text=True, encoding="utf-8"
            )
            self.workers.append(worker)
            order = {"index": index, "keys": list(self._keys), "port": self._channel.port, "parent": os.getpid()}
            assert worker.stdin is not None
            with contextlib.suppress(BrokenPipeError):  # it is gone already: `next` says so
                worker.stdin.write(json.dumps(order) + "\n")
                worker.stdin.flush()
        ports = {ready[1]: ready[2] for ready in self._collect("ready", _TIME_TO_START)}
        for index, port in ports.items():
            self._channel.connect(index, port)
        self.send_all(["peers", {str(i): p for i, p in ports.items()}])
        self._collect("connected", _TIME_TO_START)

    def _collect(self, kind: str, patience: float | None = None) -> list[list[Any]]:
        """One payload of this kind from each process."""
        deadline = None if patience is None else time.monotonic() + patience
        found: dict[int, list[Any]] = {}
        while len(found) < self.size:
            payload = self.next(deadline)
            if payload[0] == kind:
                found[payload[1]] = payload
        return [found[i] for i in sorted(found)]

    def _look_around(self) -> None:
        for index, worker in enumerate(self.workers):
            if worker.poll() is not None:
                ending = _ending(worker.returncode)
                raise error(
                    "TL1057", f"process {index} of {self.size} has ended ({ending})",
                    help="the nodes it hosted are lost with their facts; run again",
                )  # fmt: skip


def _ending(code: int) -> str:
    return f"killed by signal {-code}" if code < 0 else f"exit code {code}"


def _failure(code: str, message: str, hint: str | None, place: list[Any] | None) -> TidelogError:
    """The error of a process; `place` is the name and text of its program and where in it."""
    span = Span(Source(place[0], place[1]), place[2], place[3]) if place else None
    return TidelogError(Diagnostic(code, message, span, hint))
