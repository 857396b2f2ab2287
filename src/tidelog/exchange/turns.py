"""Workers that wait for each other, on the seeded transport: each in a thread of its own, one of them at a time.

A worker is plain code that waits where it must. Whoever waits gives its turn back, and the seed decides who has the
next; so the same seed makes the same run. Cost: two switches of threads for each turn.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from tidelog.exchange.seeded import Seeded, SeededTransport
from tidelog.exchange.transport import PeerFailed, Traffic
from tidelog.wire.messages import Message

Result = TypeVar("Result")


class SeededLine:
    """A `transport.WaitingTransport`: the seeded transport of a worker that can wait while it has the turn."""

    def __init__(self, transport: SeededTransport) -> None:
        self._transport, self.me, self.size = transport, transport.me, transport.size
        self.turn: Turn[Any] | None = None

    @property
    def sent(self) -> Traffic:
        return self._transport.sent

    def send(self, to: int, message: Message) -> None:
        self._transport.send(to, message)

    def receive(self) -> list[tuple[int, Message]]:
        return self._transport.receive()

    def wait(self, timeout: float | None = None) -> bool:
        while not self._transport.inbox:
            assert self.turn is not None, "a worker waits only while it does something"
            self.turn.give_back()
        return True

    def look(self) -> None:
        """Nobody is interrupted here: workers have turns."""

    @property
    def has_mail(self) -> bool:
        return bool(self._transport.inbox)


class Turn(Generic[Result]):
    """A `transport.Peer`: a piece of work of one worker, in a thread that runs only when it is its turn."""

    def __init__(self, line: SeededLine, work: Callable[[], Result]) -> None:
        self.done, self.result = False, list[Result]()
        self.problem: BaseException | None = None
        self._line, self._work = line, work
        self._mine, self._theirs = threading.Semaphore(0), threading.Semaphore(0)
        self._waits = self._ended = False
        line.turn = self
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        self._mine.acquire()
        if not self._ended:
            try:
                self.result.append(self._work())
            except BaseException as problem:
                self.problem = problem
        self.done = True
        self._theirs.release()

    def give_back(self) -> None:
        """Called by the worker: let others go on until something has come for it."""
        self._waits = True
        self._theirs.release()
        self._mine.acquire()
        self._waits = False
        if self._ended:
            raise PeerFailed

    def act(self) -> bool:
        if self.done or (self._waits and not self._line.has_mail):
            return False
        self._mine.release()
        self._theirs.acquire()
        return True

    def end(self) -> None:
        """End a worker that waits for what will never come."""
        if not self.done:
            self._ended = True
            self._mine.release()
            self._theirs.acquire()
        self._thread.join()


def in_turns(seeded: Seeded, lines: Sequence[SeededLine], work: Sequence[Callable[[], Result]]) -> list[Result]:
    """What each worker gives, or the problem that one of them met."""
    turns = [Turn(line, each) for line, each in zip(lines, work, strict=True)]
    try:
        seeded.run(turns)
    finally:
        for turn in turns:
            turn.end()
    problems = [turn.problem for turn in turns if turn.problem is not None]
    for problem in sorted(problems, key=lambda p: isinstance(p, PeerFailed)):
        raise problem
    return [result for turn in turns for result in turn.result]
