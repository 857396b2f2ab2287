"""Sets of rows as arrays of words, int64[n, arity]: what change sets are made of. Nothing here goes row by row."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tidelog.evaluate.bindings import Words


def no_rows(arity: int) -> Words:
    return np.empty((0, arity), np.int64)


def distinct(rows: Words) -> Words:
    """Each row once."""
    return rows[:1] if len(rows) < 2 or not rows.shape[1] else np.unique(rows, axis=0)


def among(rows: Words, others: Words) -> NDArray[np.bool_]:
    """For each row, whether it is one of the others."""
    if not len(rows) or not len(others) or not rows.shape[1]:
        return np.full(len(rows), len(others) > 0)
    _, numbers = np.unique(np.concatenate((rows, others)), axis=0, return_inverse=True)
    numbers = numbers.reshape(-1)
    return np.isin(numbers[: len(rows)], numbers[len(rows) :])
