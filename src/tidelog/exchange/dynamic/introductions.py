"""How workers that have nothing but their own facts find out where values occur, before anything is derived.

Each tells the homes of its values where it has them; once all have, each home tells those who have a value of all
others that have it. Both are phases, with an end that all find out. What is always true then: the maps are those that
whoever had all facts would have made (`loading.py`). Cost: each value travels twice for each worker that has it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tidelog.evaluate.bindings import Words
from tidelog.exchange.dynamic import bits
from tidelog.exchange.dynamic.loading import enter_occurrences, occurring
from tidelog.exchange.dynamic.messages import Occurring
from tidelog.exchange.dynamic.partial_matches import Held


class Introductions:
    """See the module's docstring."""

    def __init__(self, held: Held) -> None:
        self._held = held
        self._told: list[Words] = []

    def introduce(self, phase: int) -> Iterator[tuple[int, Occurring]]:
        """What this worker has, to the homes of its values."""
        held = self._held
        facts = {name: np.asarray(times.relation.rows(), np.int64) for name, times in held.clock.times.items()}
        mine = {name: np.full(len(rows), held.me, np.int64) for name, rows in facts.items()}
        triples = occurring(held, facts, mine)
        homes = held.partition.owners(triples[:, 0])
        for to in np.unique(homes).tolist():
            yield to, _message(phase, triples[homes == to])

    def hear(self, message: Occurring) -> None:
        """What somebody has of values whose home this is."""
        self._told.append(np.column_stack((message.values, message.positions, message.workers)).astype(np.int64))

    def inform(self, phase: int) -> Iterator[tuple[int, Occurring]]:
        """All who have values whose home this is, of all others that have them."""
        held = self._held
        told = np.concatenate([np.empty((0, 3), np.int64), *self._told])
        self._told = []
        met = told[bits.has(held.meeting(told[:, 0]), held.me)]
        enter_occurrences(held, *met.T)
        for to in np.unique(told[:, 2]).tolist():
            values = np.unique(told[told[:, 2] == to, 0])
            yield to, _message(phase, told[np.isin(told[:, 0], values)])

    def learn(self, message: Occurring) -> None:
        """Where this worker's values occur."""
        enter_occurrences(self._held, message.values, message.positions, message.workers)


def _message(phase: int, triples: Words) -> Occurring:
    values, positions, workers = (np.ascontiguousarray(column) for column in triples.T)
    return Occurring(phase, values, positions.astype(np.int32), workers.astype(np.int32))
