"""The state of the counting baseline for one relation: how many derivations each tuple has in each iteration.

What it holds: sorted words (row, iteration) with a number beside each; a small second part takes the words that are new
since the two were merged. Cost: 16 bytes per tuple and iteration in which it has derivations; O(m |I|), as the paper
says. A change costs binary searches, and now and then, when the second part is an eighth of the first, a merge.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tidelog.evaluate.bindings import Words
from tidelog.store import NEVER

Numbers = NDArray[np.int64]
ITERATION_BITS = 32
MERGE_FROM = 1 << 12


def words(rows: Words, iterations: Words | int) -> Words:
    return (rows << ITERATION_BITS) | iterations


def merged(parts: list[tuple[Words, Numbers]]) -> tuple[Words, Numbers]:
    """The sum of several sorted or unsorted parts, sorted, without zeros."""
    keys = np.concatenate([keys for keys, _ in parts])
    numbers = np.concatenate([numbers for _, numbers in parts])
    order = np.argsort(keys, kind="stable")
    keys, numbers = keys[order], numbers[order]
    first = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1]))) if len(keys) else np.empty(0, np.int64)
    if len(first) < len(keys):
        keys, numbers = keys[first], np.add.reduceat(numbers, first, dtype=np.int64)
    kept = numbers != 0
    return (keys, numbers) if kept.all() else (keys[kept], numbers[kept])


class LevelCounts:
    """See the module's docstring."""

    def __init__(self, keys: Words | None = None, numbers: Numbers | None = None) -> None:
        self._main = _Part(keys, numbers)
        self._recent = _Part()
        self._log: list[tuple[Words, Numbers]] = []  # what the running epoch has added

    @property
    def nbytes(self) -> int:
        return sum(part.keys.nbytes + part.numbers.nbytes for part in (self._main, self._recent))

    def get(self, rows: Words, iteration: int) -> Numbers:
        keys = words(rows, iteration)
        return self._main.get(keys) + self._recent.get(keys)

    def add(self, rows: Words, iteration: int, change: Numbers) -> None:
        """Change the numbers of distinct rows in an iteration."""
        self._log.append((words(rows, iteration), change))
        self._add(*self._log[-1])

    def _add(self, keys: Words, change: Numbers) -> None:
        places, known = self._main.places(keys)
        self._main.numbers[places[known]] += change[known]
        if not known.all():
            self._recent = _Part(*merged([(self._recent.keys, self._recent.numbers), (keys[~known], change[~known])]))

    def next_after(self, rows: Words, iteration: int) -> Words:
        """For each row, the next iteration in which it has derivations, or NEVER."""
        return np.minimum(self._main.next_after(rows, iteration), self._recent.next_after(rows, iteration))

    def commit(self) -> None:
        self._log.clear()
        if len(self._recent.keys) > max(MERGE_FROM, len(self._main.keys) // 8):
            self._merge()

    def undo(self) -> None:
        for keys, change in reversed(self._log):
            self._add(keys, -change)
        self._log.clear()

    def renumber(self, alive: NDArray[np.bool_]) -> None:
        """Rows that are not alive, which have no derivations, are taken out of the numbering."""
        self._merge()
        number = np.cumsum(alive) - 1
        rows, iterations = self._main.keys >> ITERATION_BITS, self._main.keys & NEVER
        self._main.keys = words(number[rows], iterations)

    def _merge(self) -> None:
        parts = [(part.keys, part.numbers) for part in (self._main, self._recent)]
        self._main, self._recent = _Part(*merged(parts)), _Part()


class _Part:
    """Sorted words and their numbers."""

    def __init__(self, keys: Words | None = None, numbers: Numbers | None = None) -> None:
        self.keys = np.empty(0, np.int64) if keys is None else keys
        self.numbers = np.empty(0, np.int64) if numbers is None else numbers

    def places(self, keys: Words) -> tuple[Words, NDArray[np.bool_]]:
        """Where keys are, and whether they are there."""
        places = np.searchsorted(self.keys, keys)
        known = places < len(self.keys)
        known[known] = self.keys[places[known]] == keys[known]
        return places, known

    def get(self, keys: Words) -> Numbers:
        places, known = self.places(keys)
        found = np.zeros(len(keys), np.int64)
        found[known] = self.numbers[places[known]]
        return found

    def next_after(self, rows: Words, iteration: int) -> Words:
        found = np.full(len(rows), NEVER, np.int64)
        asking = np.arange(len(rows))
        places = np.searchsorted(self.keys, words(rows, iteration + 1))
        while len(asking):
            there = places < len(self.keys)
            there[there] = self.keys[places[there]] >> ITERATION_BITS == rows[asking[there]]
            asking, places = asking[there], places[there]
            counts = self.numbers[places] != 0
            found[asking[counts]] = self.keys[places[counts]] & NEVER
            asking, places = asking[~counts], places[~counts] + 1
        return found
