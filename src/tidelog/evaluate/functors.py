"""The built-in functors that the native pipelines leave to Python: those that read or make texts, and mathematics.

Each works on distinct argument values only: a batch of a million bindings with a thousand different texts costs a
thousand calls. A value that cannot be converted is a `Fault` that says which.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tidelog import room
from tidelog.evaluate import mathematics
from tidelog.evaluate.bindings import Words
from tidelog.floats import float_words
from tidelog.functors import MATHEMATICAL
from tidelog.patterns import complaint, match_columns
from tidelog.store.distinct import distinct_rows
from tidelog.values import NUMBER_MAX, NUMBER_MIN, UNSIGNED_MAX, Kind


class Fault(Exception):
    """An operation that has no result for its arguments."""


class Decoder:
    """Words to Python values and back, by kind, through the database's dictionaries."""

    def __init__(self, database: Any) -> None:
        self.database = database

    def values(self, words: Words, kind: Kind) -> list[Any]:
        if kind is Kind.SYMBOL:
            return self.database.symbols.decode(words).to_pylist()  # type: ignore[no-any-return]
        if kind is Kind.UNSIGNED:
            return words.view(np.uint64).tolist()
        if kind is Kind.FLOAT:
            return words.view(np.float64).tolist()
        return words.tolist()

    def size(self, symbols: Words) -> int:
        """The bytes that it takes to work with these texts: as Python has them, what is made of them, that as Arrow has
        it, and in the dictionary."""
        return 4 * int(self.database.symbols.lengths(symbols).sum())

    def words(self, values: list[Any], kind: Kind) -> Words:
        if kind is Kind.SYMBOL:
            import pyarrow as pa

            return np.asarray(self.database.symbols.encode(pa.array(values, pa.large_string())), np.int64)
        if kind is Kind.UNSIGNED:
            return np.array([v & UNSIGNED_MAX for v in values], np.uint64).view(np.int64)
        if kind is Kind.FLOAT:
            return float_words(values)
        return np.array([_wrap(v) for v in values], np.int64)


def _wrap(value: int) -> int:
    return (value - NUMBER_MIN) % 2**64 + NUMBER_MIN


def per_distinct(
    decoder: Decoder, args: list[Words], kinds: tuple[Kind, ...], function: Callable[..., Any]
) -> tuple[list[Any], NDArray[np.intp]]:
    """The function's value for each distinct combination of arguments, and for each row which of them it has."""
    rows, which = distinct_rows(np.column_stack(args))
    columns = [np.ascontiguousarray(column) for column in rows.T]
    room.ensure(sum(decoder.size(column) for column, kind in zip(columns, kinds, strict=True) if kind is Kind.SYMBOL))
    decoded = [decoder.values(column, kind) for column, kind in zip(columns, kinds, strict=True)]
    return [function(*values) for values in zip(*decoded, strict=True)], which


def compute(decoder: Decoder, op: str, kind: Kind, args: list[Words], kinds: tuple[Kind, ...]) -> Words:
    """The functor over columns of words."""
    if op == "ord":
        return args[0]
    values, inverse = per_distinct(decoder, args, kinds, function(op, kinds[0]))
    return decoder.words(values, kind)[inverse]


def function(op: str, of: Kind) -> Callable[..., Any]:
    """The functor over Python values of a kind."""
    if op in MATHEMATICAL:
        return mathematics.function(op, of)
    return _float_text if op == "to_string" and of is Kind.FLOAT else _FUNCTORS[op]


def compare(decoder: Decoder, op: str, kind: Kind, left: Words, right: Words) -> NDArray[np.bool_]:
    """The constraint over columns of words."""
    if op in ("match", "not_match"):
        return _matches(decoder, op == "match", left, right)
    values, inverse = per_distinct(decoder, [left, right], (kind, kind), _COMPARISONS[op])
    return np.array(values, np.bool_)[inverse]


def _matches(decoder: Decoder, wanted: bool, patterns: Words, texts: Words) -> NDArray[np.bool_]:
    """match or, unless wanted, not_match; neither holds for what is not a regular expression, with a warning."""
    rows, which = distinct_rows(np.column_stack((patterns, texts)))
    decode = decoder.database.symbols.decode
    found, problems = match_columns(decode(rows[:, 0]), decode(rows[:, 1]), wanted)
    for pattern, why in problems.items():
        decoder.database.remark(complaint(pattern, why))
    return found[which]


def _float_text(value: float) -> str:
    return f"{value:.6f}"


def _to_number(value: Any) -> int:
    if isinstance(value, str):
        return _parse_integer(value, "to_number", NUMBER_MIN, NUMBER_MAX)
    return int(value)


def _to_unsigned(value: Any) -> int:
    if isinstance(value, str):
        return _parse_integer(value, "to_unsigned", 0, UNSIGNED_MAX)
    return int(value)


def _parse_integer(text: str, functor: str, least: int, most: int) -> int:
    found = re.fullmatch(r"\s*([+-]?)(?:0x([0-9a-fA-F]+)|0b([01]+)|([0-9]+))\s*", text)
    if not found:
        raise Fault(f"{functor}({text!r}): this is not a number")
    sign, hexadecimal, binary, decimal = found.groups()
    base = 16 if hexadecimal else 2 if binary else 10
    number = int((hexadecimal or binary or decimal).lstrip("0")[:100] or "0", base)  # longer ones are out of range too
    number = -number if sign == "-" else number
    if not least <= number <= most:
        raise Fault(f"{functor}({text!r}): out of range")
    return number


def _to_float(value: Any) -> float:
    try:
        return float(value)
    except ValueError:
        raise Fault(f"to_float({value!r}): this is not a number") from None


def _substr(text: str, start: int, length: int) -> str:
    if start < 0 or length < 0 or start > len(text):
        return ""
    return text[start : start + length]


_FUNCTORS: dict[str, Callable[..., Any]] = {
    "cat": lambda *texts: "".join(texts),
    "+": lambda left, right: left + right,
    "strlen": len,
    "substr": _substr,
    "min": min,
    "max": max,
    "to_number": _to_number,
    "to_unsigned": _to_unsigned,
    "to_float": _to_float,
    "to_string": str,
    "itou": int,
    "utoi": int,
    "itof": float,
    "utof": float,
    "ftoi": int,
    "ftou": int,
}

_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "=": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "contains": lambda part, text: part in text,
    "not_contains": lambda part, text: part not in text,
}
