"""Processes that host the nodes of a network: started, connected to each other, watched, ended.

A pool knows nothing of nodes and bursts. It starts `worker` processes and tells them of each other; then it sends
messages and collects answers. One network after the other may be loaded on it. A process that ends by itself is noticed
within a tenth of a second, one that hangs by its silence, and whoever waits for an answer gets an error that says which
one. The processes end when they are told to, or when this one is gone.
"""

from __future__ import annotations

import time
from types import TracebackType
from typing import TypeVar

from tidelog.errors import error
from tidelog.net.runtime.channel import HOST
from tidelog.net.runtime.messages import MESSAGES, Peers, StartOrder, Stop
from tidelog.wire.children import Child, refuse_too_many
from tidelog.wire.codec import dumps
from tidelog.wire.keys import Keys
from tidelog.wire.messages import Done, Failed, Message
from tidelog.wire.rendezvous import Member, News, Rendezvous, WorkerLost

_SILENCE = 30.0
_TIME_TO_START = 60.0
_TIME_TO_END = 5.0

A = TypeVar("A", bound=Message)


class Pool:
    """`with Pool(4) as pool: …`: four processes, each connected to the others."""

    def __init__(self, size: int) -> None:
        refuse_too_many(size)
        self.size = size
        self.workers: list[Child] = []
        self._members: list[Member] = []

    def __enter__(self) -> Pool:
        self._rendezvous = Rendezvous(HOST, keys := Keys.new(), MESSAGES, _SILENCE, always_listen=False)
        try:
            self._start(keys)
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def send(self, index: int, message: Message) -> None:
        self._rendezvous.say(self._members[index], message)

    def send_all(self, message: Message) -> None:
        for index in range(self.size):
            self.send(index, message)

    def ask(self, question: Message, kind: type[A]) -> list[A]:
        """The answers of all processes."""
        asked = [self._rendezvous.asked(member, question) for member in self._members]
        return [self._rendezvous.answer(each, kind, self._look_around)[0] for each in asked]

    def next(self) -> News:
        """What a process says next unasked. An error if one has ended, failed, or fallen silent."""
        while (news := self._rendezvous.news()) is None:
            self._look_around()
        if isinstance(news.message, Failed):
            raise news.message.error()
        return news

    def forget_news(self) -> None:
        """Whatever the processes have said of a network that they no longer host."""
        self._rendezvous.forget_news()

    def close(self) -> None:
        """Ends the processes: asks, and after a while insists."""
        for member in self._members:
            self._rendezvous.say(member, Stop())
        deadline = time.monotonic() + (_TIME_TO_END if self._members else 0.0)
        for worker in self.workers:
            worker.end(max(0.0, deadline - time.monotonic()))
        self.workers.clear()
        self._members.clear()
        self._rendezvous.close()

    def _start(self, keys: Keys) -> None:
        for index in range(self.size):
            worker = Child("tidelog.net.runtime.worker")
            self.workers.append(worker)
            worker.employ(dumps(StartOrder(index, keys, self._rendezvous.address)))
        try:
            members = [self._rendezvous.joined(i, 0, self._look_around, _TIME_TO_START) for i in range(self.size)]
        except WorkerLost as problem:
            raise error("TL1057", f"the processes have not started: {problem}") from None
        self._members = members
        self.ask(Peers([member.address for member in members]), Done)

    def _look_around(self) -> None:
        for index, worker in enumerate(self.workers):
            try:
                worker.alive()
                for member in self._members[index : index + 1]:
                    self._rendezvous.check(member, worker.alive)
            except WorkerLost as problem:
                raise error(
                    "TL1057", f"process {index} of {self.size} is lost: {problem}",
                    help="the nodes it hosted are lost with their facts; run again",
                ) from None  # fmt: skip
