"""Tables of solutions: a column of term numbers for each variable, and the joins of SPARQL's algebra on them.

What is always true: all columns have `count` entries, UNBOUND where a solution has no term for the variable; rows keep
the order of the left operand. Cost: a join sorts the right side and looks up the left in it; where a shared variable is
unbound in some rows, rows are joined group by group, a group being those that bind the same shared variables.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tidelog import room
from tidelog.rdf.sparql.dictionary import UNBOUND
from tidelog.store.memory import Array

Mask: TypeAlias = NDArray[np.bool_]


class Solutions:
    """A bag of solutions."""

    def __init__(self, columns: Mapping[str, Array], count: int) -> None:
        self.columns, self.count = dict(columns), count

    @classmethod
    def unit(cls) -> Solutions:
        """The one solution that binds nothing."""
        return cls({}, 1)

    @classmethod
    def none(cls, variables: Sequence[str] = ()) -> Solutions:
        return cls({name: np.zeros(0, np.int64) for name in variables}, 0)

    def column(self, name: str) -> Array:
        """The terms of a variable, which may be one that no solution binds."""
        found = self.columns.get(name)
        return np.full(self.count, UNBOUND, np.int64) if found is None else found

    def take(self, rows: Array | Mask) -> Solutions:
        """These rows, by number or as a mask."""
        count = int(np.count_nonzero(rows)) if rows.dtype == np.bool_ else len(rows)
        return Solutions({name: column[rows] for name, column in self.columns.items()}, count)

    def slice(self, start: int, stop: int | None) -> Solutions:
        stop = self.count if stop is None else min(stop, self.count)
        return Solutions({n: c[start:stop] for n, c in self.columns.items()}, max(stop - start, 0))

    def project(self, names: Sequence[str]) -> Solutions:
        return Solutions({name: self.column(name) for name in names}, self.count)

    def extended(self, name: str, column: Array) -> Solutions:
        return Solutions({**self.columns, name: column}, self.count)

    def distinct(self) -> Solutions:
        """Each solution once, where it is first."""
        if self.count < 2:
            return self
        codes = row_codes([list(self.columns.values())])[0] if self.columns else np.zeros(self.count, np.int64)
        _, first = np.unique(codes, return_index=True)
        return self.take(np.sort(first))


def row_codes(tables: Sequence[Sequence[Array]]) -> list[Array]:
    """A number for each row of several tables with the same columns, the same for equal rows."""
    columns = [np.concatenate(same) for same in zip(*tables, strict=True)]
    codes = columns[0]
    if len(columns) > 1:
        codes, size = np.zeros(len(codes), np.int64), 1
        for column in columns:
            distinct, where = np.unique(column, return_inverse=True)
            if size * len(distinct) > 2**62:
                kept, codes = np.unique(codes, return_inverse=True)
                size = len(kept)
            codes = codes * len(distinct) + where
            size *= max(len(distinct), 1)
    ends = np.cumsum([len(table[0]) for table in tables])[:-1]
    return np.split(codes, ends)


class _Pairs(NamedTuple):
    """Rows of the left and of the right side that are compatible."""

    left: Array
    right: Array


def join(a: Solutions, b: Solutions) -> Solutions:
    """Every compatible pair of solutions, as one."""
    return _merged(a, b, pairs(a, b))


def left_join_rows(a: Solutions, b: Solutions) -> tuple[Solutions, Array]:
    """The join, and of each of its rows the row of the left side."""
    found = pairs(a, b)
    return _merged(a, b, found), found.left


def with_unmatched(a: Solutions, joined: Solutions, rows: Array) -> Solutions:
    """The joined rows and those of the left side that have none of them."""
    alone = np.ones(a.count, np.bool_)
    alone[rows] = False
    return union(joined, a.take(alone))


def union(a: Solutions, b: Solutions) -> Solutions:
    names = dict.fromkeys([*a.columns, *b.columns])
    return Solutions({name: np.concatenate([a.column(name), b.column(name)]) for name in names}, a.count + b.count)


def minus(a: Solutions, b: Solutions, of: Sequence[str]) -> Solutions:
    """The solutions that are compatible with no solution of b with which they share one of these variables."""
    shared = [name for name in of if name in a.columns and name in b.columns]
    everything = [name for name in a.columns if name in b.columns]
    keep = np.ones(a.count, np.bool_)
    for rows_a, rows_b, bound in _groups(a, b, everything):
        if set(bound) & set(shared):
            left, right = row_codes([[a.columns[n][rows_a] for n in bound], [b.columns[n][rows_b] for n in bound]])
            keep[rows_a[np.isin(left, right)]] = False
    return a.take(keep)


def pairs(a: Solutions, b: Solutions) -> _Pairs:
    """The compatible pairs of rows, in the order of the left side."""
    shared = [name for name in a.columns if name in b.columns]
    found = []
    for rows_a, rows_b, bound in _groups(a, b, shared):
        if bound:
            codes = row_codes([[a.columns[n][rows_a] for n in bound], [b.columns[n][rows_b] for n in bound]])
            left, right = _equal(*codes)
        else:
            room.ensure(16 * len(rows_a) * len(rows_b))
            left = np.repeat(np.arange(len(rows_a)), len(rows_b))
            right = np.tile(np.arange(len(rows_b)), len(rows_a))
        found.append(_Pairs(rows_a[left], rows_b[right]))
    if len(found) == 1:
        return found[0]
    left, right = (
        np.concatenate([np.zeros(0, np.int64), *side]) for side in (zip(*found, strict=True) if found else ((), ()))
    )
    order = np.argsort(left, kind="stable")
    return _Pairs(left[order], right[order])


def _groups(a: Solutions, b: Solutions, shared: Sequence[str]) -> Iterator[tuple[Array, Array, list[str]]]:
    """Rows of both sides to be joined, and on which variables: those that all of them bind."""
    if not a.count or not b.count:
        return
    for rows_a, bound_a in _by_bound(a, shared):
        for rows_b, bound_b in _by_bound(b, shared):
            yield rows_a, rows_b, [name for name in shared if name in bound_a and name in bound_b]


def _by_bound(table: Solutions, names: Sequence[str]) -> list[tuple[Array, set[str]]]:
    """The rows, grouped by which of these variables they bind."""
    partial = [name for name in names if (table.columns[name] == UNBOUND).any()]
    whole = set(names) - set(partial)
    if not partial:
        return [(np.arange(table.count), whole)]
    masks = np.zeros(table.count, np.int64)
    for i, name in enumerate(partial):
        masks |= (table.columns[name] != UNBOUND).astype(np.int64) << i
    return [
        (np.flatnonzero(masks == mask), whole | {name for i, name in enumerate(partial) if mask >> i & 1})
        for mask in np.unique(masks).tolist()
    ]


def _equal(left: Array, right: Array) -> tuple[Array, Array]:
    """The pairs of places with equal codes."""
    order = np.argsort(right, kind="stable")
    ordered = right[order]
    first = np.searchsorted(ordered, left, "left")
    counts = np.searchsorted(ordered, left, "right") - first
    total = int(counts.sum())
    room.ensure(16 * total)
    rows = np.repeat(np.arange(len(left)), counts)
    within = np.arange(total) - np.repeat(np.cumsum(counts) - counts, counts)
    return rows, order[np.repeat(first, counts) + within]


def _merged(a: Solutions, b: Solutions, found: _Pairs) -> Solutions:
    columns = {name: column[found.left] for name, column in a.columns.items()}
    for name, column in b.columns.items():
        there = column[found.right]
        if name in columns:
            there = np.where(columns[name] == UNBOUND, there, columns[name])
        columns[name] = there
    return Solutions(columns, len(found.left))
