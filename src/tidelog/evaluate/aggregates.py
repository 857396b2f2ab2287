"""Aggregates: for each binding, a fold over the matches of a body.

The body runs once for each distinct combination of the values it takes from outside, whatever the number of
bindings that share it. With no match, count and sum give zero; min, max and mean leave the binding without a value.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tidelog.evaluate.bindings import Bindings, Words
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
    everywhere = np.ones(groups, np.bool_)
    if op == "count":
        return matched, everywhere
    if value is None:
        raise ValueError(op)
    typed = value.view(_VIEWS.get(kind, np.int64))
    if kind is Kind.FLOAT and op in ("sum", "mean"):  # in an order of their own: rounding must not tell how they came
        order = np.lexsort((typed, group))
        group, typed = group[order], typed[order]
    if op == "mean":
        total = np.bincount(group, weights=typed.astype(np.float64), minlength=groups)
        with np.errstate(invalid="ignore", divide="ignore"):
            return (total / matched).view(np.int64), matched > 0
    if op == "sum":
        result = np.zeros(groups, typed.dtype)
        np.add.at(result, group, typed)
        return result.view(np.int64), everywhere
    result = np.zeros(groups, typed.dtype)
    if len(typed):
        order = np.argsort(group, kind="stable")
        starts = np.flatnonzero(np.r_[True, np.diff(group[order]) != 0])
        reduce = np.minimum if op == "min" else np.maximum
        result[group[order][starts]] = reduce.reduceat(typed[order], starts)
    return result.view(np.int64), matched > 0
