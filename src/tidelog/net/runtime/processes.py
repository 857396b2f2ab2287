"""A network spread over processes: this one starts them, hands out bursts, and knows when they have converged.

Convergence is detected by counting twice (Mattern 1987, the four-counter method). A process that runs out of work says
how many updates it has sent to and received from other processes. Once the sums agree every process is probed: each
answers when it has nothing to do. If no count has changed and the sums still agree, nothing is in flight and nobody is
at work. A process that ends by itself is noticed within a tenth of a second, and the run ends with an error that says
which one.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import time
from collections.abc import Iterable
from types import TracebackType
from typing import Any

from tidelog.errors import Diagnostic, Source, Span, TidelogError, error
from tidelog.net.runtime import wire
from tidelog.net.runtime.channel import Channel, Keys
from tidelog.net.runtime.launch import Setting
from tidelog.net.runtime.network import Convergence, News
from tidelog.net.runtime.trace import Trace
from tidelog.net.runtime.worker import owner
from tidelog.net.values import Fact, Update

_LOOK_AROUND = 100
_TIME_TO_START = 60.0
_TIME_TO_END = 5.0


class ManyProcesses:
    """`with ManyProcesses(setting) as network: network.burst(…)`."""

    trace: Trace | None = None

    def __init__(self, setting: Setting, news: News | None = None) -> None:
        self.setting, self.news = setting, news
        self.size = 0
        self.workers: list[subprocess.Popen[str]] = []
        self._sent = 0
        self._wave = 0
        self._reports: dict[int, list[Any]] = {}

    def __enter__(self) -> ManyProcesses:
        self.keys = Keys.fresh()
        self.channel = Channel(self.keys)
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

    def burst(self, updates: Iterable[Update]) -> Convergence:
        """Hands the updates to the processes of their nodes, and returns when the network has converged."""
        started = time.perf_counter()
        shares: dict[int, list[Any]] = {}
        for update in updates:
            process = owner(self.setting.program.node(update.fact), self.setting.processes)
            shares.setdefault(process, []).append(wire.pack(update))
        for process, share in shares.items():
            self._sent += len(share)
            self.channel.send(process, ["burst", share])
        self._converge()
        cost = self._settle()
        cost.seconds = time.perf_counter() - started
        return cost

    def facts(self) -> frozenset[Fact]:
        return frozenset(wire.unpack_fact(f) for answer in self._ask(["facts"], "facts") for f in answer[2])

    def close(self) -> None:
        """Ends the processes: asks, and after a while insists."""
        for index, worker in enumerate(self.workers):
            if worker.poll() is None and index in self.channel._peers:
                self.channel.send(index, ["end"])
        deadline = time.monotonic() + _TIME_TO_END
        for worker in self.workers:
            try:
                worker.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                worker.kill()
                worker.wait()
        self.workers.clear()
        self.channel.close()

    def _start(self) -> None:
        count = self.setting.processes
        for index in range(count):
            worker = subprocess.Popen(
                [sys.executable, "-m", "tidelog.net.runtime.worker"], stdin=subprocess.PIPE, text=True, encoding="utf-8"
            )
            self.workers.append(worker)
            assert worker.stdin is not None
            with contextlib.suppress(BrokenPipeError):  # it is gone already: `_next` says so
                worker.stdin.write(json.dumps(self._order(index)) + "\n")
                worker.stdin.flush()
        ports = {ready[1]: ready[2] for ready in self._collect("ready", _TIME_TO_START)}
        for index, port in ports.items():
            self.channel.connect(index, port)
            self.channel.send(index, ["peers", {str(i): p for i, p in ports.items()}])
        self._collect("connected", _TIME_TO_START)

    def _order(self, index: int) -> dict[str, Any]:
        s = self.setting
        return {
            "index": index, "processes": s.processes, "keys": list(self.keys), "port": self.channel.port,
            "text": s.text, "name": s.name, "annotated": s.annotated, "schedule": s.schedule, "seed": s.seed,
            "starve": s.starve, "batch": s.batch, "cancel": s.cancel, "limit": s.limit,
        }  # fmt: skip

    def _converge(self) -> None:
        """Waits until the counts agree and a probe finds them unchanged."""
        if not self._sent:
            return
        while True:
            while not self._balanced():
                self._note(self._next())
            before = self._counts()
            self._wave += 1
            for index in range(self.setting.processes):
                self.channel.send(index, ["probe", self._wave])
            answered: set[int] = set()
            while len(answered) < self.setting.processes:
                payload = self._next()
                self._note(payload)
                if payload[0] == "probed" and payload[5] == self._wave:
                    answered.add(payload[1])
            if self._balanced() and self._counts() == before:
                return

    def _counts(self) -> dict[int, tuple[int, int]]:
        return {index: (report[2], report[3]) for index, report in self._reports.items()}

    def _balanced(self) -> bool:
        """Whether every process has reported, and all that was sent was received."""
        counts = self._counts()
        all_reported = len(counts) == self.setting.processes
        return all_reported and self._sum(counts, 1) == self._sent + self._sum(counts, 0)

    @staticmethod
    def _sum(counts: dict[int, tuple[int, int]], which: int) -> int:
        return sum(c[which] for c in counts.values())

    def _note(self, payload: list[Any]) -> None:
        if payload[0] in ("idle", "probed"):
            self._reports[payload[1]] = payload
            if self.news:
                self.news(_cost([r[4] for r in self._reports.values()]))

    def _settle(self) -> Convergence:
        answers = self._ask(["settled"], "cost")
        self.size = sum(a[4] for a in answers)
        cost = _cost([a[2] for a in answers])
        cost.waiting = [wire.unpack(u) for a in answers for u in a[3]]
        return cost

    def _ask(self, question: list[Any], kind: str) -> list[list[Any]]:
        for index in range(self.setting.processes):
            self.channel.send(index, question)
        return self._collect(kind)

    def _collect(self, kind: str, patience: float | None = None) -> list[list[Any]]:
        """One payload of this kind from each process."""
        deadline = None if patience is None else time.monotonic() + patience
        found: dict[int, list[Any]] = {}
        while len(found) < self.setting.processes:
            payload = self._next(deadline)
            if payload[0] == kind:
                found[payload[1]] = payload
        return [found[i] for i in sorted(found)]

    def _next(self, deadline: float | None = None) -> list[Any]:
        """The next payload. An error if a process has ended, failed, or does not answer in time."""
        while True:
            payload: list[Any] | None = self.channel.receive(_LOOK_AROUND)
            if payload is not None:
                if payload[0] == "failed":
                    raise self._failure(*payload[2:])
                return payload
            self._look_around()
            if deadline is not None and time.monotonic() > deadline:
                raise error("TL1057", f"the processes have not started within {_TIME_TO_START:.0f} seconds")

    def _look_around(self) -> None:
        for index, worker in enumerate(self.workers):
            if worker.poll() is not None:
                ending = _ending(worker.returncode)
                raise error(
                    "TL1057", f"process {index} of {self.setting.processes} has ended ({ending})",
                    help="the nodes it hosted are lost with their facts; run again",
                )  # fmt: skip

    def _failure(self, code: str, message: str, hint: str | None, span: list[int] | None) -> TidelogError:
        place = Span(Source(self.setting.name, self.setting.text), span[0], span[1]) if span else None
        return TidelogError(Diagnostic(code, message, place, hint))


def _cost(counts: list[list[int]]) -> Convergence:
    total = Convergence()
    for updates, messages, size, rounds, steps, cancelled in counts:
        total.add(Convergence(updates, messages, size, rounds, steps, cancelled))
    return total


def _ending(code: int) -> str:
    return f"killed by signal {-code}" if code < 0 else f"exit code {code}"
