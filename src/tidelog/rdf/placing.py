"""Triples and the relations that hold them: words of triples split by predicate and class, and put together again.

What is always true: `split` gives every triple to one relation, the one that `TripleLayout.home` names, and `join` is
its inverse. Cost of splitting: a lookup and a stable sort by small numbers, for each triple.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from tidelog.evaluate.bindings import Words
from tidelog.lang.rules import TRIPLE
from tidelog.plan.rewrites.specialise import GIVEN, TYPE, Key, TripleLayout
from tidelog.store.symbols import Symbols


class Placing:
    """A layout over the words of a dictionary."""

    def __init__(self, layout: TripleLayout, symbols: Symbols) -> None:
        self.layout, self.symbols = layout, symbols
        self.keys = list(layout.relations)
        self.names = [*layout.relations.values(), TRIPLE]
        self.type = symbols.id(TYPE)
        self._predicates = _Table([(symbols.id(k.predicate), n) for n, k in enumerate(self.keys) if k.of is None])
        self._classes = _Table([(symbols.id(k.of), n) for n, k in enumerate(self.keys) if k.of is not None])

    def split(self, triples: Words) -> Iterator[tuple[str, Words]]:
        """The facts of each relation that has any among these triples, (subject, predicate, object)."""
        if self.layout.apart:
            yield GIVEN, triples
            return
        codes = self._predicates.find(triples[:, 1], len(self.keys))
        typed = np.flatnonzero(triples[:, 1] == self.type)
        found = self._classes.find(triples[typed, 2], -1)
        codes[typed] = np.where(found >= 0, found, codes[typed])
        order = np.argsort(codes, kind="stable")
        bounds = np.searchsorted(codes[order], np.arange(len(self.names) + 1))
        for code in np.flatnonzero(np.diff(bounds)).tolist():
            rows = triples[order[bounds[code] : bounds[code + 1]]]
            yield self.names[code], np.ascontiguousarray(rows[:, self._columns(code)])

    def _columns(self, code: int) -> list[int]:
        if code == len(self.keys):
            return [0, 1, 2]
        return [0, 2] if self.keys[code].of is None else [0]

    def triples(self, key: Key | None, rows: Words) -> Words:
        """The triples that rows of a relation stand for."""
        if key is None:
            return rows.astype(np.int64)
        made = np.empty((len(rows), 3), np.int64)
        made[:, 0] = rows[:, 0]
        made[:, 1] = self.type if key.of is not None else self.symbols.id(key.predicate)
        made[:, 2] = self.symbols.id(key.of) if key.of is not None else rows[:, 1]
        return made

    def misplaced(self, rest: Words) -> np.ndarray:
        """Which facts of `triple` belong to other relations, because rules have come to name their predicates."""
        codes = self._predicates.find(rest[:, 1], -1)
        typed = (rest[:, 1] == self.type) & (self._classes.find(rest[:, 2], -1) >= 0)
        return (codes >= 0) | typed

    def join(self, rows: Callable[[str], Words]) -> Iterator[Words]:
        """All triples, relation by relation; `rows(name)` gives those of a relation."""
        for key, name in self.layout.distinct():
            yield self.triples(key, rows(name))


class _Table:
    """From ids of terms to small numbers."""

    def __init__(self, entries: list[tuple[int, int]]) -> None:
        entries.sort()
        self.ids = np.array([i for i, _ in entries], np.int64)
        self.numbers = np.array([n for _, n in entries], np.int16)

    def find(self, ids: Words, otherwise: int) -> np.ndarray:
        if not len(self.ids):
            return np.full(len(ids), otherwise, np.int16)
        places = np.minimum(np.searchsorted(self.ids, ids), len(self.ids) - 1)
        return np.where(self.ids[places] == ids, self.numbers[places], np.int16(otherwise))
