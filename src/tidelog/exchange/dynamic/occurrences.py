"""Occurrence maps (the paper's section 4.2): for a value, on which workers it occurs, position by position.

A position is a column of a relation by which some rule looks facts up, unless the column says who owns a fact. All
other columns from which a value can come into such a look-up are one more (`ELSEWHERE`), since whoever has a value
there must be told of it; of the rest, nobody is told anything. What is always true (Lemma 2): for a value that is
*local*, because it is announced here at some position, the map has every worker at every position where the value
occurs. Of other values the map may have something, and it may be old. `announced` is what is here; `underway` is what
is being told to others, and takes part in nothing yet. Cost: for each value that this worker has heard of, a set of
workers and two bits per position; numbers of values come from a table of the store.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from tidelog.evaluate.bindings import Words
from tidelog.exchange.dynamic import bits
from tidelog.exchange.dynamic.bits import Masks, Places
from tidelog.plan.exchange.phases import Position
from tidelog.store import Database

ELSEWHERE, UNTOLD = 0, -1


class Positions:
    """The numbers of positions: `asked` are columns by which facts are looked up, `matter` all of which something is
    told."""

    def __init__(self, asked: Iterable[Position], matter: Iterable[Position]) -> None:
        self._numbers = dict.fromkeys(matter, ELSEWHERE)
        self._numbers |= {position: number for number, position in enumerate(sorted(asked), 1)}
        self.count = max(self._numbers.values(), default=ELSEWHERE) + 1

    def __getitem__(self, position: Position) -> int:
        """-1 for a column of which nothing is told."""
        return self._numbers.get(position, UNTOLD)


class Occurrences:
    """See the module's docstring."""

    def __init__(self, database: Database, positions: int, size: int) -> None:
        self.size = size
        self._values = database.unmounted("@values", 1, stateful=True)
        self.masks = bits.none(size, 0, positions)
        self.announced = np.zeros((0, positions), np.bool_)
        self.underway = np.zeros((0, positions), np.bool_)

    @property
    def count(self) -> int:
        """How many values are known of."""
        return len(self._values)

    def find(self, values: Words) -> Places:
        """The numbers of values, -1 for those of which nothing is known."""
        return self._values.find(np.asarray(values, np.int64).reshape(-1, 1))

    def enter(self, values: Words) -> Places:
        """The numbers of values, new ones where they had none."""
        numbers = self.find(values)
        if (numbers < 0).any():
            self._values.insert(np.unique(values[numbers < 0]).reshape(-1, 1))
            self._values.settle()
            self._grow()
            numbers = self.find(values)
        return numbers

    def _grow(self) -> None:
        need = len(self._values)
        if need > len(self.masks):
            room = max(64, need + need // 2) - len(self.masks)
            self.masks = np.concatenate((self.masks, np.zeros((room, *self.masks.shape[1:]), np.uint64)))
            self.announced, self.underway = (
                np.concatenate((flags, np.zeros((room, flags.shape[1]), np.bool_)))
                for flags in (self.announced, self.underway)
            )

    def put(self, numbers: Places, masks: Masks) -> None:
        """What is known of some values; each number at most once."""
        self.masks[numbers] |= masks

    def add(self, numbers: Places, masks: Masks) -> None:
        """The same, for numbers that may repeat."""
        np.bitwise_or.at(self.masks, numbers, masks)

    def local(self, numbers: Places) -> NDArray[np.bool_]:
        """For each value, whether it is announced here at some position."""
        known = numbers >= 0
        found = np.zeros(len(numbers), np.bool_)
        found[known] = self.announced[numbers[known]].any(axis=1)
        return found

    def reach(self, numbers: Places) -> Masks:
        """For each value, all workers that are known to have it."""
        return bits.union(self.masks[numbers], axis=1)

    def memory(self) -> Mapping[str, int]:
        return {"masks": self.masks.nbytes, "flags": self.announced.nbytes + self.underway.nbytes}
