"""The end to which workers connect: who they are, whether they live, and what they were asked.

It is built for any number of workers. What is always true: a question is answered exactly once, by a message, by the
worker's error, or by `WorkerLost` as soon as the worker is known to be gone: what runs it says so, or it has been
silent for too long while we were listening. What workers say unasked is news, in the order in which each has said it.

Who listens is one of two things. A thread does, for workers that want an answer to their signs of life when nobody asks
them anything; others hand it what they have to say, from any thread. Or whoever waits does: then one thread at a time
may use the rendezvous, and each message saves two changes of threads, which on a busy machine take most of the time.
"""

from __future__ import annotations

import contextlib
import itertools
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import zmq

from tidelog.errors import InternalError, TidelogError
from tidelog.plain import dataclass
from tidelog.wire.codec import MalformedMessage
from tidelog.wire.keys import Keys
from tidelog.wire.messages import Beat, Failed, Hello, Message, Messages, Parcel, Refused
from tidelog.wire.problems import diagnostics
from tidelog.wire.sockets import Sockets, received

if TYPE_CHECKING:
    import pyarrow as pa

SILENCE = 8.0
"""Seconds without a sign of life after which a worker is taken for dead."""
LOOK = 0.1
"""Seconds after which somebody who waits looks whether the worker is still there."""
PAUSE = 2.0
"""Seconds between two looks of the listening thread, after which it was not listening meanwhile."""

A = TypeVar("A", bound=Message)
Alive = Callable[[], None]
"""Raises `WorkerLost` if the worker has ended."""


class WorkerLost(Exception):
    """The worker that was asked is gone."""


@dataclass
class Member:
    """A worker that has said hello."""

    identity: bytes
    hello: Hello
    heard: float
    memory: int = 0  # bytes, at its last sign of life
    failure: Exception | None = None  # for which it cannot go on

    @property
    def address(self) -> str:
        return self.hello.address

    @property
    def pid(self) -> int:
        return self.hello.pid


class Question(NamedTuple):
    """A question on its way."""

    member: Member
    number: int


class News(NamedTuple):
    """What a worker has said unasked."""

    worker: int
    message: Message


