"""Workers, as who asks them sees them, and a worker, as what runs it does.

All workers of a program are asked at once, each its own question, and all answer; while they work on their answers they
speak with each other through their transports. So between two questions nothing is under way, and whoever asks decides
for all. Where they run, as children of this process or in the tasks of Spark, makes no difference: `workforce.py` asks
them, `serving.py` is what each of them runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from tidelog.exchange.transport import Peer, WaitingTransport
from tidelog.plain import dataclass
from tidelog.wire.keys import Keys
from tidelog.wire.messages import Message


class LiveTransport(WaitingTransport, Protocol):
    """A transport between processes."""

    def crowded(self, to: int) -> bool:
        """Whether messages for a peer wait here because it has not worked off earlier ones: better make no more."""
        ...


class Worker(Protocol):
    """One of the workers, in its own process. A `TidelogError` that it raises is told to whoever asked; it is then as
    if the question had not been asked, on all workers, when that is asked for by another question."""

    def answer(self, question: Message) -> Message: ...


Factory = Callable[[Any, LiveTransport], Worker]
"""Makes a worker of an order, before its peers can be spoken to. It is a function of a module, found by its name."""


class Workers(Protocol):
    """All the workers of a program."""

    size: int

    def ask(self, questions: Sequence[Message]) -> list[Message]:
        """The answers of all workers, each to its question. Raises what any of them raises, with all that was found,
        and `WorkerLost` if one is gone: then all are, and others have to be made."""
        ...

    def close(self) -> None: ...


@dataclass(frozen=True)
class Contract:
    """What all workers of an attempt are told when they are started: whom to call, and what to become. `kinds` are all
    the messages of questions, answers and between peers."""

    rendezvous: str
    keys: Keys
    attempt: int
    size: int
    factory: Factory
    order: Any
    kinds: tuple[type[Message], ...]
    trusted: bool = False
    patience: float = float("inf")
    """Seconds without a sign of life of who asks after which a worker ends itself."""


def drive(peer: Peer, transport: LiveTransport) -> None:
    """Let a peer act until it is done."""
    while not peer.done:
        if not peer.act():
            transport.wait()
