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
    """An `eqrel`: reflexive, symmetric and transitive. Each pair of a class is added once, when classes meet."""

    def __init__(self, relation: Any) -> None:
        self.relation = relation
        self.leader: dict[int, int] = {}
        self.members: dict[int, list[int]] = {}
        if relation.count:
            self.accept(relation.rows(None).astype(np.int64))

    def accept(self, rows: Words) -> None:
        found: list[NDArray[np.int64]] = []
        for a, b in rows.tolist():
            found.extend(self._unite(a, b))
        if found:
            self.relation.insert(np.concatenate(found))

    def close(self) -> None:
        pass

    def _unite(self, a: int, b: int) -> list[NDArray[np.int64]]:
        """The pairs that become equivalent because a and b are."""
        added = [np.array([[x, x]], np.int64) for x in {a, b} if self._enter(x)]
        first, second = self.leader[a], self.leader[b]
        if first == second:
            return added
        if len(self.members[first]) < len(self.members[second]):
            first, second = second, first
        large, small = np.array(self.members[first], np.int64), np.array(self.members[second], np.int64)
        pairs = np.column_stack((np.repeat(large, len(small)), np.tile(small, len(large))))
        for member in self.members.pop(second):
            self.leader[member] = first
            self.members[first].append(member)
        return [*added, pairs, pairs[:, ::-1]]

    def _enter(self, value: int) -> bool:
        if value in self.leader:
            return False
        self.leader[value] = value
        self.members[value] = [value]
        return True


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
