"""A network spread over the processes of a pool: bursts are handed out, convergence is noticed, costs are added up.

Convergence is detected by counting twice (Mattern 1987, the four-counter method). A process that runs out of work says
how many updates it has sent to and received from other processes. Once the sums agree every process is probed: each
answers when it has nothing to do. If no count has changed and the sums still agree, nothing is in flight and nobody is
at work.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from tidelog.net.runtime import wire
from tidelog.net.runtime.launch import Setting
from tidelog.net.runtime.network import Convergence, News
from tidelog.net.runtime.pool import Pool
from tidelog.net.runtime.trace import Trace
from tidelog.net.runtime.worker import owner
from tidelog.net.values import Fact, Update


class ManyProcesses:
    """The network of a setting on a pool; it takes the place of any other that the pool held."""

    def __init__(self, setting: Setting, pool: Pool, trace: Trace | None = None, news: News | None = None) -> None:
        self.setting, self.pool, self.trace, self.news = setting, pool, trace, news
        self.size = 0
        self._sent = 0
        self._wave = 0
        pool.ask(["load", {**setting.packed(), "processes": pool.size, "traced": trace is not None}], "loaded")
        self._reports = {index: _Report() for index in range(pool.size)}

    def burst(self, updates: Iterable[Update]) -> Convergence:
        """Hands the updates to the processes of their nodes, and returns when the network has converged."""
        started = time.perf_counter()
        shares: dict[int, list[Any]] = {}
        for update in updates:
            process = owner(self.setting.program.node(update.fact), self.pool.size)
            shares.setdefault(process, []).append(wire.pack(update))
        for process, share in shares.items():
            self._sent += len(share)
            self.pool.send(process, ["burst", share])
        self._converge()
        cost = self._settle()
        cost.seconds = time.perf_counter() - started
        if self.trace:
            self.trace.merged([answer[2] for answer in self.pool.ask(["traced"], "traced")])
            self.trace.converged(cost)
        return cost

    def facts(self) -> frozenset[Fact]:
        return frozenset(wire.unpack_fact(f) for answer in self.pool.ask(["facts"], "facts") for f in answer[2])

    def _converge(self) -> None:
        """Waits until the counts agree and a probe finds them unchanged."""
        if not self._sent:
            return
        while True:
            while not self._balanced():
                self._note(self.pool.next())
            before = self._counts()
            self._wave += 1
            self.pool.send_all(["probe", self._wave])
            answered: set[int] = set()
            while len(answered) < self.pool.size:
                payload = self.pool.next()
                self._note(payload)
                if payload[0] == "probed" and payload[5] == self._wave:
                    answered.add(payload[1])
            if self._balanced() and self._counts() == before:
                return

    def _counts(self) -> list[tuple[int, int]]:
        return [(report.sent, report.received) for report in self._reports.values()]

    def _balanced(self) -> bool:
        """Whether all that was sent was received, as far as the processes have said."""
        reports = self._reports.values()
        return sum(r.received for r in reports) == self._sent + sum(r.sent for r in reports)

    def _note(self, payload: list[Any]) -> None:
        if payload[0] in ("idle", "probed"):
            self._reports[payload[1]] = _Report(*payload[2:5])
            if self.news:
                self.news(_cost([r.cost for r in self._reports.values()]))

    def _settle(self) -> Convergence:
        answers = self.pool.ask(["settled"], "cost")
        self.size = sum(a[4] for a in answers)
        cost = _cost([a[2] for a in answers])
        cost.waiting = [wire.unpack(u) for a in answers for u in a[3]]
        return cost


class _Report(NamedTuple):
    """What a process last said: updates sent to and received from others since it was loaded, and its costs."""

    sent: int = 0
    received: int = 0
    cost: Sequence[int] = (0,) * 6


def _cost(counts: Iterable[Sequence[int]]) -> Convergence:
    total = Convergence()
    for updates, messages, size, rounds, steps, cancelled in counts:
        total.add(Convergence(updates, messages, size, rounds, steps, cancelled))
    return total
