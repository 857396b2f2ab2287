"""Kinds of values, and the ranges and literals of each.

Every value is a 64-bit word; its kind says how to read the word. A relation's declared types (subtypes, unions,
records, …) come down to these kinds. Two values of a kind are equal exactly if their words are: of floats, which have
two zeros and many NaNs, one zero and one NaN are values (`canonical`, decision 0013).
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
FLOAT_MAX = 2**1024 - 2**971

NAN = float("nan")


def canonical(value: float) -> float:
    """The float that stands for all that are equal to it."""
    return value + 0.0 if value == value else NAN


def fits(kind: Kind, value: int) -> bool:
    """Whether an integer literal is a value of the kind."""
    if kind is Kind.UNSIGNED:
        return 0 <= value <= UNSIGNED_MAX
    if kind is Kind.FLOAT:
        return -FLOAT_MAX <= value <= FLOAT_MAX
    return NUMBER_MIN <= value <= NUMBER_MAX
