"""Functors and comparisons as Spark expressions, with the meaning they have in `store/kernels/arithmetic.py`.

Numbers wrap around, shift counts use their low six bits, quotients round towards zero, floats are IEEE doubles, of
which NaN equals itself and is greater than all, as it is to Spark. No result is -0.0: the sum with 0.0 sees to that.
Spark's operators fail on overflow (ANSI mode, the default of Spark 4) or wrap (without it); what is here means the same
whatever the session's settings are. A product or sum that overflows is computed again with decimals, so the usual case
costs one operation and a comparison with null. Arguments are names of columns or literals, so that it does no harm to
repeat them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from tidelog.spark.dataframe.faults import raised
from tidelog.spark.dataframe.sql import Sql, float_literal
from tidelog.spark.dataframe.values import LEAST, unsigned_decimal, unsigned_order, wrapped
from tidelog.values import Kind

_N, _U, _F, _S = Kind.NUMBER, Kind.UNSIGNED, Kind.FLOAT, Kind.SYMBOL


def compare(op: str, kind: Kind, left: Sql, right: Sql) -> Sql | None:
    """`left op right`; None if there is no expression for it."""
    match op:
        case "contains":
            return f"contains({right}, {left})"
        case "not_contains":
            return f"NOT contains({right}, {left})"
        case "match" | "not_match":
            return None
    if kind is _U:
        left, right = unsigned_order(left), unsigned_order(right)
    return f"{left} {op} {right}"


def compute(rule: int, op: str, kind: Kind, args: Sequence[Sql], kinds: Sequence[Kind]) -> Sql | None:
    """The functor of these arguments; None if there is no expression for it. `kind` is that of the result."""
    of = kinds[0] if kinds else kind
    if op in ("min", "max"):
        return reduce(lambda a, b: _extreme(op, of, a, b), args)
    if op in ("ord", "to_string") or of is _S:
        return _of_texts(op, of, args)
    if op in _CONVERSIONS:
        return _converted(op, of, args[0])
    if of is _F:
        return _on_floats(op, args[0], args[-1])
    if op in ("/", "%"):
        return _quotient(rule, op, of, *args)
    return _on_integers(op, of, args[0], args[-1])


def _extreme(op: str, kind: Kind, a: Sql, b: Sql) -> Sql:
    return f"CASE WHEN {compare('<' if op == 'min' else '>', kind, a, b)} THEN {a} ELSE {b} END"


def _of_texts(op: str, kind: Kind, args: Sequence[Sql]) -> Sql | None:
    match op:
        case "ord":
            return None if kind in (_F, _S, Kind.RECORD) else args[0]
        case "to_string":
            if kind is _F:
                return None
            return f"cast({unsigned_decimal(args[0]) if kind is _U else args[0]} AS string)"
        case "cat" | "+":
            return f"concat({', '.join(args)})"
        case "strlen":
            return f"cast(length({args[0]}) AS bigint)"
        case "substr":
            return _substr(*args)
    return None


def _substr(text: Sql, start: Sql, length: Sql) -> Sql:
    inside = f"{start} >= 0 AND {length} >= 0 AND {start} <= length({text})"
    begin = f"cast(least({start}, cast(length({text}) AS bigint)) + 1 AS int)"
    return f"CASE WHEN {inside} THEN substring({text}, {begin}, cast(least({length}, 2147483647L) AS int)) ELSE '' END"


# ---- conversions

_CONVERSIONS = frozenset(("itou", "utoi", "itof", "utof", "ftoi", "ftou", "to_number", "to_unsigned", "to_float"))
_FLOAT_63, _FLOAT_64 = float_literal(2.0**63), float_literal(2.0**64)


def _converted(op: str, of: Kind, value: Sql) -> Sql:
    if op in ("itof", "utof", "to_float"):
        return value if of is _F else f"cast({unsigned_decimal(value) if of is _U else value} AS double)"
    if of is not _F:
        return value  # the same bits
    if op in ("ftou", "to_unsigned"):
        return (
            f"CASE WHEN isnan({value}) OR {value} <= 0 THEN 0L WHEN {value} < {_FLOAT_63} THEN "
            f"try_cast({value} AS bigint) WHEN {value} >= {_FLOAT_64} THEN (-1L) "
            f"ELSE try_cast({value} - {_FLOAT_63} AS bigint) ^ {LEAST} END"
        )
    return (
        f"CASE WHEN isnan({value}) THEN 0L WHEN {value} >= {_FLOAT_63} THEN 9223372036854775807L "
        f"WHEN {value} <= -{_FLOAT_63} THEN {LEAST} ELSE try_cast({value} AS bigint) END"
    )


# ---- floats


def _on_floats(op: str, a: Sql, b: Sql) -> Sql | None:
    match op:
        case "+" | "-" | "*":
            return f"({a} {op} {b} + {_ZERO})"
        case "/":
            return _float_quotient(a, b)
        case "neg":
            return f"({_ZERO} - {a})"
    return None


def _float_quotient(a: Sql, b: Sql) -> Sql:
    """IEEE division; Spark's fails for a zero, or is null."""
    infinite = f"CASE WHEN {a} > 0 THEN {_INFINITY} ELSE -{_INFINITY} END"
    by_zero = f"CASE WHEN isnan({a}) OR {a} = 0 THEN {float_literal(float('nan'))} ELSE {infinite} END"
    return f"CASE WHEN {b} = 0 THEN {by_zero} ELSE try_divide({a}, {b}) + {_ZERO} END"


