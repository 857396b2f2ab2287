"""Facts on their way to their owners, and what every worker knows of them when it begins.

Whoever has all facts, or all pairs of a value and a worker, shares them out; the maps are then consistent, as the paper
asks. What is always true: a worker is told of every value that it has, and of those that meet at it, all occurrences.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tidelog.evaluate.bindings import Words
from tidelog.exchange.dynamic import bits
from tidelog.exchange.dynamic.bits import Places
from tidelog.exchange.dynamic.occurrences import UNTOLD
from tidelog.exchange.dynamic.partial_matches import Held


class Shares:
    """Facts by relation, for so many workers."""

    def __init__(self, facts: Mapping[str, Words], any_held: Held) -> None:
        self._facts = {name: np.asarray(rows, np.int64) for name, rows in facts.items() if len(rows)}
        self._owners = {name: any_held.owners(name, rows) for name, rows in self._facts.items()}
        self._values, self._where, self._workers = occurring(any_held, self._facts, self._owners).T
        self._distinct, self._starts = np.unique(self._values, return_index=True)
        self._meeting = any_held.meeting(self._distinct)

    def give(self, held: Held, introduced: bool = True) -> None:
        """A worker gets its facts, and what is known of their values if that is not found out later."""
        for name, rows in self._facts.items():
            relation = held.context.database[name]
            relation.insert(rows[self._owners[name] == held.me])
            relation.settle()
        if not introduced:
            return
        mine = self._workers == held.me
        known = np.unique(np.concatenate((self._values[mine], self._distinct[bits.has(self._meeting, held.me)])))
        stops = np.append(self._starts, len(self._values))
        places = np.searchsorted(self._distinct, known)
        lengths = stops[places + 1] - stops[places]
        triples = np.repeat(stops[places] - np.cumsum(lengths) + lengths, lengths) + np.arange(lengths.sum())
        enter_occurrences(held, self._values[triples], self._where[triples], self._workers[triples])


def enter_occurrences(held: Held, values: Words, positions: Places, workers: Places) -> None:
    """Let a worker know where values occur before anything is derived; what is its own is announced."""
    if not len(values):
        return
    occurrences, numbers = held.occurrences, held.occurrences.enter(values)
    word = np.uint64(1) << (workers & 63).astype(np.uint64)
    np.bitwise_or.at(occurrences.masks, (numbers, positions, workers >> 6), word)
    here = workers == held.me
    occurrences.announced[numbers[here], positions[here]] = True


def occurring(held: Held, facts: Mapping[str, Words], owners: Mapping[str, Places]) -> Words:
    """Each value with a position and a worker where it occurs, once, by value."""
    found = [np.empty((0, 3), np.int64)]
    for name, rows in facts.items():
        for column in range(rows.shape[1]):
            if (number := held.positions[name, column]) != UNTOLD:
                numbers = np.full(len(rows), number)
                found.append(_distinct(np.column_stack((rows[:, column], numbers, owners[name]))))
    return _distinct(np.concatenate(found))


def _distinct(triples: Words) -> Words:
    """Each once, in ascending order."""
    order = np.lexsort(triples.T[::-1])
    triples = triples[order]
    new = np.ones(len(triples), np.bool_)
    new[1:] = (triples[1:] != triples[:-1]).any(axis=1)
    return triples[new]
