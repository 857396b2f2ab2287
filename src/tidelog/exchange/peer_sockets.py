"""A transport over sockets: every peer listens at addresses of its own, and all are connected to all.

Peers of one machine speak through sockets of that machine, others through the network, behind the keys of the session
unless the network is trusted. A message is an *envelope* of fixed size, the message's own header, and its arrays, which
are neither copied nor looked at. Between two questions of the driver nothing is under way that counts: an envelope says
the *attempt* and the *question* in which it was sent; what is of another attempt or of a question that has ended is
dropped, and what is of the next one waits until it is asked here, too.

What is always true: messages of a pair arrive in order, none is lost while both live and their connection holds, and if
it does not, whoever waits gets `PeerGone`. A peer that fails tells all others: they get `PeerFailed`. Sending never
blocks: what the windows (`credits.py`) hold back waits here; `crowded` says to whom it is better to send nothing more.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple

import zmq

from tidelog.errors import error
from tidelog.exchange.credits import Debts, Frames, Window
from tidelog.exchange.transport import PeerFailed, Traffic
from tidelog.plain import dataclass
from tidelog.wire.messages import Message, Messages
from tidelog.wire.sockets import Socket, Sockets, is_near, received

LOOK = 1.0
"""Seconds after which somebody who waits looks whether all connections hold."""
PATIENCE = 30.0
"""Seconds that all peers may take to hear of each other."""
_ENVELOPE = struct.Struct("!IIIBBQ")


class PeerGone(Exception):
    """The connection to a peer broke: what was on its way may be lost."""


@dataclass(frozen=True)
class PeerAddress:
    """Where a peer listens: to those of other machines, and to those of its own if there is such a socket."""

    far: str
    near: str = ""


class Sort(IntEnum):
    """What is in an envelope: a first sign of life, a message, room for more, or the end of the question."""

    MET = 0
    MESSAGE = 1
    CREDIT = 2
    ABORT = 3


class Envelope(NamedTuple):
    """Who sends what in which question. `hop` and `size` are those of data, 0 and 0 of anything else."""

    attempt: int
    question: int
    sender: int
    sort: int
    hop: int = 0
    size: int = 0


class SocketTransport:
    """See the module's docstring, and `transport.Transport` for what its methods promise."""

    def __init__(
        self, sockets: Sockets, messages: Messages, me: int, size: int, attempt: int, host: str, trusted: bool = False
    ) -> None:
        self.me, self.size, self.sent = me, size, Traffic.none(size)
        self.attempt, self.question = attempt, 0
        self._sockets, self._messages, self._trusted = sockets, messages, trusted
        self._inboxes: list[Socket] = []
        self._poller = zmq.Poller()
        far = self._listen(*sockets.bound(zmq.PULL, host, trusted))
        near = sockets.bound_near(zmq.PULL)
        self.address = PeerAddress(far, self._listen(*near) if near is not None else "")
        self._lines: dict[int, Socket] = {}
        self._watched: list[tuple[int, Socket]] = []
        self._met: set[int] = set()
        self._early: list[tuple[Envelope, Frames]] = []
        self._begin()

    def _listen(self, inbox: Socket, address: str) -> str:
        self._inboxes.append(inbox)
        self._poller.register(inbox, zmq.POLLIN)
        return address

    # ---- its beginning and its end

    def connect(self, addresses: Sequence[PeerAddress], patience: float = PATIENCE) -> None:
        """Connect to all others; an error if not all of them are heard of in time."""
        for peer, address in enumerate(addresses):
            if peer != self.me:
                near = is_near(address.near)
                line = self._sockets.connected(
                    zmq.PUSH, address.near if near else address.far, trusted=near or self._trusted
                )
                self._lines[peer] = line
                self._watched.append((peer, line.get_monitor_socket(zmq.EVENT_DISCONNECTED)))
        self._tell_all(Sort.MET)
        deadline = time.monotonic() + patience
        while missing := self._lines.keys() - self._met:
            if time.monotonic() > deadline:
                names = ", ".join(f"{peer} ({addresses[peer].far})" for peer in sorted(missing))
                raise error(
                    "TL1270", f"worker {self.me} does not hear of the workers {names}",
                    help="the machines of the workers must reach each other: look at firewalls and network policies, "
                    "or use executor='dataframe', which exchanges data through Spark alone",
                )  # fmt: skip
            self._poller.poll(100)
            self._take_in()

    def close(self) -> None:
        for peer, _ in self._watched:
            self._lines[peer].disable_monitor()
        for _, monitor in self._watched:
            monitor.close()
        for each in (*self._lines.values(), *self._inboxes):
            each.close()

    # ---- questions

    def begin(self) -> None:
        """The next question: what was sent in the last one counts no longer."""
        self.question += 1
        self._begin()
        early, self._early = self._early, []
        for envelope, frames in early:
            self._sort(envelope, frames)

    def _begin(self) -> None:
        self._failed = False
        self._windows = [Window() for _ in range(self.size)]
        self._debts = Debts()
        self._come: list[tuple[int, int, int, Message]] = []  # minus the hop after which it is to be worked off
        self._taken: list[tuple[int, int, int]] = []  # sender, hop, size of what was handed out last

    def abort(self) -> None:
        """This peer cannot do its part: let the others stop."""
        self._tell_all(Sort.ABORT)

    # ---- messages

    def send(self, to: int, message: Message) -> None:
        hop = getattr(message, "hop", None)
        self.sent.messages[to] += 1
        if to == self.me:
            self._come.append((self.me, _order(hop), 0, message))
            return
        frames = self._messages.frames(message)
        size = sum(memoryview(frame).nbytes for frame in frames)
        self.sent.bytes[to] += size
        envelope = self._envelope(Sort.MESSAGE) if hop is None else self._envelope(Sort.MESSAGE, hop + 1, size)
        frames.insert(0, envelope)
        if hop is None or self._windows[to].leaves(hop + 1, size, frames):
            self._lines[to].send_multipart(frames, copy=False)

    def receive(self) -> list[tuple[int, Message]]:
        self._take_in()
        if self._failed:
            raise PeerFailed
        for taken in self._taken:
            self._debts.add(*taken)
        self._give_credit(idle=not self._come)
        come, self._come = self._come, []
        come.sort(key=lambda each: each[1])
        self._taken = [(sender, -order, size) for sender, order, size, _ in come if size]
        return [(sender, message) for sender, _, _, message in come]

    def wait(self, timeout: float | None = None) -> bool:
        """Whether something has come that `receive` would give, now or within so many seconds."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            self._take_in()
            if self._come or self._failed:
                return True
            for taken in self._taken:
                self._debts.add(*taken)
            self._taken = []
            self._give_credit(idle=True)
            left = LOOK if deadline is None else min(LOOK, deadline - time.monotonic())
            if left < 0:
                return False
            if not self._poller.poll(int(1000 * left) + 1):
                self._look()

    def look(self) -> None:
        self._take_in()
        if self._failed:
            raise PeerFailed

    def crowded(self, to: int) -> bool:
        """Whether messages for a peer wait here because it has not worked off earlier ones."""
        return self._windows[to].held > 0

    # ---- what travels

    def _envelope(self, sort: Sort, hop: int = 0, size: int = 0) -> bytes:
        return _ENVELOPE.pack(self.attempt, self.question, self.me, sort, hop, size)

    def _tell_all(self, sort: Sort) -> None:
        for line in self._lines.values():
            line.send(self._envelope(sort))

    def _give_credit(self, idle: bool) -> None:
        for sender, hop, size in self._debts.due(idle):
            self._lines[sender].send(self._envelope(Sort.CREDIT, hop, size))

    def _take_in(self) -> None:
        """All that has come over the sockets."""
        while ready := self._poller.poll(0):
            for inbox, _ in ready:
                first, *frames = received(inbox, 2)
                if len(first) == _ENVELOPE.size:
                    self._sort(Envelope(*_ENVELOPE.unpack(first)), frames)

    def _sort(self, envelope: Envelope, frames: Frames) -> None:
        attempt, question, sender, sort, hop, size = envelope
        if attempt != self.attempt or (question < self.question and sort != Sort.MET):
            return
        if sort == Sort.MET:
            self._met.add(sender)
        elif question > self.question:
            self._early.append((envelope, frames))
        elif sort == Sort.ABORT:
            self._failed = True
        elif sort == Sort.CREDIT:
            for held in self._windows[sender].credit(hop, size):
                self._lines[sender].send_multipart(held, copy=False)
        else:
            self._come.append((sender, -hop, size, self._messages.parcel(frames).message))

    def _look(self) -> None:
        for peer, monitor in self._watched:
            if monitor.poll(0):
                raise PeerGone(f"worker {self.me} has lost its connection to worker {peer}")


def abort_from_outside(line: Socket, attempt: int, question: int, size: int) -> None:
    """Let a peer that listens at the end of this line stop working on a question."""
    line.send(_ENVELOPE.pack(attempt, question, size, Sort.ABORT, 0, 0))


def _order(hop: int | None) -> int:
    return 0 if hop is None else -hop - 1
