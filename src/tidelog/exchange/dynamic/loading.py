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
from tidelog.exchange.dynamic.occurrences import UNTOLD, Positions
from tidelog.exchange.dynamic.partial_matches import Held


class Shares:
    """Facts by relation, for so many workers."""

    def __init__(self, facts: Mapping[str, Words], any_held: Held) -> None:
        self._facts = {name: np.asarray(rows, np.int64) for name, rows in facts.items() if len(rows)}
        self._owners = {name: any_held.owners(name, rows) for name, rows in self._facts.items()}
        self._values, self._where, self._workers = self._occurrences(any_held.positions)
        self._distinct, self._starts = np.unique(self._values, return_index=True)
        self._meeting = any_held.meeting(self._distinct)

    def _occurrences(self, positions: Positions) -> tuple[Words, Places, Places]:
        """Each value with a position and a worker where it occurs, once, by value."""
        found = [np.empty((0, 3), np.int64)]
        for name, rows in self._facts.items():
            for column in range(rows.shape[1]):
                if (number := positions[name, column]) != UNTOLD:
                    numbers = np.full(len(rows), number)
                    found.append(_distinct(np.column_stack((rows[:, column], numbers, self._owners[name]))))
        triples = _distinct(np.concatenate(found))
        return triples[:, 0], triples[:, 1], triples[:, 2]

    def give(self, held: Held) -> None:
        """A worker gets its facts, and what is known of their values."""
        for name, rows in self._facts.items():
            relation = held.context.database[name]
            relation.insert(rows[self._owners[name] == held.me])
            relation.settle()
        mine = self._workers == held.me
        known = np.unique(np.concatenate((self._values[mine], self._distinct[bits.has(self._meeting, held.me)])))
        occurrences = held.occurrences
        if not len(known):
            return
        numbers = occurrences.enter(known)
        stops = np.append(self._starts, len(self._values))
        places = np.searchsorted(self._distinct, known)
        lengths = stops[places + 1] - stops[places]
        triples = np.repeat(stops[places] - np.cumsum(lengths) + lengths, lengths) + np.arange(lengths.sum())
        whose = np.repeat(numbers, lengths)
        workers = self._workers[triples]
        word = np.uint64(1) << (workers & 63).astype(np.uint64)
        np.bitwise_or.at(occurrences.masks, (whose, self._where[triples], workers >> 6), word)
        here = workers == held.me
        occurrences.announced[whose[here], self._where[triples][here]] = True


def _distinct(triples: Words) -> Words:
    """Each once, in ascending order."""
    order = np.lexsort(triples.T[::-1])
    triples = triples[order]
    new = np.ones(len(triples), np.bool_)
    new[1:] = (triples[1:] != triples[:-1]).any(axis=1)
    return triples[new]
