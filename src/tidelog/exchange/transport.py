"""How the peers of one evaluation reach each other, apart from what they say.

A message is a frozen dataclass whose fields are numbers, truth values, texts, tuples of these, and numpy arrays: a
small header and plain buffers on the wire. What is always true of a transport: each message arrives exactly once, if
the attempt goes on to its end; in which order they arrive, nobody may rely on. A peer may send to itself.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from tidelog.plain import dataclass, fields
from tidelog.wire.messages import Message

WORD = 8
"""Bytes that a number takes on the wire."""


@dataclass
class Traffic:
    """What one peer has sent: messages and bytes, for each destination."""

    messages: np.ndarray[Any, np.dtype[np.int64]]
    bytes: np.ndarray[Any, np.dtype[np.int64]]

    @staticmethod
    def none(size: int) -> Traffic:
        return Traffic(np.zeros(size, np.int64), np.zeros(size, np.int64))

    def note(self, to: int, message: Message) -> None:
        self.messages[to] += 1
        self.bytes[to] += bytes_of(message)


def bytes_of(value: Any) -> int:
    """What a message takes on the wire, or a field of it; about, as far as its header goes."""
    if isinstance(value, np.ndarray):
        return int(value.nbytes)
    if isinstance(value, tuple):
        return sum(map(bytes_of, value))
    if isinstance(value, str):
        return len(value.encode())
    if isinstance(value, Message):
        return sum(bytes_of(getattr(value, field.name)) for field in fields(value))
    return WORD


class Transport(Protocol):
    """The end of a transport that one peer has: `me` is its number, `size` is how many there are."""

    me: int
    size: int
    sent: Traffic

    def send(self, to: int, message: Message) -> None:
        """Takes the message and returns at once. The arrays in it must not change any more."""

    def receive(self) -> list[tuple[int, Message]]:
        """All that has come since it was last asked, with the senders, in any order; empty if nothing has."""
        ...


class WaitingTransport(Transport, Protocol):
    """A transport whose peer can wait for the others."""

    def wait(self, timeout: float | None = None) -> bool:
        """Whether something has come that `receive` would give, now or within so many seconds. Raises if the peers are
        lost."""
        ...

    def look(self) -> None:
        """Raise `PeerFailed` if it is known already that what all do was given up. Nothing is received."""


class PeerFailed(Exception):
    """Another peer could not do its part: it tells why to whoever asked, this one has nothing to tell."""


class Peer(Protocol):
    """What is driven by whoever has its transport: a worker's share of one evaluation."""

    done: bool

    def act(self) -> bool:
        """Does one piece of work: takes what has come, computes, sends. False if there was nothing to do, and will be
        nothing before a message comes."""
        ...
