"""Relations that keep only some of what is derived, or more: equivalences, choice domains, subsumption.

Rows that rules emit for such a relation go through a *gate* before they reach it. A gate sees every batch
(`accept`), and the end of each iteration (`close`), when it may add rows or drop some.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tidelog.evaluate.bindings import Words


class Equivalence:
    """An `eqrel`: reflexive, symmetric and transitive, by union-find.

    `leader` maps each element (by its place in order of appearance) to the place of its class's leader, `members` each
    leader to its class. A pair is added to the relation once, when the classes of its elements meet; a batch costs a
    vectorised look-up per row and a step in Python per union.
    """

    def __init__(self, relation: Any) -> None:
        self.relation = relation
        self.place: dict[int, int] = {}
        self.values = np.empty(0, np.int64)
        self.leader = np.empty(0, np.int64)
        self.members: dict[int, NDArray[np.int64]] = {}
        if relation.count:
            self.accept(relation.rows(None).astype(np.int64))

    def accept(self, rows: Words) -> None:
        values, inverse = np.unique(rows, return_inverse=True)
        fresh = np.array([v for v in values.tolist() if v not in self.place], np.int64)
        added = [np.column_stack((fresh, fresh))]
        self._enter(fresh)
        places = np.array([self.place[v] for v in values.tolist()], np.int64)[inverse].reshape(-1, 2)
        leaders = self.leader[places]
        apart = leaders[leaders[:, 0] != leaders[:, 1]]
        for first, second in np.unique(apart, axis=0).tolist():
            added += self._unite(int(self.leader[first]), int(self.leader[second]))
        self.relation.insert(np.concatenate(added))

    def close(self) -> None:
        pass

    def _enter(self, fresh: NDArray[np.int64]) -> None:
        """New elements, each a class of its own."""
        start = len(self.values)
        places = np.arange(start, start + len(fresh))
        self.place.update(zip(fresh.tolist(), places.tolist(), strict=True))
        self.values = np.concatenate((self.values, fresh))
        self.leader = np.concatenate((self.leader, places))
        self.members.update((place, np.array([place])) for place in places.tolist())

    def _unite(self, first: int, second: int) -> list[NDArray[np.int64]]:
        """Make two classes one; the pairs that this adds."""
        if first == second:
            return []
        if len(self.members[first]) < len(self.members[second]):
            first, second = second, first
        large, small = self.members[first], self.members.pop(second)
        self.leader[small] = first
        self.members[first] = np.concatenate((large, small))
        left, right = self.values[large], self.values[small]
        pairs = np.column_stack((np.repeat(left, len(right)), np.tile(right, len(left))))
        return [pairs, pairs[:, ::-1]]


class Choice:
    """A `choice-domain`: of the tuples that share a key, the first one stays."""

    def __init__(self, relation: Any, keys: list[tuple[int, ...]]) -> None:
        self.relation = relation
        self.keys = keys
        self.taken: list[set[tuple[int, ...]]] = [set() for _ in keys]
        if relation.count:
            self._enter(relation.rows(None).astype(np.int64))

    def accept(self, rows: Words) -> None:
        chosen = self._enter(rows)
        if chosen:
            self.relation.insert(rows[chosen])

    def close(self) -> None:
        pass

    def _enter(self, rows: Words) -> list[int]:
        chosen = []
        for place, row in enumerate(rows.tolist()):
            values = [tuple(row[c] for c in key) for key in self.keys]
            if not any(value in taken for value, taken in zip(values, self.taken, strict=True)):
                chosen.append(place)
                for value, taken in zip(values, self.taken, strict=True):
                    taken.add(value)
        return chosen
