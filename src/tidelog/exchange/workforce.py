"""Asks the workers of an attempt, wherever they run, and notices what becomes of them.

What is always true: when `ask` returns or raises, all workers have answered and wait for the next question, or all are
gone. An error of one stops the others; a worker that is gone ends them: nobody else can go on without it, and whoever
needs them begins a new attempt. A question that is interrupted (Ctrl-C) is stopped on all workers first.
"""

from __future__ import annotations

import contextlib
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

import zmq

from tidelog.errors import Diagnostic, InternalError, TidelogError
from tidelog.exchange.peer_sockets import abort_from_outside
from tidelog.exchange.serving import Leave, Meet, Pause, PeerHello, Stopped, spoken
from tidelog.exchange.workers import Contract, Factory
from tidelog.plain import replace
from tidelog.wire.keys import Keys
from tidelog.wire.messages import Beat, Failed, Message
from tidelog.wire.problems import Problem
from tidelog.wire.rendezvous import Member, Question, Rendezvous, WorkerLost
from tidelog.wire.sockets import Sockets

LEAVING = 5.0
"""Seconds that workers may take to leave."""
REASONS = 0.5
"""Seconds that what a worker has said before it ended may still be on its way."""
STOPPING = 10.0
"""Seconds that workers may take to stop working on a question."""


class Running(Protocol):
    """The processes of an attempt, as what has started them sees them."""

    patience: float

    def alive(self) -> None:
        """Raise `WorkerLost` if one has ended."""

    def end(self, patience: float) -> None:
        """Wait for all to end; end those that do not."""


Start = Callable[[Contract], Running]


class Workforce:
    """The workers of one attempt: see the module's docstring, and `workers.Workers`. `watch` is told of every sign of
    life."""

    def __init__(
        self,
        size: int,
        factory: Factory,
        order: Any,
        kinds: Sequence[type[Message]],
        start: Start,
        host: str,
        *,
        trusted: bool = False,
        patience: float = float("inf"),
        watch: Callable[[Beat], None] | None = None,
        always_listen: bool = False,
    ) -> None:
        self.size = size
        self._keys = Keys.new()
        contract = Contract("", self._keys, secrets.randbits(32), size, factory, order, tuple(kinds), trusted, patience)
        self._rendezvous = Rendezvous(host, self._keys, spoken(contract), watch=watch, always_listen=always_listen)
        self._contract = replace(contract, rendezvous=self._rendezvous.address)
        self._question, self._closed = 0, False
        self._running: Running | None = None
        self._workers: list[Member] = []
        try:
            self._running = start(self._contract)
            self._meet(self._running)
        except BaseException:
            self._end(0.0)
            raise

    def _meet(self, running: Running) -> None:
        """All say hello and are told of each other."""
        attempt = self._contract.attempt
        try:
            found = [
                self._rendezvous.joined(number, attempt, running.alive, running.patience) for number in range(self.size)
            ]
        except WorkerLost:  # most likely it has said why it cannot begin, and the news of its end was faster
            for number in range(self.size):
                with contextlib.suppress(WorkerLost):
                    self._rendezvous.joined(number, attempt, _nothing, REASONS)
            raise
        self._workers = found
        addresses = [worker.hello.peer for worker in found if isinstance(worker.hello, PeerHello)]
        self._answered([Meet(addresses)] * self.size)

    @property
    def pids(self) -> list[int]:
        """The processes of the workers, each on its machine."""
        return [worker.pid for worker in self._workers]

    def ask(self, questions: Sequence[Message]) -> list[Message]:
        self._question += 1
        return self._answered(questions)

    def _answered(self, questions: Sequence[Message]) -> list[Message]:
        if self._running is None:
            raise WorkerLost("the workers are gone")
        asked = [
            self._rendezvous.asked(worker, question) for worker, question in zip(self._workers, questions, strict=True)
        ]
        try:
            answers = [self._rendezvous.heard(each, self._look_around).message for each in asked]
        except WorkerLost:
            self._end(0.0)
            raise
        except BaseException:
            self._stop(asked)
            raise
        self._check(answers)
        return answers

    def _check(self, answers: Sequence[Message]) -> None:
        """Raise what has gone wrong on any worker."""
        broken = [answer.gone for answer in answers if isinstance(answer, Stopped) and answer.gone]
        failed = {number: answer for number, answer in enumerate(answers) if isinstance(answer, Failed)}
        if broken:
            self._end(0.0)
            raise WorkerLost("; ".join(broken))
        if failed:
            raise together(failed, self.size)
        if any(isinstance(answer, Stopped) for answer in answers):
            raise InternalError("a worker was stopped, and none has failed")

    def _look_around(self) -> None:
        assert self._running is not None
        self._running.alive()
        for number, worker in enumerate(self._workers):
            try:
                self._rendezvous.check(worker, _nothing)
            except WorkerLost as problem:
                raise WorkerLost(f"worker {number} of {self.size}: {problem}") from None

    def _stop(self, asked: Sequence[Question]) -> None:
        """Let the workers stop what they are at; if one of them does not, all are ended."""
        for each in asked:
            self._rendezvous.forget(each)
        sockets = Sockets(self._keys)
        lines = [
            sockets.connected(zmq.PUSH, worker.address, trusted=self._contract.trusted) for worker in self._workers
        ]
        deadline = time.monotonic() + STOPPING
        try:
            for line in lines:
                line.linger = int(1000 * STOPPING)
                abort_from_outside(line, self._contract.attempt, self._question, self.size)
            for question in [self._rendezvous.asked(worker, Pause()) for worker in self._workers]:
                self._rendezvous.heard(question, partial(_before, deadline))
        except BaseException:
            self._end(0.0)
        finally:
            for line in lines:
                line.close(0)
            sockets.close()

    def close(self) -> None:
        """Let the workers leave."""
        if self._running is not None:
            with contextlib.suppress(WorkerLost, TidelogError):
                self._answered([Leave()] * self.size)
            self._end(LEAVING)

    def _end(self, patience: float) -> None:
        running, self._running = self._running, None
        if running is not None:
            running.end(patience)
        if not self._closed:
            self._closed = True
            self._rendezvous.close()


def together(failed: Mapping[int, Failed], size: int) -> Exception:
    """What all the workers that have failed say, each thing once, with who says it."""
    for number, answer in failed.items():
        if not answer.problems:
            return InternalError(f"worker {number} of {size} failed: {answer.internal}")
    said: list[tuple[Problem, list[int]]] = []
    for number, answer in failed.items():
        for problem in answer.problems:
            for known, numbers in said:
                if known == problem:
                    numbers.append(number)
                    break
            else:
                said.append((problem, [number]))
    return TidelogError([_on_workers(problem.diagnostic(), numbers, size) for problem, numbers in said])


def _on_workers(diagnostic: Diagnostic, numbers: Sequence[int], size: int) -> Diagnostic:
    names = f"worker{'s' * (len(numbers) > 1)} {', '.join(map(str, numbers))}"
    return replace(diagnostic, notes=(*diagnostic.notes, (f"on {names} of {size}", None)))


def _nothing() -> None:
    """What is alive has been asked already."""


def _before(deadline: float) -> None:
    if time.monotonic() > deadline:
        raise WorkerLost("it does not stop")