_ZERO = float_literal(0.0)
_INFINITY = float_literal(float("inf"))


# ---- integers


def _quotient(rule: int, op: str, kind: Kind, a: Sql, b: Sql) -> Sql:
    fault = raised(rule, f"cast({a} AS string)", f"' {op} '", f"cast({b} AS string)", "': division by zero'")
    begin = f"CASE WHEN {b} = 0 THEN cast({fault} AS bigint)"
    if kind is _U:
        x, y = unsigned_decimal(a), unsigned_decimal(b)
        if op == "/":  # what a quotient by one could be has no bigint
            return f"{begin} WHEN {b} = 1 THEN {a} ELSE ({x}) div ({y}) END"
        return f"{begin} ELSE {wrapped(f'(({x}) % ({y}))')} END"
    if op == "/":
        return f"{begin} WHEN {b} = -1 THEN {_negated(a)} ELSE {a} div {b} END"
    return f"{begin} WHEN {b} = -1 THEN 0L ELSE {a} % {b} END"


def _negated(a: Sql) -> Sql:
    return f"CASE WHEN {a} = {LEAST} THEN {a} ELSE -{a} END"


_WRAPPING = {"+": "try_add", "-": "try_subtract", "*": "try_multiply"}
_BITWISE = {"band": "&", "bor": "|", "bxor": "^"}
_LOGICAL = {"land": "AND", "lor": "OR", "lxor": "!="}


def _on_integers(op: str, kind: Kind, a: Sql, b: Sql) -> Sql | None:
    if op in _WRAPPING:
        again = f"cast({a} AS decimal(19,0)) {op} cast({b} AS decimal(19,0))"
        return f"coalesce({_WRAPPING[op]}({a}, {b}), {wrapped(again)})"
    if op in _BITWISE:
        return f"({a} {_BITWISE[op]} {b})"
    if op in _LOGICAL:
        return f"cast(({a} != 0) {_LOGICAL[op]} ({b} != 0) AS bigint)"
    match op:
        case "neg":
            return _negated(a)
        case "bnot":
            return f"(~{a})"
        case "lnot":
            return f"cast({a} = 0 AS bigint)"
        case "bshl":
            return f"shiftleft({a}, cast({b} & 63L AS int))"
        case "bshr" | "bshru":
            shift = "shiftrightunsigned" if op == "bshru" or kind is _U else "shiftright"
            return f"{shift}({a}, cast({b} & 63L AS int))"
    return None


# ---- ranges


def numbers(start: Sql, stop: Sql, step: Sql | None) -> Sql:
    """The array of range(start, stop, step) of numbers; an infinite one cannot be, since the end must lie ahead. A step
    of zero gives the start alone."""
    if step is None:
        step = f"CASE WHEN {start} <= {stop} THEN 1L ELSE -1L END"
    ahead = f"(({start} < {stop} AND ({step}) > 0) OR ({start} > {stop} AND ({step}) < 0))"
    # `sequence` ends at the stop if it meets it, and must not be asked for one that leads nowhere.
    whole = f"sequence({start}, IF({ahead}, {stop}, {start}), IF({ahead}, {step}, 1L))"
    none = f"filter(array({start}), v -> ({step}) = 0 AND v != {stop})"
    return f"IF({ahead}, filter({whole}, v -> v != {stop}), {none})"