class Rendezvous:
    """See the module's docstring. `watch` is told of every sign of life of a member."""

    def __init__(
        self,
        host: str,
        keys: Keys,
        messages: Messages,
        silence: float = SILENCE,
        watch: Callable[[Beat], None] | None = None,
        always_listen: bool = True,
    ) -> None:
        self._messages, self._silence, self._watch = messages, silence, watch
        self.members: dict[tuple[int, int], Member] = {}  # by number and attempt
        self._speakers: dict[bytes, Member] = {}  # the same, by the identity of their lines
        self._refused: dict[tuple[int, int], Exception] = {}
        self._answers: dict[int, Parcel | None] = {}  # to questions, by their numbers
        self._numbers = itertools.count(1)
        self._news: deque[News] = deque()
        self._heard = threading.Condition()
        self._listened = time.monotonic()
        self._sockets = Sockets(keys)
        self._socket, self.address = self._sockets.bound(zmq.ROUTER, host)
        self._thread: threading.Thread | None = None
        if always_listen:
            self._outgoing: queue.SimpleQueue[list[Any] | None] = queue.SimpleQueue()
            self._bell, self._rope = self._sockets.pair("bell")
            self._ringing = threading.Lock()
            self._thread = threading.Thread(target=self._listen, name="tidelog-rendezvous", daemon=True)
            self._thread.start()

    @property
    def is_asked(self) -> bool:
        """Whether somebody waits for an answer."""
        return bool(self._answers)

    def joined(self, worker: int, attempt: int, alive: Alive, patience: float) -> Member:
        """The worker, once it is there; the error for which it cannot be."""
        deadline, who = time.monotonic() + patience, (worker, attempt)
        while not self._wait_for(lambda: who in self.members or who in self._refused):
            alive()
            if time.monotonic() > deadline:
                raise WorkerLost(f"no worker has come within {patience:.0f} s")
        if who in self._refused:
            raise self._refused[who]
        return self.members[who]

    def say(self, member: Member, message: Message, tables: Sequence[pa.Table] = (), number: int = 0) -> None:
        frames = [member.identity, *self._messages.frames(message, tables, number)]
        if self._thread is None:
            self._socket.send_multipart(frames, copy=False)
        else:
            self._ring(frames)

    def ask(
        self, member: Member, question: Message, kind: type[A], alive: Alive, tables: Sequence[pa.Table] = ()
    ) -> tuple[A, list[pa.Table]]:
        """The worker's answer, which is of this kind."""
        return self.answer(self.asked(member, question, tables), kind, alive)

    def asked(self, member: Member, question: Message, tables: Sequence[pa.Table] = ()) -> Question:
        """A question that is on its way; `answer` has to be called for it."""
        made = Question(member, next(self._numbers))
        self._answers[made.number] = None
        self.say(member, question, tables, made.number)
        return made

    def answer(self, question: Question, kind: type[A], alive: Alive) -> tuple[A, list[pa.Table]]:
        parcel = self.heard(question, alive)
        if isinstance(parcel.message, Failed):
            raise parcel.message.error()
        if not isinstance(parcel.message, kind):
            raise InternalError(f"the worker answers {type(parcel.message).__name__} instead of {kind.__name__}")
        return parcel.message, parcel.tables

    def heard(self, question: Question, alive: Alive) -> Parcel:
        """The worker's answer, whatever it is."""
        try:
            while not self._wait_for(lambda: self._answers[question.number] is not None):
                self.check(question.member, alive)
        finally:
            parcel = self._answers.pop(question.number)
        assert parcel is not None
        return parcel

    def forget(self, question: Question) -> None:
        """Nobody waits for this answer any more."""
        self._answers.pop(question.number, None)

    def news(self) -> News | None:
        """What a worker has said unasked; None if there is nothing for a while."""
        return self._news.popleft() if self._wait_for(lambda: bool(self._news)) else None

    def forget_news(self) -> None:
        """All that was said unasked before any answer that we have."""
        self._news.clear()

    def sign_of_life(self, member: Member, alive: Alive) -> None:
        """Return when the worker has been heard of after this call; raise `WorkerLost` if it is gone."""
        asked = time.monotonic()
        while not self._wait_for(lambda: member.heard >= asked):
            self.check(member, alive)

    def check(self, member: Member, alive: Alive) -> None:
        """Raise `WorkerLost` if the worker is gone or silent, and its error if it cannot go on."""
        alive()
        if member.failure is not None:
            raise member.failure
        if self._listened - member.heard > self._silence:
            raise WorkerLost(f"process {member.pid} has been silent for {self._silence:.0f} s")

    def close(self) -> None:
        if self._thread is not None:
            self._ring(None)
            self._thread.join()
            self._rope.close()
        self._socket.close()
        self._sockets.close()

    def _wait_for(self, condition: Callable[[], bool]) -> bool:
        """Whether it holds, now or within a short time."""
        if self._thread is not None:
            with self._heard:
                return self._heard.wait_for(condition, LOOK)
        deadline = time.monotonic() + LOOK
        while not condition() and (left := deadline - time.monotonic()) > 0:
            if self._socket.poll(int(1000 * left) + 1):
                self._receive()
            self._tick()
        return condition()

    def _ring(self, frames: list[Any] | None) -> None:
        with self._ringing:
            self._outgoing.put(frames)
            self._rope.send(b"")

    # What follows is done by whoever listens.

    def _listen(self) -> None:
        poller = zmq.Poller()
        poller.register(self._socket, zmq.POLLIN)
        poller.register(self._bell, zmq.POLLIN)
        while True:
            ready = dict(poller.poll(int(1000 * PAUSE / 2)))
            self._tick()
            if self._bell in ready:
                self._bell.recv()
                frames = self._outgoing.get()
                if frames is None:
                    break
                self._socket.send_multipart(frames, copy=False)
            if self._socket in ready:
                self._receive()
        self._bell.close()

    def _tick(self) -> None:
        """Note that we are listening. Nobody was silent while we were not: this process may have been stopped."""
        now = time.monotonic()
        if now - self._listened > PAUSE:
            for member in self.members.values():
                member.heard += now - self._listened
        self._listened = now

    def _receive(self) -> None:
        sender, *frames = received(self._socket, 2)
        with contextlib.suppress(MalformedMessage), self._heard:  # its sender is not answered
            self._hear(sender, self._messages.parcel(frames))
            self._heard.notify_all()

    def _hear(self, sender: bytes, parcel: Parcel) -> None:
        match message := parcel.message:
            case Hello():
                member = Member(sender, message, time.monotonic())
                self.members[message.worker, message.attempt] = self._speakers[sender] = member
            case Refused():
                self._refused[message.worker, message.attempt] = TidelogError(diagnostics(message.problems))
            case Beat():
                if (beating := self.members.get((message.worker, message.attempt))) is not None:
                    beating.heard, beating.memory = time.monotonic(), message.memory
                    if self._watch is not None:
                        self._watch(message)
                self._socket.send_multipart([sender, *self._messages.frames(message)])
            case _ if parcel.number:
                if parcel.number in self._answers:
                    self._answers[parcel.number] = parcel
            case _ if (speaker := self._speakers.get(sender)) is not None:
                if isinstance(message, Failed):
                    speaker.failure = message.error()
                self._news.append(News(speaker.hello.worker, message))
