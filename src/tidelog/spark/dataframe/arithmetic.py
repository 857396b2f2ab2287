"""Functors and comparisons as Spark expressions, with the meaning they have in `store/kernels/arithmetic.py`.

Numbers wrap around, shift counts use their low six bits, quotients round towards zero, floats are IEEE doubles.
Spark's operators fail on overflow (ANSI mode, the default of Spark 4) or wrap (without it), and NaN equals itself in
Spark; what is here means the same whatever the session's settings are. A product or sum that overflows is computed
again with decimals, so the usual case costs one operation and a comparison with null.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import reduce

from pyspark.sql import Column
from pyspark.sql import functions as F

from tidelog.spark.dataframe.faults import raised
from tidelog.spark.dataframe.values import unsigned_decimal, unsigned_order, wrapped
from tidelog.values import NUMBER_MIN, Kind

Two = Callable[[Column, Column], Column]

_N, _U, _F, _S = Kind.NUMBER, Kind.UNSIGNED, Kind.FLOAT, Kind.SYMBOL


def compare(op: str, kind: Kind, left: Column, right: Column) -> Column | None:
    """`left op right`; None if there is no expression for it."""
    match op:
        case "contains":
            return right.contains(left)
        case "not_contains":
            return ~right.contains(left)
        case "match" | "not_match":
            return None
    if kind is _U:
        left, right = unsigned_order(left), unsigned_order(right)
    if kind is _F:
        return _compare_floats(op, left, right)
    return _plainly(op, left, right)


def _plainly(op: str, left: Column, right: Column) -> Column:
    match op:
        case "=" | "==":
            return left == right
        case "!=":
            return left != right
        case "<":
            return left < right
        case "<=":
            return left <= right
        case ">":
            return left > right
    return left >= right


def _compare_floats(op: str, left: Column, right: Column) -> Column:
    """To Spark NaN is equal to itself and greater than all; to IEEE nothing holds of it but `!=`."""
    ordered = ~F.isnan(left) & ~F.isnan(right)
    return ~ordered | (left != right) if op == "!=" else ordered & _plainly(op, left, right)


def compute(rule: int, op: str, kind: Kind, args: Sequence[Column], kinds: Sequence[Kind]) -> Column | None:
    """The functor of these arguments; None if there is no expression for it. `kind` is that of the result."""
    of = kinds[0] if kinds else kind
    if op in ("min", "max"):
        return reduce(lambda a, b: _extreme(op, of, a, b), args)
    if op in ("ord", "to_string") or of is _S:
        return _of_texts(op, of, args)
    if op in _CONVERSIONS:
        return _converted(op, of, args[0])
    if of is _F:
        return _on_floats(op, args)
    if op in ("/", "%"):
        return _quotient(rule, op, of, *args)
    return _on_integers(op, of, args)


def _extreme(op: str, kind: Kind, a: Column, b: Column) -> Column:
    chosen = compare("<" if op == "min" else ">", kind, a, b)
    assert chosen is not None
    return F.when(chosen, a).otherwise(b)


def _of_texts(op: str, kind: Kind, args: Sequence[Column]) -> Column | None:
    match op:
        case "ord":
            return None if kind in (_F, _S, Kind.RECORD) else args[0]
        case "to_string":
            if kind is _F:
                return None
            return (unsigned_decimal(args[0]) if kind is _U else args[0]).cast("string")
        case "cat" | "+":
            return F.concat(*args)
        case "strlen":
            return F.length(args[0]).cast("bigint")
        case "substr":
            return _substr(*args)
    return None


def _substr(text: Column, start: Column, length: Column) -> Column:
    size = F.length(text)
    inside = (start >= 0) & (length >= 0) & (start <= size)
    count = F.least(length, F.lit(2**31 - 1)).cast("int")
    return F.when(inside, text.substr((F.least(start, size.cast("bigint")) + 1).cast("int"), count)).otherwise("")


# ---- conversions

_CONVERSIONS = frozenset(("itou", "utoi", "itof", "utof", "ftoi", "ftou", "to_number", "to_unsigned", "to_float"))


def _converted(op: str, of: Kind, value: Column) -> Column:
    if op in ("itof", "utof", "to_float"):
        return value if of is _F else (unsigned_decimal(value) if of is _U else value).cast("double")
    if of is not _F:
        return value  # the same bits
    return _float_to_unsigned(value) if op in ("ftou", "to_unsigned") else _float_to_number(value)


def _float_to_number(value: Column) -> Column:
    return (
        F.when(F.isnan(value), F.lit(0))
        .when(value >= F.lit(2.0**63), F.lit(2**63 - 1))
        .when(value <= F.lit(-(2.0**63)), F.lit(NUMBER_MIN))
        .otherwise(value.try_cast("bigint"))
    )


def _float_to_unsigned(value: Column) -> Column:
    return (
        F.when(F.isnan(value) | (value <= 0.0), F.lit(0))
        .when(value < F.lit(2.0**63), value.try_cast("bigint"))
        .when(value >= F.lit(2.0**64), F.lit(-1))
        .otherwise((value - F.lit(2.0**63)).try_cast("bigint").bitwiseXOR(F.lit(NUMBER_MIN)))
    )


# ---- floats


def _on_floats(op: str, args: Sequence[Column]) -> Column | None:
    a, b = args[0], args[-1]
    match op:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case "/":
            return _float_quotient(a, b)
        case "neg":
            return -a
    return None


def _float_quotient(a: Column, b: Column) -> Column:
    """IEEE division; Spark's fails for a zero, or is null."""
    positive = (a > 0) == (b.cast("string") != "-0.0")
    infinite = F.when(positive, F.lit(math.inf)).otherwise(F.lit(-math.inf))
    by_zero = F.when(F.isnan(a) | (a == 0), F.lit(math.nan)).otherwise(infinite)
    return F.when(b == 0, by_zero).otherwise(F.try_divide(a, b))


