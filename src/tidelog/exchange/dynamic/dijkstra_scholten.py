"""Termination by acknowledgements, as Dijkstra and Scholten have it.

Each message of work is acknowledged: at once, if the one who takes it is part of the tree; else its sender becomes the
parent, and is told when all that came of the message is done. All workers begin with work, so there is a root beside
the first worker that has started each of them; the phase is over when all have acknowledged that. Acknowledgements
wait until their worker is idle, so that one message has many. Cost: no more messages than those of work.
"""

from __future__ import annotations

from collections import Counter

from tidelog.exchange.dynamic.messages import Acknowledged
from tidelog.exchange.transport import Transport
from tidelog.wire.messages import Message

ROOT = -1


class Tree:
    """A `termination.Detector`."""

    def __init__(self, transport: Transport, phase: int) -> None:
        self._transport, self._phase = transport, phase
        self.ended = False
        self.parent: int | None = ROOT
        self.deficit = 0
        self._owed: Counter[int] = Counter()
        self._unstarted = self.started_by_root() if transport.me == 0 else 0

    def started_by_root(self) -> int:
        return self._transport.size

    def sent(self) -> None:
        self.deficit += 1

    def taken(self, sender: int) -> None:
        if self.parent is None:
            self.parent = sender
        else:
            self._owed[sender] += 1

    def heard(self, sender: int, message: Message) -> None:
        assert isinstance(message, Acknowledged), message
        if message.to_root:
            self._unstarted -= message.count
            self.ended = self._unstarted == 0
        else:
            self.deficit -= message.count

    def idle(self) -> bool:
        told = bool(self._owed)
        for sender, count in self._owed.items():
            self._acknowledge(sender, count)
        self._owed.clear()
        if self.parent is not None and self.can_leave():
            parent, self.parent = self.parent, None
            self._acknowledge(parent, 1)
            told = True
        return told

    def can_leave(self) -> bool:
        return self.deficit == 0

    def _acknowledge(self, to: int, count: int) -> None:
        self._transport.send(max(to, 0), Acknowledged(self._phase, count, to == ROOT))
