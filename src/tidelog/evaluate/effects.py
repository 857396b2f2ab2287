"""The effects of the running epoch on the state of each relation: what a keeper writes down before the epoch ends.

They are read from the logs of an update. Cost: proportional to the rows that the update has touched; for a relation
that was evaluated anew, to its size.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tidelog.evaluate.anew import mark_changes
from tidelog.evaluate.bindings import Words
from tidelog.evaluate.state import State
from tidelog.plain import dataclass
from tidelog.store import NEVER, Relation

INSERT, DELETE, UPDATE = range(3)


@dataclass
class Effect:
    """What an epoch did to a relation: tuples, what happened to each, and their iterations and counts after it."""

    rows: Words
    change: NDArray[np.int64]
    iterations: NDArray[np.int32]
    counts: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def growth(self) -> int:
        """How many more tuples the relation has than before."""
        return int((self.change == INSERT).sum() - (self.change == DELETE).sum())


class EpochEffects(Protocol):
    """What the running epoch has done, whoever holds the relations."""

    @property
    def from_scratch(self) -> bool: ...
    @property
    def counters(self) -> Mapping[tuple[str, ...], tuple[int, int]]: ...
    @property
    def efforts(self) -> Mapping[tuple[str, ...], int]: ...
    def on(self, name: str) -> Effect: ...
    def on_facts(self, name: str) -> Effect: ...


@dataclass(frozen=True)
class Effects:
    """What the running epoch of a state has done; `delete` and `insert` are its change set. If it was evaluated
    `from_scratch`, the relations are what it has done."""

    state: State
    delete: Mapping[str, Words]
    insert: Mapping[str, Words]

    @property
    def from_scratch(self) -> bool:
        return self.state.epoch.from_scratch

    @property
    def counters(self) -> Mapping[tuple[str, ...], tuple[int, int]]:
        return self.state.counters

    @property
    def efforts(self) -> Mapping[tuple[str, ...], int]:
        return self.state.efforts

    def on_facts(self, name: str) -> Effect:
        """On the facts of a relation whose rows do not tell whether they were given."""
        return effect_on_facts(self.delete, self.insert, name, self.state.database[name].arity)

    def on(self, name: str) -> Effect:
        """On the state of a relation."""
        relation = self.state.database[name]
        if name not in self.state.epoch.replaced:
            return _of_log(relation)
        mark_changes(self.state, [name])
        return _of_replaced(relation, self.state.epoch.replaced[name])


def effect_on_facts(delete: Mapping[str, Words], insert: Mapping[str, Words], name: str, arity: int) -> Effect:
    """What a change set does to the facts of a relation."""
    gone, come = (side.get(name, np.empty((0, arity), np.int64)) for side in (delete, insert))
    change = np.repeat([DELETE, INSERT], [len(gone), len(come)])
    rows = np.concatenate((gone, come))
    return Effect(rows, change, np.zeros(len(rows), np.int32), np.ones(len(rows), np.int64))


def _of_log(relation: Relation) -> Effect:
    numbers, first = np.unique(relation.log[:, 0], return_index=True)  # of several notes, the first is the oldest
    before, counted = relation.log[first, 1], relation.log[first, 2]
    return _effect(relation, numbers, before, counted)


def _of_replaced(new: Relation, old: Relation) -> Effect:
    """Of a relation that was evaluated anew. Its `before` says which tuples the old one had (`evaluate/anew.py`); when
    and how often they had been found, the old one knows."""
    numbers = np.flatnonzero((new.now() != NEVER) | (new.before() != NEVER))
    before = new.before(numbers)
    counted = np.zeros(len(numbers), np.int64)
    known = before != NEVER
    counts = old.derived()
    rows, first = np.unique(old.log[:, 0], return_index=True)
    counts[rows] = old.log[first, 2]
    places = old.find(new.rows()[numbers[known]])
    before[known], counted[known] = old.before(places), counts[places]
    return _effect(new, numbers, before, counted)


def _effect(relation: Relation, numbers: Words, before: Words, counted: Words) -> Effect:
    """Of these rows, given what their iterations and counts were."""
    now, counts = relation.now(numbers), relation.derived(numbers)
    was, is_ = before != NEVER, now != NEVER
    changed = (was != is_) | (is_ & ((before != now) | (counted != counts)))
    change = np.where(is_, np.where(was, UPDATE, INSERT), DELETE)
    kept = numbers[changed]
    return Effect(relation.rows()[kept], change[changed], now[changed], counts[changed])
