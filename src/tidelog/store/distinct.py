"""Distinct words and rows of words, numbered in ascending order. Nothing here goes row by row in Python.

Cost: dense words (ids, small numbers) are numbered by a table, without a sort; rows column by column, which is several
times cheaper than sorting rows as wholes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tidelog.store.memory import Array

DENSE = 8
"""Words that spread over at most so many times their number are numbered by a table."""


def distinct(words: Array) -> tuple[Array, Array]:
    """The distinct words in ascending order, and for each word which of them it is."""
    if len(words) == 0:
        return words, np.zeros(0, np.int64)
    lowest, highest = int(words.min()), int(words.max())
    if highest - lowest > DENSE * len(words):
        found, which = np.unique(words, return_inverse=True)
        return found, which.reshape(-1)
    places = words - lowest
    used = np.zeros(highest - lowest + 1, np.bool_)
    used[places] = True
    return np.flatnonzero(used) + lowest, (np.cumsum(used) - 1)[places]


def distinct_rows(rows: Array) -> tuple[Array, Array]:
    """The distinct rows in ascending order, and for each row which of them it is."""
    which = number_rows(rows)
    first = np.empty(int(which.max(initial=-1)) + 1, np.int64)
    first[which] = np.arange(len(rows))
    return rows[first], which


def number_rows(rows: Array) -> Array:
    """For each row, how many distinct rows come before it in ascending order."""
    numbers = np.zeros(len(rows), np.int64)
    for column in rows.T:
        found, which = distinct(column)
        numbers = distinct(numbers * len(found) + which)[1]
    return numbers


def distinct_numbers(numbers: Any, limit: int) -> Array:
    """The distinct ones of some numbers below a limit, in ascending order: by marking them if they are many."""
    if DENSE * len(numbers) > limit:
        used = np.zeros(limit, np.bool_)
        used[numbers] = True
        return np.flatnonzero(used)
    ordered = np.sort(numbers)
    return ordered[np.flatnonzero(np.diff(ordered, prepend=-1))].astype(np.int64)
