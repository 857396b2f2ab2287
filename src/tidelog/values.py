"""Kinds of values, and the ranges and literals of each.

Every value is a 64-bit word; its kind says how to read the word. A relation's declared types (subtypes, unions,
records, …) come down to these kinds.
"""

from __future__ import annotations

from enum import Enum


class Kind(Enum):
    """How the 64 bits of a value are to be read."""

    NUMBER = "number"
    UNSIGNED = "unsigned"
    FLOAT = "float"
    SYMBOL = "symbol"
    RECORD = "record"  # records, lists and ADT branches: an id, 0 is nil


NUMBER_MIN, NUMBER_MAX = -(2**63), 2**63 - 1
UNSIGNED_MAX = 2**64 - 1


def fits(kind: Kind, value: int) -> bool:
    """Whether an integer literal is a value of the kind."""
    if kind is Kind.UNSIGNED:
        return 0 <= value <= UNSIGNED_MAX
    return kind is Kind.FLOAT or NUMBER_MIN <= value <= NUMBER_MAX
