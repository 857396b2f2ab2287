"""Sizes and fan-outs of the relations as they are now, for the join order.

They come from a random sample of a relation's rows, taken once for all of its columns, and are kept until the relation
has doubled, so that asking costs little. The sample is large: a value that many rows share decides what a join on it
costs, and a small sample may not have it.
A relation of the running stratum will grow: while it is smaller than the largest relation that feeds the stratum, it
is taken to be as large as that.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from tidelog.plan.steps import View

SAMPLE = 1 << 16
MATTERS = 1000
"""Relations smaller than this are not worth a second thought."""
LARGE = 1 << 20
"""Relations from this size on are only indexed if that costs less than to scan them. (Smaller ones always: an index
serves all rules that come later, too.)"""
INDEXING = 6.0
"""Work to enter a row into an index, in bindings: 40 ns with the memory for it, against some 5 ns."""


GOLDEN = np.uint64(0x9E3779B97F4A7C15)


class Statistics:
    """Implements plan.estimate.Estimate over a database."""

    def __init__(self, database: Any, growing: Collection[str] = (), expected: float = 0.0) -> None:
        self.database = database
        self.growing = frozenset(growing)
        self.expected = expected
        self._seen = {name: int(database[name].count) for name in self.growing}
        self._matches: dict[tuple[str, tuple[int, ...]], tuple[int, float]] = {}
        self._samples: dict[str, tuple[int, Any]] = {}

    def outgrown(self) -> bool:
        """Whether some growing relation is four times as large as when this was last asked, or made."""
        grown = False
        for name in self.growing:
            count = self.database[name].count
            if count > 4 * max(self._seen.get(name, 0), MATTERS):
                self._seen[name] = count
                grown = True
        return grown

    def size(self, relation: str, view: View) -> float:
        count = float(self.database[relation].count)
        if relation in self.growing:
            count = max(count, self.expected)
            return max(1.0, count / 16) if view is View.DELTA else count
        return count

    def fanout(self, relation: str, view: View, columns: tuple[int, ...]) -> float:
        size = self.size(relation, view)
        if size == 0:
            return 0.0
        count = self.database[relation].count
        if count == 0:  # a relation of this stratum that is still empty
            arity = max(1, self.database[relation].arity)
            return float(size ** (1 - len(columns) / arity))
        return self.matches(relation, columns)

    def index_work(self, relation: str, columns: tuple[int, ...]) -> float:
        found = self.database[relation]
        if found.count < LARGE or relation in self.growing or (columns, None) in found.indexes:
            return 0.0
        return INDEXING * float(found.count)

    def matches(self, relation: str, columns: tuple[int, ...]) -> float:
        """How many tuples share their values in these columns: between the plain mean and that of a typical tuple."""
        count = self.database[relation].count
        known = self._matches.get((relation, columns))
        if known is not None and count <= 2 * known[0]:
            return known[1]
        found = estimate_matches(self._sample(relation)[:, list(columns)], count)
        self._matches[relation, columns] = (count, found)
        return found

    def _sample(self, relation: str) -> Any:
        count = self.database[relation].count
        known = self._samples.get(relation)
        if known is None or count > 2 * known[0]:
            known = self._samples[relation] = count, sampled(self.database[relation].rows(None))
        return known[1]


def sampled(rows: Any) -> Any:
    """Some of the rows, the same every time; at random, because rows may lie in the order of their values."""
    if len(rows) <= SAMPLE:
        return rows
    return rows[np.random.default_rng(len(rows)).integers(0, len(rows), SAMPLE)]


def estimate_matches(sample: Any, count: int) -> float:
    """From a sample of so many rows, the geometric mean of two answers: rows per distinct value (values seen once tell
    how many were not seen: the GEE estimator), and rows that share the value of a random row, which skew makes much
    larger."""
    if count == 0:
        return 0.0
    repeats = repetitions(sample)
    once = int(np.count_nonzero(repeats == 1))
    distinct = min(float(count), float(np.sqrt(count / len(sample)) * once + (len(repeats) - once)))
    size = len(sample)
    shared = float((repeats * (repeats - 1)).sum()) / (size * (size - 1)) if size > 1 else 0.0
    return float(np.sqrt(count / max(1.0, distinct) * (1.0 + shared * (count - 1))))


def repetitions(rows: Any) -> Any:
    """How often each distinct row occurs. (By a hash of it: to sort whole rows takes much longer.)"""
    keys = np.zeros(len(rows), np.uint64)
    for column in rows.T:
        keys = (keys ^ column.astype(np.uint64)) * GOLDEN
        keys ^= keys >> np.uint64(29)
    keys.sort()
    starts = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1])))
    return np.diff(starts, append=len(keys))
