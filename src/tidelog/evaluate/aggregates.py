"""Aggregates: for each binding, a fold over the matches of a body.

The body runs once for each distinct combination of the values it takes from outside, whatever the number of
bindings that share it. With no match, count and sum give zero; min, max and mean leave the binding without a value.
What is always true: the value depends on the matches and not on their order, since an update must give what a new
evaluation gives, to the last bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tidelog.evaluate.bindings import Bindings, Words
from tidelog.floats import float_words
from tidelog.store.distinct import distinct_rows
from tidelog.values import Kind

_VIEWS = {Kind.FLOAT: np.float64, Kind.UNSIGNED: np.uint64}


def distinct_groups(bindings: Bindings, injected: tuple[int, ...]) -> tuple[Bindings, NDArray[np.intp]]:
    """The distinct combinations of the injected slots, and for each binding which of them it has."""
    if not injected:
        return Bindings.one(), np.zeros(bindings.count, np.intp)
    rows, which = distinct_rows(bindings.rows(injected))
    return Bindings.from_rows(rows, injected), which


def fold(op: str, kind: Kind, groups: int, group: Words, value: Words | None) -> tuple[Words, NDArray[np.bool_]]:
    """The aggregate of each group, and which groups have one."""
    matched = np.bincount(group, minlength=groups).astype(np.int64)
    if op == "count":
        return matched, everywhere(groups)
    if value is None:
        raise ValueError(op)
    typed = value.view(_VIEWS.get(kind, np.int64))
    if kind is Kind.FLOAT and op in ("sum", "mean"):  # in an order of their own: rounding must not tell how they came
        order = np.lexsort((typed, group))
        group, typed = group[order], typed[order]
    if op == "mean":
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            return float_words(np.bincount(group, weights=typed, minlength=groups) / matched), matched > 0
    result = np.zeros(groups, typed.dtype)
    if op == "sum":
        with np.errstate(invalid="ignore", over="ignore"):
            np.add.at(result, group, typed)
        return _words(result), everywhere(groups)
    if len(typed):
        order = np.argsort(group, kind="stable")
        starts = np.flatnonzero(np.r_[True, np.diff(group[order]) != 0])
        reduce = np.fmin if op == "min" else np.maximum  # NaN is the greatest
        result[group[order][starts]] = reduce.reduceat(typed[order], starts)
    return _words(result), matched > 0


def everywhere(groups: int) -> NDArray[np.bool_]:
    """Every group has a value."""
    return np.ones(groups, np.bool_)


def _words(result: NDArray[Any]) -> Words:
    return float_words(result) if result.dtype == np.float64 else result.view(np.int64)
