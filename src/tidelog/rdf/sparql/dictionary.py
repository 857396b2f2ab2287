"""The terms that a query meets, by number.

Numbers from 0 are those of the database's symbols, which a query never adds to; terms that a query makes have numbers
of their own, from -2 downwards; UNBOUND is no term. What is always true: within a query a term has one number. Cost:
each term that a query computes with is taken apart once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pyarrow as pa

from tidelog.rdf.sparql.terms import RdfTerm, parse_term
from tidelog.store.memory import Array
from tidelog.store.symbols import Symbols

UNBOUND = -1


class Dictionary:
    """Numbers and terms, of one query. If equal resources are one, a term that the graph knows has the number of the
    `one` that stands for it."""

    def __init__(self, symbols: Symbols, one: Callable[[int], int] | None = None) -> None:
        self._symbols, self._one = symbols, one
        self._made: list[RdfTerm] = []
        self._numbers: dict[str, int] = {}
        self._terms: dict[int, RdfTerm | None] = {UNBOUND: None}

    def number(self, term: RdfTerm) -> int:
        """The number of a term, a new one if need be."""
        found = self._numbers.get(term.text)
        if found is None:
            known = self._symbols.find(term.text)
            if known is not None and self._one is not None and (one := self._one(known)) != known:
                self._numbers[term.text] = one
                return one
            if known is None:
                self._made.append(term)
            found = -1 - len(self._made) if known is None else known
            self._numbers[term.text] = found
            self._terms[found] = term
        return found

    def named(self, term: RdfTerm) -> RdfTerm:
        """The term that stands for one that a query names."""
        if self._one is None or self._symbols.find(term.text) is None:
            return term
        return self.term(self.number(term)) or term

    def numbers(self, terms: Iterable[RdfTerm | None]) -> Array:
        return np.array([UNBOUND if term is None else self.number(term) for term in terms], np.int64)

    def term(self, number: int) -> RdfTerm | None:
        """The term of a number, None if it is unbound."""
        try:
            return self._terms[number]
        except KeyError:
            made = self._terms[number] = parse_term(self._symbols.text(number))
            return made

    def terms(self, numbers: Array) -> list[RdfTerm | None]:
        """The terms of numbers; those that are new are decoded at once."""
        known, asked = self._terms, numbers.tolist()
        new = [number for number in dict.fromkeys(asked) if number not in known]
        if new:
            for number, text in zip(new, self._symbols.decode(np.array(new, np.int64)).to_pylist(), strict=True):
                known[number] = parse_term(text)
        return [known[number] for number in asked]

    def texts(self, numbers: Array) -> Any:
        """The canonical texts of numbers as an Arrow array; null where unbound."""
        if not len(numbers) or numbers.min() >= 0:
            return self._symbols.decode(numbers)
        distinct, where = np.unique(numbers, return_inverse=True)
        made = [
            None if number == UNBOUND else self._made[-2 - number].text for number in distinct[distinct < 0].tolist()
        ]
        texts = pa.concat_arrays([pa.array(made, pa.large_string()), self._symbols.decode(distinct[distinct >= 0])])
        return texts.take(pa.array(where))
