"""The pairs of an equivalence as rows that exist only while someone looks at them.

`PairRows` holds elements, the class of each, and (for a change) the class that each had on the other side; its rows are
the pairs of elements that share a class here and did not share one there. To its readers it is an array of int64[n, 2]:
it has a length, can be sliced, and becomes an array where one is asked for. What is always true: rows come in one
order, so that slices fit together, and stay as they are whatever becomes of the relation. Cost: three words per element
of a class that is involved, and a sort of these when rows are wanted; the number of rows is known without them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from tidelog import room
from tidelog.store.distinct import distinct, number_rows
from tidelog.store.memory import Array

NOWHERE = -1
BATCH = 1 << 20


class PairRows:
    """See the module's docstring. `elsewhere` is NOWHERE for an element that was in no class on the other side."""

    dtype = np.dtype(np.int64)
    ndim = 2

    def __init__(self, elements: Array, classes: Array, elsewhere: Array | None = None) -> None:
        there = np.full(len(elements), NOWHERE, np.int64) if elsewhere is None else elsewhere
        self._columns = elements, classes, there
        parts = number_rows(np.column_stack((classes, there))[there != NOWHERE])
        self._count = sum(int((np.bincount(found) ** 2).sum()) * sign for found, sign in (
            (distinct(classes)[1], 1), (parts, -1)
        ))  # fmt: skip

    def __len__(self) -> int:
        return self._count

    @cached_property
    def _layout(self) -> _Layout:
        return _Layout(*self._columns)

    @property
    def columns(self) -> tuple[Array, Array, Array]:
        """Elements, the class of each, and the class that it had on the other side: what it was made from."""
        return self._columns

    @property
    def shape(self) -> tuple[int, int]:
        return len(self), 2

    @property
    def nbytes(self) -> int:
        """Of what it holds."""
        return 3 * self._columns[0].nbytes

    def part(self, start: int, stop: int) -> Array:
        """The rows between two places."""
        start, stop = max(start, 0), min(stop, len(self))
        if start >= stop:
            return np.empty((0, 2), np.int64)
        room.ensure(8 * 8 * (stop - start))
        return self._layout.part(start, stop)

    def batches(self, size: int = BATCH) -> Iterator[Array]:
        """All rows, some at a time; at least one batch."""
        for start in range(0, max(len(self), 1), size):
            yield self.part(start, start + size)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice) and key.step is None:
            start, stop, _ = key.indices(len(self))
            return self.part(start, stop)
        return np.asarray(self)[key]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self.part(0, len(self)).astype(dtype or np.int64, copy=False)

    def astype(self, dtype: Any, copy: bool = True) -> Any:
        return self.__array__(dtype)


class _Layout:
    """The order of rows: the elements by class, and within a class by what they had elsewhere."""

    def __init__(self, elements: Array, classes: Array, there: Array) -> None:
        order = np.lexsort((there, classes))
        self.elements, classes, there = elements[order], classes[order], there[order]
        starts, lengths = _runs(classes)
        parts, sizes = _runs(classes, there)
        self.starts, self.lengths = (np.repeat(found, lengths) for found in (starts, lengths))
        self.behind = np.repeat(parts + sizes, sizes) - self.starts  # where the part ends, within the class
        self.ends = np.cumsum(self.lengths - np.where(there == NOWHERE, 0, np.repeat(sizes, sizes)))

    def part(self, start: int, stop: int) -> Array:
        """The rows between two places. The partners of an element are those of its class, from the end of its own part
        around to its beginning."""
        first, last = np.searchsorted(self.ends, (start, stop - 1), "right")
        left = np.arange(first, last + 1)
        before = np.concatenate(([0], self.ends))[first : last + 1]
        taken = np.minimum(self.ends[left], stop) - np.maximum(before, start)
        left, before = np.repeat(left, taken), np.repeat(before, taken)
        within = np.arange(start, stop) - before
        right = self.starts[left] + (self.behind[left] + within) % self.lengths[left]
        return np.column_stack((self.elements[left], self.elements[right]))


def pair_changes(before: tuple[Array, Array], after: tuple[Array, Array]) -> tuple[PairRows, PairRows]:
    """The pairs that came and those that went, between elements and their classes before and after. Classes that are
    on both sides the same may be left out."""
    return PairRows(*after, _class_of(after[0], *before)), PairRows(*before, _class_of(before[0], *after))


def _class_of(wanted: Array, elements: Array, classes: Array) -> Array:
    """The class of each element that is wanted, or NOWHERE."""
    if not len(elements):
        return np.full(len(wanted), NOWHERE, np.int64)
    order = np.argsort(elements)
    places = order[np.minimum(np.searchsorted(elements, wanted, sorter=order), len(order) - 1)]
    return np.where(elements[places] == wanted, classes[places], NOWHERE)


def _runs(*columns: Array) -> tuple[Array, Array]:
    """Where the stretches of equal rows begin, and how long they are."""
    n = len(columns[0])
    if not n:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    changes = np.any([column[1:] != column[:-1] for column in columns], axis=0)
    starts = np.concatenate(([0], np.flatnonzero(changes) + 1))
    return starts, np.diff(np.concatenate((starts, [n])))