# ---- integers


def _quotient(rule: int, op: str, kind: Kind, a: Column, b: Column) -> Column:
    fault = raised(rule, a.cast("string"), f" {op} ", b.cast("string"), ": division by zero").cast("bigint")
    if kind is _U:
        x, y = unsigned_decimal(a), unsigned_decimal(b)
        if op == "/":  # what a quotient by one could be has no bigint
            return F.when(b == 0, fault).when(b == 1, a).otherwise(F.call_function("div", x, y))
        return F.when(b == 0, fault).otherwise(wrapped(x % y))
    if op == "/":
        return F.when(b == 0, fault).when(b == -1, _negated(a)).otherwise(F.call_function("div", a, b))
    return F.when(b == 0, fault).when(b == -1, F.lit(0)).otherwise(a % b)


def _negated(a: Column) -> Column:
    return F.when(a == NUMBER_MIN, a).otherwise(-a)


def _on_integers(op: str, kind: Kind, args: Sequence[Column]) -> Column | None:
    a, b = args[0], args[-1]
    match op:
        case "+":
            return F.coalesce(F.try_add(a, b), wrapped(_wide(a) + _wide(b)))
        case "-":
            return F.coalesce(F.try_subtract(a, b), wrapped(_wide(a) - _wide(b)))
        case "*":
            return F.coalesce(F.try_multiply(a, b), wrapped(_wide(a) * _wide(b)))
        case "neg":
            return _negated(a)
        case "bnot":
            return F.bitwise_not(a)
        case "lnot":
            return (a == 0).cast("bigint")
        case "band":
            return a.bitwiseAND(b)
        case "bor":
            return a.bitwiseOR(b)
        case "bxor":
            return a.bitwiseXOR(b)
        case "land":
            return ((a != 0) & (b != 0)).cast("bigint")
        case "lor":
            return ((a != 0) | (b != 0)).cast("bigint")
        case "lxor":
            return ((a != 0) != (b != 0)).cast("bigint")
        case "bshl" | "bshr" | "bshru":
            return _shifted(op, kind, a, b.bitwiseAND(F.lit(63)).cast("int"))
    return None


def _shifted(op: str, kind: Kind, a: Column, count: Column) -> Column:
    if op == "bshl":
        return F.call_function("shiftleft", a, count)
    return F.call_function("shiftrightunsigned" if op == "bshru" or kind is _U else "shiftright", a, count)


def _wide(a: Column) -> Column:
    return a.cast("decimal(19,0)")


# ---- ranges


def numbers(start: Column, stop: Column, step: Column | None) -> Column:
    """The array of range(start, stop, step) of numbers; an infinite one cannot be, since the end must lie ahead."""
    if step is None:
        step = F.when(start <= stop, F.lit(1)).otherwise(F.lit(-1)).cast("bigint")
    ahead = ((start < stop) & (step > 0)) | ((start > stop) & (step < 0))
    # `sequence` ends at the stop if it meets it, and must not be asked for one that leads nowhere.
    whole = F.sequence(start, F.when(ahead, stop).otherwise(start), F.when(ahead, step).otherwise(F.lit(1)))
    return F.when(ahead, F.filter(whole, lambda value: value != stop)).otherwise(F.array().cast("array<bigint>"))
