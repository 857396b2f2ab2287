"""How much may be on its way from one peer to another: a window of bytes for each hop of the plans.

A message that carries data says which hop of its plan it makes (`hop`); markers, acknowledgements and whatever else has
no hop are never held back. A message leaves while the window of its hop has room, and a single one always does; the
others wait here, in order, until the receiver has worked off what came before and says so.

What is always true: at most `most` bytes of a hop, or one message, are on their way in a pair, so a receiver that is
slow has a bounded inbox. Nothing waits for ever: a hop's window is emptied by who works off that hop, for which nothing
but windows of later hops is needed, and what makes no further hop needs none. Hence later hops are worked off first.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator
from typing import Any, TypeAlias

MOST = 1 << 24
"""Bytes of one hop that may be on their way in a pair."""

Frames: TypeAlias = list[Any]


class Window:
    """What one peer may send to another."""

    def __init__(self, most: int = MOST) -> None:
        self.most = most
        self.held = 0  # bytes that wait here
        self._on_way: defaultdict[int, int] = defaultdict(int)
        self._waiting: defaultdict[int, deque[tuple[int, Frames]]] = defaultdict(deque)

    def leaves(self, hop: int, size: int, frames: Frames) -> bool:
        """Whether a message may leave now; if not, it waits here."""
        if not self._waiting[hop] and self._fits(hop, size):
            self._on_way[hop] += size
            return True
        self._waiting[hop].append((size, frames))
        self.held += size
        return False

    def credit(self, hop: int, size: int) -> Iterator[Frames]:
        """So many bytes of a hop were worked off: what may leave now."""
        self._on_way[hop] -= size
        waiting = self._waiting[hop]
        while waiting and self._fits(hop, waiting[0][0]):
            size, frames = waiting.popleft()
            self._on_way[hop] += size
            self.held -= size
            yield frames

    def _fits(self, hop: int, size: int) -> bool:
        on_way = self._on_way[hop]
        return not on_way or on_way + size <= self.most


class Debts:
    """What a peer has taken from others and not yet given credit for: (sender, hop) -> bytes."""

    def __init__(self, most: int = MOST) -> None:
        self._enough = most // 4
        self._taken: defaultdict[tuple[int, int], int] = defaultdict(int)

    def add(self, sender: int, hop: int, size: int) -> None:
        self._taken[sender, hop] += size

    def due(self, idle: bool) -> list[tuple[int, int, int]]:
        """What is to be told now, (sender, hop, bytes): what is much, and if there is nothing to do, everything."""
        due = [(*who, size) for who, size in self._taken.items() if idle or size >= self._enough]
        for sender, hop, _ in due:
            del self._taken[sender, hop]
        return due
