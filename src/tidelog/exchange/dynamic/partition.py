"""Who owns a fact: it follows from the value in its key column alone, the same for every worker and for input facts.

By hash, or by a map from values to workers that somebody has made (`graph_partition.py`), and by hash for values that
it does not have. The same function says where what is told of a value always comes by (its *meeting* worker).
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from tidelog.evaluate.bindings import Words
from tidelog.exchange.dynamic.bits import Places
from tidelog.exchange.homes import homes
from tidelog.plain import dataclass


class Partition(Protocol):
    @property
    def size(self) -> int: ...

    def owners(self, words: Words) -> Places:
        """For each value, the worker whose it is."""
        ...


@dataclass(frozen=True)
class ByHash:
    size: int

    def owners(self, words: Words) -> Places:
        return homes(words, self.size)


@dataclass(frozen=True)
class ByMap:
    """`values` in ascending order, and the worker of each."""

    size: int
    values: Words
    workers: Places

    def owners(self, words: Words) -> Places:
        words = np.asarray(words, np.int64)
        found = homes(words, self.size)
        if len(self.values):
            places = np.minimum(np.searchsorted(self.values, words), len(self.values) - 1)
            known = self.values[places] == words
            found[known] = self.workers[places[known]]
        return found
