"""Triples matched by trying them all: what queries are tried on, and what a real match is compared with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from tidelog.rdf.sparql.solutions import Solutions
from tidelog.rdf.sparql.triples import Pattern
from tidelog.store.native import load
from tidelog.store.symbols import Symbols


class NaiveTriples:
    """A set of triples of texts."""

    def __init__(self, triples: Iterable[tuple[str, str, str]]) -> None:
        self.symbols = Symbols(load())
        self.words = sorted({tuple(self.symbols.id(term) for term in triple) for triple in triples})

    def one(self, number: int) -> int:
        return number

    def match(self, patterns: Sequence[Pattern]) -> Solutions:
        found: list[dict[str, int]] = [{}]
        for pattern in patterns:
            found = [new for old in found for triple in self.words if (new := _fit(pattern, triple, old)) is not None]
        names = dict.fromkeys(place for pattern in patterns for place in pattern if isinstance(place, str))
        columns = {name: np.array([row[name] for row in found], np.int64) for name in names}
        return Solutions(columns, len(found))


def _fit(pattern: Pattern, triple: tuple[int, ...], known: dict[str, int]) -> dict[str, int] | None:
    found = dict(known)
    for place, word in zip(pattern, triple, strict=True):
        if (found.setdefault(place, word) if isinstance(place, str) else place) != word:
            return None
    return found
