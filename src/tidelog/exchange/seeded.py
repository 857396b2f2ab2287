"""All peers in one process: a seed decides who acts next, and which message arrives next.

What is always true: the same seed and the same peers make the same run. Peers and pairs of them have speeds, some a
thirtieth of others, so that one is far behind while its peers go on; messages overtake each other between pairs and,
if `reorder`, within one. Cost: a step is some microseconds and the piece of work that it does.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence

from tidelog.errors import InternalError
from tidelog.exchange.transport import Peer, Traffic
from tidelog.wire.messages import Message

SPEEDS = (1.0, 0.3, 0.03)


class SeededTransport:
    """What one peer has of it."""

    def __init__(self, seeded: Seeded, me: int) -> None:
        self.me, self.size = me, seeded.size
        self.sent = Traffic.none(seeded.size)
        self.inbox: list[tuple[int, Message]] = []
        self._seeded = seeded

    def send(self, to: int, message: Message) -> None:
        assert 0 <= to < self.size, f"there is no peer {to}"
        self.sent.note(to, message)
        self._seeded.channels[self.me, to].append(message)

    def receive(self) -> list[tuple[int, Message]]:
        come, self.inbox = self.inbox, []
        return come


class Seeded:
    """`size` transports. `reorder` says whether messages of one pair may overtake each other: None leaves that to the
    seed."""

    def __init__(self, size: int, seed: int, reorder: bool | None = None) -> None:
        self.size, self.random = size, random.Random(seed)
        drawn = self.random.random() < 0.5
        self.reorder = drawn if reorder is None else reorder
        self.channels: defaultdict[tuple[int, int], list[Message]] = defaultdict(list)
        self.transports = [SeededTransport(self, me) for me in range(size)]
        self.steps = 0  # taken so far
        self._speeds: defaultdict[int | tuple[int, int], float] = defaultdict(lambda: self.random.choice(SPEEDS))

    @property
    def under_way(self) -> int:
        """The messages that have been sent and not yet taken."""
        waiting = sum(len(transport.inbox) for transport in self.transports)
        return waiting + sum(map(len, self.channels.values()))

    def run(self, peers: Sequence[Peer], most_steps: int | None = None) -> bool:
        """Drives the peers until all are done: then it is true, and false if so many steps have not sufficed. Raises if
        nobody can do anything and some are not done."""
        stop = None if most_steps is None else self.steps + most_steps
        awake = dict.fromkeys(range(self.size))
        while not all(peer.done for peer in peers):
            if self.steps == stop:
                return False
            self.steps += 1
            ready: list[int | tuple[int, int]] = [*awake, *(pair for pair, sent in self.channels.items() if sent)]
            if not ready:
                stuck = [me for me, peer in enumerate(peers) if not peer.done]
                raise InternalError(f"nothing is under way, and {stuck} of {self.size} peers wait for a message")
            chosen = self.random.choices(ready, [self._speeds[each] for each in ready])[0]
            if isinstance(chosen, tuple):
                self._deliver(*chosen)
                awake[chosen[1]] = None
            elif peers[chosen].done or not peers[chosen].act():
                del awake[chosen]
        return True

    def drop(self) -> None:
        """Whatever is under way is lost, as if all peers had been killed. Who starts others in their place runs them on
        the same transports; what was sent stays counted."""
        self.channels.clear()
        for transport in self.transports:
            transport.inbox = []

    def _deliver(self, sender: int, to: int) -> None:
        channel = self.channels[sender, to]
        message = channel.pop(self.random.randrange(len(channel)) if self.reorder else 0)
        self.transports[to].inbox.append((sender, message))
