"""Groups and their aggregates.

Groups are numbered in the order of their first rows. COUNT works on numbers of terms alone; the other aggregates take
the terms of each group. An error in a group is one of its aggregate; COUNT and SAMPLE pass over it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tidelog.rdf.sparql.compare import order_key
from tidelog.rdf.sparql.dictionary import UNBOUND, Dictionary
from tidelog.rdf.sparql.numbers import Number, arithmetic
from tidelog.rdf.sparql.solutions import Solutions, row_codes
from tidelog.rdf.sparql.terms import RdfTerm, TermKind, literal, number
from tidelog.store.memory import Array


class SolutionGroups(NamedTuple):
    """For each row the number of its group, and for each group its first row."""

    of: Array
    first: Array

    @property
    def number(self) -> int:
        """How many groups there are."""
        return len(self.first)


def grouped(keys: Sequence[Array], count: int) -> SolutionGroups:
    """Rows with equal keys; without keys all rows are one group, even if there are none."""
    if not keys:
        return SolutionGroups(np.zeros(count, np.int64), np.zeros(1, np.int64))
    _, first, of = np.unique(row_codes([list(keys)])[0], return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return SolutionGroups(place[of], first[order])


def aggregated(
    tree: Any, table: Solutions, groups: SolutionGroups, values: Callable[[Any], Array], dictionary: Dictionary
) -> Array:
    """The term of an aggregate for each group; `values` computes an expression for each row."""
    name, distinct = tree.name.removeprefix("Aggregate_"), bool(tree.distinct)
    if name == "Count" and str(tree.vars) == "*":
        if distinct:
            codes = row_codes([[groups.of, *table.columns.values()]])[0]
            _, first = np.unique(codes, return_index=True)
            return _counts(groups.of[first], groups, dictionary)
        return _counts(groups.of, groups, dictionary)
    column = values(tree.vars)
    rows = np.arange(len(column))
    if distinct:
        _, first = np.unique(row_codes([[groups.of, column]])[0], return_index=True)
        rows = np.sort(first)
    if name == "Count":
        return _counts(groups.of[rows][column[rows] != UNBOUND], groups, dictionary)
    order = rows[np.argsort(groups.of[rows], kind="stable")]
    ends = np.searchsorted(groups.of[order], np.arange(groups.number + 1))
    terms = dictionary.terms(column[order])
    separator = " " if tree.separator is None else str(tree.separator)
    combine: Callable[[Sequence[RdfTerm | None]], RdfTerm | None] = {
        "Sum": _sum, "Avg": _average, "Min": _least, "Max": _greatest, "Sample": _sample,
        "GroupConcat": lambda found: _concatenated(found, separator),
    }[name]  # fmt: skip
    return dictionary.numbers([combine(terms[ends[i] : ends[i + 1]]) for i in range(groups.number)])


def _counts(of: Array, groups: SolutionGroups, dictionary: Dictionary) -> Array:
    counts = np.bincount(of, minlength=groups.number)
    distinct, where = np.unique(counts, return_inverse=True)
    return dictionary.numbers([number(count) for count in distinct.tolist()])[where]


def _total(terms: Sequence[RdfTerm | None]) -> Number | None:
    total: Number | None = 0
    for term in terms:
        value = None if term is None else term.number
        total = None if value is None or total is None else arithmetic("+", total, value)
        if total is None:
            return None
    return total


def _sum(terms: Sequence[RdfTerm | None]) -> RdfTerm | None:
    total = _total(terms)
    return None if total is None else number(total)


def _average(terms: Sequence[RdfTerm | None]) -> RdfTerm | None:
    if not terms:
        return number(0)
    total = _total(terms)
    found = None if total is None else arithmetic("/", total, len(terms))
    return None if found is None else number(found)


def _least(terms: Sequence[RdfTerm | None]) -> RdfTerm | None:
    return None if not terms or None in terms else min(terms, key=order_key)


def _greatest(terms: Sequence[RdfTerm | None]) -> RdfTerm | None:
    return None if not terms or None in terms else max(terms, key=order_key)


def _sample(terms: Sequence[RdfTerm | None]) -> RdfTerm | None:
    return next((term for term in terms if term is not None), None)


def _concatenated(terms: Sequence[RdfTerm | None], separator: str) -> RdfTerm | None:
    if any(term is None or term.kind is TermKind.BLANK for term in terms):
        return None
    return literal(separator.join(term.lexical for term in terms if term is not None))
