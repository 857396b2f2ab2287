"""The built-in functors that the native pipelines leave to Python: those that read or make texts.

Each works on distinct argument values only: a batch of a million bindings with a thousand different texts costs a
thousand calls. A value that cannot be converted is a `Fault` that says which.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tidelog.evaluate.bindings import Words
from tidelog.store.distinct import distinct_rows
from tidelog.values import NUMBER_MAX, NUMBER_MIN, UNSIGNED_MAX, Kind


class Fault(Exception):
    """An operation that has no result for its arguments."""


class Decoder:
    """Words to Python values and back, by kind, through the database's dictionaries."""

    def __init__(self, database: Any) -> None:
        self.database = database
        self.warnings: dict[str, str] = {}  # about patterns, each once

    def values(self, words: Words, kind: Kind) -> list[Any]:
        if kind is Kind.SYMBOL:
            return self.database.symbols.decode(words).to_pylist()  # type: ignore[no-any-return]
        if kind is Kind.UNSIGNED:
            return words.view(np.uint64).tolist()
        if kind is Kind.FLOAT:
            return words.view(np.float64).tolist()
        return words.tolist()

    def words(self, values: list[Any], kind: Kind) -> Words:
        if kind is Kind.SYMBOL:
            import pyarrow as pa

            return np.asarray(self.database.symbols.encode(pa.array(values, pa.string())), np.int64)
        if kind is Kind.UNSIGNED:
            return np.array([v & UNSIGNED_MAX for v in values], np.uint64).view(np.int64)
        if kind is Kind.FLOAT:
            return np.array(values, np.float64).view(np.int64)
        return np.array([_wrap(v) for v in values], np.int64)


def _wrap(value: int) -> int:
    return (value - NUMBER_MIN) % 2**64 + NUMBER_MIN


def per_distinct(
    decoder: Decoder, args: list[Words], kinds: tuple[Kind, ...], function: Callable[..., Any]
) -> tuple[list[Any], NDArray[np.intp]]:
    """The function's value for each distinct combination of arguments, and for each row which of them it has."""
    rows, which = distinct_rows(np.column_stack(args))
    columns = (np.ascontiguousarray(column) for column in rows.T)
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
    return _float_text if op == "to_string" and of is Kind.FLOAT else _FUNCTORS[op]


def compare(decoder: Decoder, op: str, kind: Kind, left: Words, right: Words) -> NDArray[np.bool_]:
    """The constraint over columns of words."""
    function = _COMPARISONS.get(op) or _match(op, decoder.warnings)
    values, inverse = per_distinct(decoder, [left, right], (kind, kind), function)
    return np.array(values, np.bool_)[inverse]


def _match(op: str, warnings: dict[str, str]) -> Callable[[str, str], bool]:
    """match or not_match; as in Soufflé, neither holds for what is not a regular expression, with a warning."""

    def holds(written: str, text: str) -> bool:
        try:
            return (pattern(written).fullmatch(text) is not None) == (op == "match")
        except re.error as problem:
            warnings[written] = f"match: {written!r} is not a regular expression ({problem}) and matches nothing"
            return False

    return holds


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
    number = int(hexadecimal, 16) if hexadecimal else int(binary, 2) if binary else int(decimal)
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


_POSIX = {
    "alnum": "a-zA-Z0-9", "alpha": "a-zA-Z", "blank": " \t", "cntrl": r"\x00-\x1f\x7f", "d": r"\d", "digit": "0-9",
    "graph": "!-~", "lower": "a-z", "print": " -~", "punct": r"!-/:-@\[-`{-~", "s": r"\s", "space": r"\s",
    "upper": "A-Z", "w": r"\w", "xdigit": "0-9a-fA-F",
}  # fmt: skip


@lru_cache(maxsize=1024)
def pattern(text: str) -> re.Pattern[str]:
    """ECMAScript's syntax is Python's but for the named classes inside brackets."""
    return re.compile(re.sub(r"\[:(\w+):\]", lambda m: _POSIX.get(m[1], m[0]), text))


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
