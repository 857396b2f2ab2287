"""Functors that have no Spark expression: Arrow functions around the Python that the columnar executor calls.

These are powers, regular expressions, conversions of texts and floats to one another, ranges of floats, and whatever
the user wrote. Each is called once per distinct combination of arguments in a batch. Tasks import this package, so it
must be installed where they run; the user's functions are sent along.
"""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable, Sequence
from itertools import count, takewhile
from typing import Any

import pyarrow as pa
from pyspark.sql import Column
from pyspark.sql import functions as F

from tidelog.evaluate import functors as built_in
from tidelog.evaluate.functors import Fault
from tidelog.evaluate.user_functors import checked_call
from tidelog.patterns import match_columns
from tidelog.spark.dataframe.faults import RuleFault
from tidelog.spark.dataframe.sql import Sql
from tidelog.spark.dataframe.values import SPARK_TYPES
from tidelog.values import NUMBER_MIN, UNSIGNED_MAX, Kind, canonical

ARROW = {"bigint": pa.int64(), "double": pa.float64(), "string": pa.string(), "boolean": pa.bool_()}


def compute(rule: int, op: str, kind: Kind, args: Sequence[Sql], kinds: Sequence[Kind]) -> Column:
    """A built-in functor without an expression."""
    return _applied(rule, _function(op, kinds[0]), args, kinds, kind)


def call(rule: int, name: str, function: Any, args: Sequence[Sql], kinds: Sequence[Kind], result: Kind) -> Column:
    """A functor of the user."""
    return _applied(rule, checked_call(function, name, result), args, kinds, result)


def matches(op: str, pattern: Sql, text: Sql) -> Column:
    """match or not_match; neither holds for what is not a regular expression."""
    wanted = op == "match"

    def over_arrays(patterns, texts):  # type: ignore[no-untyped-def]  # Spark would read the types
        return pa.array(match_columns(patterns, texts, wanted)[0])

    return F.arrow_udf(over_arrays, "boolean")(F.expr(pattern), F.expr(text))  # type: ignore[attr-defined,no-any-return]


def values_in_range(kind: Kind, args: Sequence[Sql]) -> Column:
    """The array of range(start, stop, step) of floats or unsigned numbers."""

    def values(*given: Any) -> list[Any]:
        start, stop, *rest = (from_word(value, kind) for value in given)
        if any(value != value for value in (start, stop, *rest)):
            return []
        step = rest[0] if rest else 1 if start <= stop else -1
        if step == 0:
            return [to_word(start, kind)] if start != stop else []
        ahead = operator.lt if step > 0 else operator.gt
        steps = (start + step * number if number else start for number in count())
        return [to_word(value, kind) for value in takewhile(lambda value: ahead(value, stop), steps)]

    return _vectorised(values, f"array<{SPARK_TYPES[kind]}>")(*args)


def _applied(
    rule: int, function: Callable[..., Any], args: Sequence[Sql], kinds: Sequence[Kind], result: Kind
) -> Column:
    def value(*given: Any) -> Any:
        try:
            return to_word(function(*map(from_word, given, kinds)), result)
        except Fault as problem:
            raise RuleFault(rule, str(problem)) from None

    if not args:  # an Arrow function must have an argument, from which it learns how many rows there are
        return _vectorised(lambda _: value(), SPARK_TYPES[result])("0")
    return _vectorised(value, SPARK_TYPES[result])(*args)


def _function(op: str, of: Kind) -> Callable[..., Any]:
    if op == "^":
        return _float_power if of is Kind.FLOAT else _power
    if op == "ord":
        return lambda value: struct.unpack("<q", struct.pack("<d", canonical(value)))[0]
    return built_in.function(op, of)


def _power(a: int, b: int) -> int:
    """Wrapping; a negative exponent gives what truncating the quotient gives."""
    if b >= 0:
        return pow(a, b, 2**64)
    if a in (1, -1):
        return a if b % 2 else 1
    return 0


def _float_power(a: float, b: float) -> float:
    """C's pow; Python's raises where that has an infinity or NaN."""
    try:
        return math.pow(a, b)
    except OverflowError:
        return -math.inf if a < 0 and b % 2 == 1 else math.inf
    except ValueError:
        if a != 0:
            return math.nan
        return math.copysign(math.inf, a) if b % 2 == 1 else math.inf


def from_word(value: Any, kind: Kind) -> Any:
    """A value as Python functions see it."""
    return value % 2**64 if kind is Kind.UNSIGNED else value


def to_word(value: Any, kind: Kind) -> Any:
    """A value as columns hold it; integers wrap around."""
    if kind in (Kind.NUMBER, Kind.UNSIGNED):
        return ((int(value) & UNSIGNED_MAX) - NUMBER_MIN) % 2**64 + NUMBER_MIN
    return canonical(float(value)) if kind is Kind.FLOAT else value


def _vectorised(function: Callable[..., Any], spark_type: str) -> Callable[..., Column]:
    """The function over Arrow arrays, called once per distinct combination of arguments."""
    inner = spark_type.removeprefix("array<").removesuffix(">")
    arrow = pa.list_(ARROW[inner]) if inner != spark_type else ARROW[inner]

    def over_arrays(*columns):  # type: ignore[no-untyped-def]  # Spark would read the types
        known: dict[Any, Any] = {}
        results = []
        for arguments in zip(*(column.to_pylist() for column in columns), strict=True):
            if arguments not in known:
                known[arguments] = function(*arguments)
            results.append(known[arguments])
        return pa.array(results, arrow)

    made = F.arrow_udf(over_arrays, spark_type)  # type: ignore[attr-defined]
    return lambda *args: made(*map(F.expr, args))
