"""Where the counts of an update wait: chains of them, one for each bucket, and room to add up those of a bucket; or,
where only the best counts, a heap of them.

What it holds: the update's block and the memory that it points to. What is always true: bucket numbers are iterations;
what a settled bucket had is used again. Cost: 16 bytes for each count that waits; others may have the memory when a
stratum is done.
"""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import addressof

import numpy as np

from tidelog.errors import error
from tidelog.store import codes
from tidelog.store.blocks import Bucket, Offered, UpdateBlock, Waiting, size
from tidelog.store.memory import Growable, address, zeros

BUCKET_WORDS, WAITING_HALVES, OFFERED_WORDS = size(Bucket) // 8, size(Waiting) // 4, size(Offered) // 8
SMALL = 1 << 14
MOST_WAITING = 2**31
"""They name each other by 32-bit numbers."""


class Pending:
    """The counts that wait in the update of one stratum, whose relations are `own`."""

    def __init__(self, own: Sequence[str]) -> None:
        self.own = tuple(own)
        self.block = UpdateBlock()
        self.address = addressof(self.block)
        self._buckets = np.zeros((64, BUCKET_WORDS), np.int64)
        self._sums = np.zeros(64, np.int64)
        self._waiting = Growable(WAITING_HALVES, False, 16)
        self._heap = Growable(OFFERED_WORDS, True, 16)
        self.reset()

    def reset(self) -> None:
        """Forget all counts."""
        if self._waiting.capacity > SMALL:
            self._waiting.recycle()
            self._waiting = Growable(WAITING_HALVES, False, 16)
        if self._heap.capacity > SMALL:
            self._heap.recycle()
            self._heap = Growable(OFFERED_WORDS, True, 16)
        if len(self._sums) > SMALL:
            self._sums = np.zeros(64, np.int64)
        self._buckets[: self.highest + 1] = 0
        self.block.nwaiting, self.block.free, self.block.highest = 1, 0, 0
        self.block.nheap = self.block.npopped = self.block.nsum = 0
        self._publish()

    def _publish(self) -> None:
        block = self.block
        block.waiting, block.waiting_capacity = address(self._waiting.data), self._waiting.capacity
        block.buckets, block.nbucket = address(self._buckets), len(self._buckets)
        block.heap, block.heap_capacity = address(self._heap.data), self._heap.capacity
        block.sums, block.sums_capacity = address(self._sums), len(self._sums)

    @property
    def highest(self) -> int:
        """The greatest bucket that has, or had, something in it."""
        return self.block.highest

    def least(self) -> int:
        """The least bucket for which something waits, behind the one that was settled last; NEVER if there is none."""
        after = self.block.bucket + 1
        filled = np.flatnonzero(self._buckets[after : self.highest + 1, 0])
        return after + int(filled[0]) if len(filled) else codes.NEVER

    @property
    def nbytes(self) -> int:
        waiting = self._waiting.capacity * size(Waiting) + self._heap.capacity * size(Offered)
        return waiting + self._buckets.nbytes + self._sums.nbytes

    def grow(self, status: int) -> None:
        """Make the room that a kernel has asked for."""
        need = self.block.need
        try:
            if status == codes.GROW_WAITING:
                self._grow_waiting(self.block.nwaiting, need)
            elif status == codes.GROW_HEAP:
                self._grow_heap(self.block.nheap, need)
            elif status == codes.GROW_BUCKETS:
                larger = zeros(max(2 * len(self._buckets), need + 1) * BUCKET_WORDS).reshape(-1, BUCKET_WORDS)
                larger[: len(self._buckets)] = self._buckets
                self._buckets = larger
            else:
                self._sums = zeros(max(2 * len(self._sums), 8 * need + 32))
        finally:
            self._publish()

    def _grow_heap(self, used: int, need: int) -> None:
        self._refuse_too_many(used + need)
        self._heap.grow(used, used + need)

    def _grow_waiting(self, used: int, need: int) -> None:
        self._refuse_too_many(used + need)
        self._waiting.grow(used, used + need)

    def _refuse_too_many(self, count: int) -> None:
        if count >= MOST_WAITING:
            raise error(
                "TL0862",
                f"an update has more than {MOST_WAITING:,} derivations to settle",
                help="evaluate anew: strategy='elastic' does so, with a smaller switch earlier",
            )
