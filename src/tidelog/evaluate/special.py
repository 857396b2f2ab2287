"""Relations that keep only some of what is derived, or more: equivalences, choice domains, subsumption.

Rows that rules emit for such a relation go through a *gate* before they reach it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tidelog import room
from tidelog.evaluate.bindings import Words
from tidelog.store import Relation
from tidelog.store.distinct import number_rows

MOST_WAITING = 1 << 20
"""Pairs of an equivalence that are entered together."""
BYTES_PER_PAIR = 64
"""What two classes that meet take for each pair of their elements until both of its directions are in the relation."""


class Gate:
    """Sees every batch that is emitted, the end of each iteration, and the end of the stratum."""

    def accept(self, rows: Words) -> None:
        """Let rows in, or some of them, or more."""
        raise NotImplementedError

    def close(self) -> None:
        """An iteration ends: what the gate still holds goes in now; what is no longer wanted goes."""

    def finish(self) -> None:
        """The stratum ends: the relation is to hold what it shall hold."""


class EquivalenceGate(Gate):
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
        waiting = 0
        for first, second in np.unique(apart, axis=0).tolist():
            added += (pairs := self._unite(int(self.leader[first]), int(self.leader[second])))
            waiting += sum(map(len, pairs))
            if waiting > MOST_WAITING:
                self.relation.insert(np.concatenate(added))
                added, waiting = [], 0
        if added:
            self.relation.insert(np.concatenate(added))

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
        room.ensure(BYTES_PER_PAIR * len(large) * len(small))
        left, right = self.values[large], self.values[small]
        pairs = np.column_stack((np.repeat(left, len(right)), np.tile(right, len(left))))
        return [pairs, pairs[:, ::-1]]


class ChoiceGate(Gate):
    """A `choice-domain`: of the tuples that share a key, the first one stays.

    A tuple needs all of its keys; one that is turned away because of one key leaves the others free. `taken` holds the
    keys in use. A batch is decided in rounds: a tuple that is the first of the undecided in every key stays, and those
    that it shares a key with are turned away. With one key a round decides all; with several, what is left after
    `ROUNDS` is decided one by one.
    """

    ROUNDS = 8

    def __init__(self, relation: Any, keys: Sequence[tuple[int, ...]]) -> None:
        self.relation = relation
        self.keys = [list(key) for key in keys]
        self.taken = [Relation(relation.database, f"{relation.name} by {key}", len(key)) for key in keys]
        for taken in self.taken:
            relation.database.adopt(taken)
        if relation.count:
            self._take(relation.rows(None))

    def accept(self, rows: Words) -> None:
        for key, taken in zip(self.keys, self.taken, strict=True):
            rows = rows[~taken.contains(rows[:, key])]
        if len(rows):
            chosen = rows[self._chosen(rows)]
            self._take(chosen)
            self.relation.insert(chosen)

    def _take(self, rows: Any) -> None:
        for key, taken in zip(self.keys, self.taken, strict=True):
            taken.insert(rows[:, key])

    def _chosen(self, rows: Words) -> NDArray[np.int64]:
        """The places of those that stay, among rows whose keys are all free."""
        numbers = np.column_stack([number_rows(rows[:, key]) for key in self.keys])
        used = np.zeros((len(rows), len(self.keys)), np.bool_)
        each = np.arange(len(self.keys))
        chosen: list[int] = []
        undecided = np.arange(len(rows))
        for _ in range(self.ROUNDS):
            wins = _first_in_all(numbers[undecided])
            winners = undecided[wins]
            chosen += winners.tolist()
            used[numbers[winners], each] = True
            undecided = undecided[~wins]
            undecided = undecided[~used[numbers[undecided], each].any(axis=1)]
        for place in undecided.tolist():
            if not used[numbers[place], each].any():
                used[numbers[place], each] = True
                chosen.append(place)
        return np.sort(np.array(chosen, np.int64))


def _first_in_all(numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which rows have, in every column, a number that no row before them has."""
    places = np.arange(len(numbers))
    wins = np.ones(len(numbers), np.bool_)
    for column in numbers.T:
        first = np.empty(int(column.max(initial=-1)) + 1, np.int64)
        first[column[::-1]] = places[::-1]  # of several, the last one written stays
        wins &= first[column] == places
    return wins
