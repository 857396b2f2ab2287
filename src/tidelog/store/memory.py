"""Memory for rows and tables: numpy arrays, and growable ones that never move.

`zeros` gives a zeroed table on huge pages when large. `Growable` holds rows: small ones are copied when they grow;
large ones live in reserved address space that the system fills page by page, so that growing costs nothing and a
view taken earlier stays valid. What is always true: memory is owned by the array; it goes when no view is left. What
is recycled then waits for the next of its kind, until `release_spare`: fresh pages cost ten times as much as known
ones, on a virtual machine seconds per gigabyte.
"""

from __future__ import annotations

import contextlib
import mmap
import sys
import weakref
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tidelog import room

Array = NDArray[np.int64]
Words = NDArray[np.signedinteger[Any]]
"""Values as relations have them: of 32 bits until one of them needs 64."""
HUGE = room.LARGE
STEP = 1 << 26
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


_spare_tables: dict[int, list[mmap.mmap]] = {}  # by their number of bytes
_spare_areas: list[tuple[int, mmap.mmap]] = []  # of growable arrays, with the bytes in use


def recycle(table: Array) -> None:
    """Keep the memory of a table, once no view of it is left, for the next of its size."""
    if (area := _area_of(table)) is not None:
        weakref.finalize(_root(table), _spare_tables.setdefault(len(area), []).append, area).atexit = False


def release_spare() -> None:
    """Give recycled memory back to the system."""
    _spare_tables.clear()
    _spare_areas.clear()


room.relief.insert(1, release_spare)


def _root(array: Any) -> Any:
    """The array that all views of a piece of memory hold."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def _area_of(array: Any) -> mmap.mmap | None:
    """The mapped memory of an array; small ones have none."""
    base = _root(array).base
    return base.obj if isinstance(base, memoryview) and isinstance(base.obj, mmap.mmap) else None


def zeros(words: int) -> Array:
    """A zeroed table of int64 words."""
    if words * 8 >= HUGE:
        with contextlib.suppress(KeyError, IndexError):
            table = np.frombuffer(_spare_tables[words * 8].pop(), np.int64)
            table.fill(0)
            return table
        room.ensure(words * 8)
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
        self._reserved = self._promised = capacity
        self.data: Any = np.zeros((capacity, stride), self.dtype)

    @property
    def dtype(self) -> type[np.int64] | type[np.int32]:
        return np.int64 if self.wide else np.int32

    def grow(self, used: int, need: int) -> None:
        """Make room for `need` rows, of which the first `used` are kept: for twice as many as there were, but in
        reserved space little by little, because only what is used is taken there. If that is too much, nothing has
        changed."""
        if need <= self.capacity:
            return
        width = self._width
        if need > self._promised:
            self._move(used, max(need, 2 * self.capacity))
        capacity = min(self._promised, max(need, self.capacity + STEP // width))
        if (capacity - used) * width >= HUGE and not self.sparse:
            room.ensure((capacity - used) * width)
        self.capacity = capacity

    def _move(self, used: int, capacity: int) -> None:
        """Find a place for so many rows, and bring those in use there if it is another one."""
        width = self._width
        area = self._spare_area(capacity * width)
        if capacity > self._reserved or area is not None:
            if area is None and capacity * width >= HUGE:
                room.ensure(used * width)
                area = _mapped(max(RESERVE, capacity * width * 2), huge=not self.sparse)
            if area is None:
                if capacity * width >= HUGE:
                    room.ensure(capacity * width)
                data: Any = np.zeros((capacity, self.stride), self.dtype)
                self._reserved = capacity
            else:
                self._reserved = len(area) // width
                data = area[: self._reserved * width].view(self.dtype).reshape(self._reserved, -1)[:, : self.stride]
            data[:used] = self.data[:used]
            self.data = data
        self._promised = min(capacity, self._reserved)

    @property
    def _width(self) -> int:
        """Bytes of a row."""
        return max(self.stride, 1) * (8 if self.wide else 4)

    def _spare_area(self, nbytes: int) -> NDArray[np.uint8] | None:
        """Recycled memory, if there is some of which so many bytes would use a good part."""
        if not _spare_areas or self.sparse or nbytes < HUGE:
            return None
        for entry in _spare_areas[:]:
            used, area = entry
            if nbytes <= 2 * used <= 16 * nbytes and nbytes <= len(area):
                with contextlib.suppress(ValueError):  # another thread was faster
                    _spare_areas.remove(entry)
                    return np.frombuffer(area, np.uint8)
        return None

    def recycle(self) -> None:
        """Keep the memory, once no view of it is left, for another one."""
        if not self.sparse and (area := _area_of(self.data)) is not None:
            entry = self.capacity * self._width, area
            weakref.finalize(_root(self.data), _spare_areas.append, entry).atexit = False

    def widen(self, used: int) -> None:
        """Turn 32-bit words into 64-bit ones."""
        wider = Growable(self.stride, True, 0, self.sparse)
        wider.grow(0, max(self.capacity, 1))
        wider.data[:used] = self.data[:used]
        self.__dict__ = wider.__dict__
