"""The driver's end: a socket that workers connect to, who they are, whether they live, and what they were told.

It is built for any number of workers. What is always true: a command is answered exactly once, by a result, by the
worker's error, or by `WorkerLost` as soon as the worker is known to be gone: its job has ended, or it has been silent
for too long. One thread owns the socket; others hand it what they have to say.
"""

from __future__ import annotations

import itertools
import queue
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYet
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import zmq

from tidelog.errors import InternalError, TidelogError
from tidelog.evaluate.limits import Observer, Silent
from tidelog.spark.resident.keys import Guard, Keys
from tidelog.spark.resident.messages import (
    Beat,
    Done,
    Failed,
    Hello,
    Malformed,
    Message,
    Refused,
    diagnostics_of,
    frames_of,
    message_of,
)

SILENCE = 8.0
"""Seconds without a sign of life after which a worker is taken for dead."""
Answer = tuple[dict[str, Any], list[pa.Table]]


class WorkerLost(Exception):
    """The worker that was asked is gone."""


@dataclass
class Member:
    """A worker that has said hello."""

    identity: bytes
    address: str
    pid: int
    epoch: int
    heard: float


class Rendezvous:
    """See the module's docstring."""

    def __init__(self, host: str, keys: Keys, observer: Observer | None = None) -> None:
        self._observer = observer or Silent()
        self._stratum: list[Any] = []  # that the observer was told of last
        self.members: dict[tuple[int, int], Member] = {}  # by number and attempt
        self._refused: dict[tuple[int, int], TidelogError] = {}
        self._pending: dict[int, Future[Answer]] = {}
        self._commands = itertools.count(1)
        self._joined = threading.Condition()
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        self._guard = Guard(self._context, keys)
        self._socket = self._context.socket(zmq.ROUTER)
        self._socket.linger = 0
        keys.serve(self._socket)
        port = self._socket.bind_to_random_port(f"tcp://{host}")
        self.address = f"tcp://{host}:{port}"
        self._outgoing: queue.SimpleQueue[list[Any] | None] = queue.SimpleQueue()
        self._bell = self._context.socket(zmq.PAIR)
        self._bell.bind(f"inproc://bell-{id(self)}")
        self._rope = self._context.socket(zmq.PAIR)
        self._rope.connect(f"inproc://bell-{id(self)}")
        self._thread = threading.Thread(target=self._listen, name="tidelog-rendezvous", daemon=True)
        self._thread.start()

    # ---- what the session asks for

    def joined(self, worker: int, attempt: int, alive: Callable[[], None], patience: float) -> Member:
        """The worker, once it is there; the error for which it cannot be. `alive` raises if it never will be."""
        deadline = time.monotonic() + patience
        with self._joined:
            while (member := self.members.get((worker, attempt))) is None:
                if (worker, attempt) in self._refused:
                    raise self._refused[worker, attempt]
                alive()
                if time.monotonic() > deadline:
                    raise WorkerLost(f"no worker has come within {patience:.0f} s")
                self._joined.wait(0.1)
        return member

    def command(
        self, member: Member, make: Callable[[int], Message], tables: Sequence[pa.Table], alive: Callable[[], None]
    ) -> Answer:
        """The worker's answer to a command, which `make` makes of its number."""
        number = next(self._commands)
        answer: Future[Answer] = Future()
        self._pending[number] = answer
        self._say([member.identity, *frames_of(make(number), tables)])
        try:
            while True:
                try:
                    return answer.result(0.2)
                except NotYet:
                    alive()
                    if time.monotonic() - member.heard > SILENCE:
                        raise WorkerLost(f"process {member.pid} has been silent for {SILENCE:.0f} s") from None
        finally:
            self._pending.pop(number, None)

    def close(self) -> None:
        self._outgoing.put(None)
        self._rope.send(b"")
        self._thread.join()
        self._rope.close()
        self._guard.stop()
        self._context.term()

    # ---- the thread of the socket

    def _say(self, frames: list[Any]) -> None:
        self._outgoing.put(frames)
        self._rope.send(b"")

    def _listen(self) -> None:
        poller = zmq.Poller()
        poller.register(self._socket, zmq.POLLIN)
        poller.register(self._bell, zmq.POLLIN)
        while True:
            ready = dict(poller.poll())
            if self._bell in ready:
                self._bell.recv()
                frames = self._outgoing.get()
                if frames is None:
                    break
                self._socket.send_multipart(frames, copy=False)
            if self._socket in ready:
                sender, *frames = self._socket.recv_multipart()
                try:
                    self._hear(sender, *message_of(frames))
                except Malformed:
                    continue
        self._socket.close()
        self._bell.close()

    def _hear(self, sender: bytes, message: Message, tables: list[pa.Table]) -> None:
        match message:
            case Hello():
                member = Member(sender, message.address, message.pid, message.epoch, time.monotonic())
                with self._joined:
                    self.members[message.worker, message.attempt] = member
                    self._joined.notify_all()
            case Refused():
                with self._joined:
                    self._refused[message.worker, message.attempt] = TidelogError(diagnostics_of(message))
                    self._joined.notify_all()
            case Beat():
                if (beating := self.members.get((message.worker, message.attempt))) is not None:
                    beating.heard = time.monotonic()
                    self._observe(message)
                self._socket.send_multipart([sender, *frames_of(message)])
            case Done():
                self._settle(message.command, lambda answer: answer.set_result((message.result, tables)))
            case Failed():
                problem = TidelogError(diagnostics_of(message)) if message.diagnostics else None
                unknown = InternalError(f"the worker failed: {message.internal}")
                self._settle(message.command, lambda answer: answer.set_exception(problem or unknown))

    def _observe(self, beat: Beat) -> None:
        """Tell whoever watches how far the worker has come."""
        if not self._pending or not beat.stratum:
            return
        if beat.stratum != self._stratum:
            self._stratum = beat.stratum
            number, total, relations = beat.stratum
            self._observer.stratum(number, total, tuple(relations))
        self._observer.progress(beat.iteration, beat.tuples)

    def _settle(self, command: int, settle: Callable[[Future[Answer]], None]) -> None:
        if (answer := self._pending.get(command)) is not None and not answer.done():
            settle(answer)
