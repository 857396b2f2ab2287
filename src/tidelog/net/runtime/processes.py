"""A network spread over the processes of a pool: bursts are handed out, convergence is noticed, costs are added up.

Convergence is detected by counting twice (Mattern 1987, the four-counter method). A process that runs out of work says
how many updates it has sent to and received from other processes. Once the sums agree every process is probed: each
answers when it has nothing to do. If no count has changed and the sums still agree, nothing is in flight and nobody is
at work.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

from tidelog.net.runtime.dictionary import Receiver
from tidelog.net.runtime.launch import Setting
from tidelog.net.runtime.messages import (
    AllFacts,
    Burst,
    GiveFacts,
    GiveTrace,
    HostNetwork,
    Idle,
    ReportWhenIdle,
    Settle,
    Settled,
    Traced,
)
from tidelog.net.runtime.network import BurstCost, Convergence, News
from tidelog.net.runtime.packed import pack, unpack_fact
from tidelog.net.runtime.pool import Pool
from tidelog.net.runtime.trace import Trace
from tidelog.net.runtime.worker import owner
from tidelog.net.values import Fact, Update
from tidelog.wire.messages import Done, Message


class ManyProcesses:
    """The network of a setting on a pool; it takes the place of any other that the pool held."""

    def __init__(self, setting: Setting, pool: Pool, trace: Trace | None = None, news: News | None = None) -> None:
        self.setting, self.pool, self.trace, self.news = setting, pool, trace, news
        self.size = 0
        self._sent = 0
        self._wave = 0
        pool.ask(_load(setting, trace is not None), Done)
        pool.forget_news()
        self._reports = {index: Idle(0, 0, BurstCost()) for index in range(pool.size)}

    def burst(self, updates: Iterable[Update]) -> Convergence:
        """Hands the updates to the processes of their nodes, and returns when the network has converged."""
        started = time.perf_counter()
        shares: dict[int, list[Any]] = {}
        for update in updates:
            process = owner(self.setting.program.node(update.fact), self.pool.size)
            shares.setdefault(process, []).append(pack(update))
        for process, share in shares.items():
            self._sent += len(share)
            self.pool.send(process, Burst(share))
        self._converge()
        cost = self._settle()
        cost.seconds = time.perf_counter() - started
        if self.trace:
            self.trace.merged([answer.records for answer in self.pool.ask(GiveTrace(), Traced)])
            self.trace.converged(cost)
        return cost

    def facts(self) -> frozenset[Fact]:
        return frozenset(unpack_fact(f) for answer in self.pool.ask(GiveFacts(), AllFacts) for f in answer.facts)

    def _converge(self) -> None:
        """Waits until the counts agree and a probe finds them unchanged."""
        if not self._sent:
            return
        while True:
            while not self._balanced():
                self._note(*self.pool.next())
            before = self._counts()
            self._wave += 1
            self.pool.send_all(ReportWhenIdle(self._wave))
            answered: set[int] = set()
            while len(answered) < self.pool.size:
                worker, message = self.pool.next()
                self._note(worker, message)
                if isinstance(message, Idle) and message.wave == self._wave:
                    answered.add(worker)
            if self._balanced() and self._counts() == before:
                return

    def _counts(self) -> list[tuple[int, int]]:
        return [(report.sent, report.received) for report in self._reports.values()]

    def _balanced(self) -> bool:
        """Whether all that was sent was received, as far as the processes have said."""
        reports = self._reports.values()
        return sum(r.received for r in reports) == self._sent + sum(r.sent for r in reports)

    def _note(self, worker: int, message: Message) -> None:
        if isinstance(message, Idle):
            self._reports[worker] = message
            if self.news:
                self.news(_total(report.cost for report in self._reports.values()))

    def _settle(self) -> Convergence:
        answers = self.pool.ask(Settle(), Settled)
        self.size = sum(answer.nodes for answer in answers)
        cost = _total(answer.cost for answer in answers)
        cost.waiting = [Receiver(None).unpack(u)[0] for answer in answers for u in answer.waiting]
        cost.left_out = [Receiver(None).unpack(u)[0] for answer in answers for u in answer.left_out]
        return cost


def _load(setting: Setting, traced: bool) -> HostNetwork:
    return HostNetwork(
        setting.text, setting.name, setting.method.packed(), setting.schedule, setting.seed, setting.starve,
        list(setting.delays), setting.batch, setting.cancel, setting.limit, traced,
    )  # fmt: skip


def _total(costs: Iterable[BurstCost]) -> Convergence:
    total = Convergence()
    for cost in costs:
        total.add(cost)
    return total
