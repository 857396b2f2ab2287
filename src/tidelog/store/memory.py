"""Memory for rows and tables: numpy arrays, and growable ones that never move.

`zeros` gives a zeroed table on huge pages when large; outgrown ones are recycled.
`Growable` holds rows: small ones are copied when they grow;
large ones live in reserved address space that the system fills page by page, so that growing costs nothing and a
view taken earlier stays valid. What is always true: memory is owned by the array; it goes when no view is left.
"""

from __future__ import annotations

import contextlib
import mmap
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.int64]
HUGE = 1 << 22
RESERVE = 1 << 34  # address space, not memory
_MAP = getattr(mmap, "MAP_PRIVATE", 2) | getattr(mmap, "MAP_ANONYMOUS", 0x20) | getattr(mmap, "MAP_NORESERVE", 0x4000)


def address(array: NDArray[np.generic]) -> int:
    """Where an array's data begins."""
    return int(array.__array_interface__["data"][0])


def _mapped(nbytes: int, huge: bool = True) -> NDArray[np.uint8] | None:
    """Zeroed address space that costs nothing until touched, or None where the system has no such thing."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        area = mmap.mmap(-1, nbytes, flags=_MAP)
    except (OSError, ValueError, OverflowError):
        return None
    if huge:
        with contextlib.suppress(AttributeError, OSError, ValueError):
            area.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(area, np.uint8)


_spare: dict[int, list[Array]] = {}  # large tables that were outgrown, by their number of words


def recycle(table: Array) -> None:
    """Keep a table that nobody will use again: the next of its size is ten times cheaper than fresh pages."""
    if table.nbytes >= HUGE:
        _spare.setdefault(len(table), []).append(table)


def release_spare() -> None:
    """Give recycled tables back to the system."""
    _spare.clear()


def zeros(words: int) -> Array:
    """A zeroed table of int64 words."""
    if words * 8 >= HUGE:
        if spare := _spare.get(words):
            table = spare.pop()
            table.fill(0)
            return table
        area = _mapped(words * 8)
        if area is not None:
            return area.view(np.int64)
    return np.zeros(words, np.int64)


class Growable:
    """Rows of a fixed number of words, int32 or int64, with room for more."""

    def __init__(self, stride: int, wide: bool, capacity: int, sparse: bool = False) -> None:
        self.stride, self.wide = stride, wide
        self.sparse = sparse  # mostly zeros: small pages, so that a word costs no more than one of them
        self.capacity = capacity
        self._reserved = capacity
        self.data: Any = np.zeros((capacity, stride), self.dtype)

    @property
    def dtype(self) -> type[np.int64] | type[np.int32]:
        return np.int64 if self.wide else np.int32

    def grow(self, used: int, need: int) -> None:
        """Make room for `need` rows, of which the first `used` are kept."""
        if need <= self.capacity:
            return
        width = max(self.stride, 1) * (8 if self.wide else 4)
        capacity = max(need, 2 * self.capacity)
        if capacity > self._reserved:
            area = None
            if capacity * width >= HUGE:
                reserved = max(RESERVE, capacity * width * 2)
                area = _mapped(reserved, huge=not self.sparse)
            if area is None:
                data: Any = np.zeros((capacity, self.stride), self.dtype)
                self._reserved = capacity
            else:
                self._reserved = len(area) // width
                data = area[: self._reserved * width].view(self.dtype).reshape(self._reserved, -1)[:, : self.stride]
            data[:used] = self.data[:used]
            self.data = data
        self.capacity = min(capacity, self._reserved)

    def widen(self, used: int) -> None:
        """Turn 32-bit words into 64-bit ones."""
        old, capacity = self.data, self.capacity
        self.wide = True
        self.capacity = self._reserved = 0
        self.data = np.empty((0, self.stride), np.int64)
        self.grow(0, max(capacity, 1))
        self.data[:used] = old[:used]
