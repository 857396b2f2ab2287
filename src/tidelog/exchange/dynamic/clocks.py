"""A worker's Lamport clock and the times of its facts (the paper's section 4.1).

What it holds: the clock C, and for each relation the time of every row. What is always true: rows are stamped in the
order in which they lie, and times never decrease along it; so "earlier than" is a prefix of the rows, found by a search
among the few times that there are. Rows behind `stamped` have no time yet and take part in nothing. Cost: a pair of
numbers for each time and relation, nothing per row.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tidelog.exchange.dynamic.bits import Places
from tidelog.store.relation import Relation


class Times:
    """The times of the rows of one relation: from row `starts[i]` on, it is `stamps[i]`."""

    def __init__(self, relation: Relation) -> None:
        self.relation = relation
        self.stamped = 0
        self._starts = np.empty(0, np.int64)
        self._stamps = np.empty(0, np.int64)

    def stamp(self, time: int) -> None:
        """All rows that have no time get this one."""
        count = self.relation.count
        if count == self.stamped:
            return
        if not len(self._stamps) or self._stamps[-1] != time:
            self._starts = np.append(self._starts, self.stamped)
            self._stamps = np.append(self._stamps, time)
        self.stamped = count

    def of(self, rows: Places) -> Places:
        """The times of rows, given by number."""
        found: Places = self._stamps[np.searchsorted(self._starts, rows, side="right") - 1]
        return found

    def prefix(self, times: NDArray[Any], strictly: bool) -> Places:
        """For each time, how many rows are earlier, or (not `strictly`) not later."""
        places = np.searchsorted(self._stamps, times, side="left" if strictly else "right")
        found: Places = np.append(self._starts, self.stamped)[places]
        return found


class LamportClock:
    """See the module's docstring."""

    def __init__(self, relations: Mapping[str, Relation]) -> None:
        self.now = 0
        self.times = {name: Times(relation) for name, relation in relations.items()}

    def synchronise(self, time: int) -> None:
        """Lines 24 to 27: what comes is of this time; facts that were there before it get theirs first."""
        if self.now <= time:
            self.stamp()
            self.now = time + 1

    def stamp(self) -> None:
        for times in self.times.values():
            times.stamp(self.now)
