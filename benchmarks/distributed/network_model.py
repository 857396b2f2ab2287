"""A network that takes time: peers of `exchange/` as a simulation of events, whose clock is that of a model.

What is always true: the same peers, costs and facts make the same run; each piece of work is really done, over real
stores, and only the time that it takes is the model's. A peer does one thing at a time. What it sends leaves one after
the other through its own line, and arrives a latency later; taking it costs the receiver time, too.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tidelog.exchange.transport import Peer, Traffic, bytes_of
from tidelog.wire.messages import Message


@dataclass(frozen=True)
class Costs:
    """In seconds. Those of the network are of 10 Gb/s between hosts, with the round trip and the processor's share that
    `design.md` has measured; those of work are fitted to runs of the same program here (`simulate.py --calibrate`)."""

    latency: float = 25e-6
    per_byte_on_line: float = 1 / 1.25e9
    per_message: float = 10e-6
    per_byte: float = 1e-9
    per_piece: float = 200e-6
    per_binding: float = 130e-9


class SimulatedLine:
    """A `transport.Transport`."""

    def __init__(self, me: int, size: int) -> None:
        self.me, self.size = me, size
        self.sent = Traffic.none(size)
        self.inbox: list[tuple[int, Message]] = []
        self.out: list[tuple[int, Message]] = []

    def send(self, to: int, message: Message) -> None:
        self.sent.note(to, message)
        self.out.append((to, message))

    def receive(self) -> list[tuple[int, Message]]:
        come, self.inbox = self.inbox, []
        return come


class NetworkModel:
    """See the module's docstring. `effort` says how many bindings a peer has made so far."""

    def __init__(self, size: int, costs: Costs, effort: Callable[[int], int]) -> None:
        self.lines = [SimulatedLine(me, size) for me in range(size)]
        self.costs, self._effort = costs, effort
        self.now = 0.0
        self.busy = np.zeros(size)
        self.pieces = 0
        self.kinds: Counter[type[Message]] = Counter()
        self._order = 0
        self._events: list[tuple[float, int, int, int, Message | None]] = []
        self._free = np.zeros(size)  # when the line of a peer is free again

    def run(self, peers: Sequence[Peer]) -> float:
        """Until all are done; the seconds that it takes."""
        efforts = [self._effort(me) for me in range(len(peers))]
        awake = [True] * len(peers)
        for me in range(len(peers)):
            self._at(0.0, me)
        while self._events:
            self.now, _, me, sender, message = heapq.heappop(self._events)
            if message is not None:
                self.lines[me].inbox.append((sender, message))
                if not awake[me]:
                    awake[me] = True
                    self._at(self.now, me)
                continue
            if peers[me].done:
                awake[me] = False
                continue
            taken = sum(map(self._taking, self.lines[me].inbox))
            acted = peers[me].act()
            self.pieces += 1
            work = self._effort(me) - efforts[me]
            efforts[me] += work
            took = taken + self.costs.per_piece * acted + self.costs.per_binding * work
            self.busy[me] += took
            self._post(me, self.now + took)
            if acted or self.lines[me].inbox:
                self._at(self.now + took, me)
            else:
                awake[me] = False
        assert all(peer.done for peer in peers), "somebody waits for ever"
        return self.now

    def _taking(self, come: tuple[int, Message]) -> float:
        return self.costs.per_message + self.costs.per_byte * bytes_of(come[1])

    def _post(self, me: int, time: float) -> None:
        out, self.lines[me].out = self.lines[me].out, []
        for to, message in out:
            self.kinds[type(message)] += 1
            size = bytes_of(message)
            self._free[me] = max(self._free[me], time) + self.costs.per_message + size * self.costs.per_byte_on_line
            self._at(self._free[me] + self.costs.latency, to, me, message)

    def _at(self, time: float, me: int, sender: int = -1, message: Message | None = None) -> None:
        self._order += 1
        heapq.heappush(self._events, (time, self._order, me, sender, message))
