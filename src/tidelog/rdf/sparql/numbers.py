"""Numbers of SPARQL: integers, decimals, floats and doubles, promoted to each other as XPath says.

A value is an `int`, a `Decimal`, a `Single` or a `float`, in the order of promotion. Integers are exact whatever their
size; a quotient of decimals has 18 digits behind the point, as in other systems; what has no result is None.
"""

from __future__ import annotations

import math
import re
from decimal import ROUND_CEILING, ROUND_DOWN, ROUND_FLOOR, Context, Decimal, DecimalException, InvalidOperation
from typing import TypeAlias

import numpy as np

XSD = "http://www.w3.org/2001/XMLSchema#"


class Single(float):
    """A number of 32 bits."""

    def __new__(cls, value: float | str) -> Single:
        with np.errstate(over="ignore"):
            return super().__new__(cls, float(np.float32(value)))


Number: TypeAlias = int | Decimal | Single | float

TYPES = {int: XSD + "integer", Decimal: XSD + "decimal", Single: XSD + "float", float: XSD + "double"}
_RANK = {int: 0, Decimal: 1, Single: 2, float: 3}

_BOUNDS: dict[str, tuple[int | None, int | None]] = {
    "integer": (None, None), "nonPositiveInteger": (None, 0), "negativeInteger": (None, -1),
    "nonNegativeInteger": (0, None), "positiveInteger": (1, None),
    "long": (-(2**63), 2**63 - 1), "int": (-(2**31), 2**31 - 1), "short": (-(2**15), 2**15 - 1), "byte": (-128, 127),
    "unsignedLong": (0, 2**64 - 1), "unsignedInt": (0, 2**32 - 1), "unsignedShort": (0, 2**16 - 1),
    "unsignedByte": (0, 255),
}  # fmt: skip
NUMERIC = frozenset(XSD + name for name in (*_BOUNDS, "decimal", "float", "double"))

_INTEGER = re.compile(r"[+-]?[0-9]+")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)")
_DOUBLE = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?INF|NaN")
_EXACT = Context(prec=80)
_LAST_DIGIT = Decimal(1).scaleb(-18)


def parse_number(lexical: str, datatype: str) -> Number | None:
    """The value of a literal of a numeric type, None if its text is malformed."""
    name = datatype.removeprefix(XSD)
    try:
        if name == "decimal":
            return Decimal(lexical) if _DECIMAL.fullmatch(lexical) else None
        if name in ("double", "float"):
            if not _DOUBLE.fullmatch(lexical):
                return None
            return float(lexical) if name == "double" else Single(float(lexical))
        if not _INTEGER.fullmatch(lexical):
            return None
        value, (least, most) = int(lexical), _BOUNDS[name]
    except (ValueError, DecimalException):  # thousands of digits
        return None
    return None if (least is not None and value < least) or (most is not None and value > most) else value


def format_number(value: Number) -> str:
    """The canonical text of a number, without its type."""
    if isinstance(value, int):
        return str(value)
    if isinstance(value, Decimal):
        text = format(value, "f")
        text = text.rstrip("0").rstrip(".") if "." in text else text
        return "0" if text in ("-0", "") else text
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "INF" if value > 0 else "-INF"
    kept = np.float32(value) if isinstance(value, Single) else np.float64(value)
    mantissa, _, exponent = np.format_float_scientific(kept, trim="0").partition("e")
    return f"{mantissa}E{int(exponent)}"


def as_double(value: Number) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.copysign(math.inf, value)


def promoted(a: Number, b: Number) -> tuple[Number, Number]:
    """Both as the more general of their types."""
    kind = max(type(a), type(b), key=_RANK.__getitem__)
    return _promote(a, kind), _promote(b, kind)


def _promote(value: Number, kind: type) -> Number:
    if type(value) is kind:
        return value
    if kind is Decimal:
        return Decimal(value)
    return Single(as_double(value)) if kind is Single else as_double(value)


def arithmetic(op: str, a: Number, b: Number) -> Number | None:
    """a op b; None for what has no result, such as a division of integers by zero."""
    if op == "/" and isinstance(a, int) and isinstance(b, int):
        a, b = Decimal(a), Decimal(b)
    a, b = promoted(a, b)
    try:
        if isinstance(a, Decimal):
            assert isinstance(b, Decimal)
            return _decimal(op, a, b)
        found = _divide(float(a), float(b)) if op == "/" else _basic(op, a, b)
    except (InvalidOperation, DecimalException):
        return None
    return Single(float(found)) if isinstance(a, Single) else found


def _basic(op: str, a: Number, b: Number) -> Number:
    if op == "+":
        return a + b  # type: ignore[operator]
    return a - b if op == "-" else a * b  # type: ignore[operator]


def _decimal(op: str, a: Decimal, b: Decimal) -> Decimal | None:
    match op:
        case "+":
            return _EXACT.add(a, b)
        case "-":
            return _EXACT.subtract(a, b)
        case "*":
            return _EXACT.multiply(a, b)
    if not b:
        return None
    return _EXACT.divide(a, b).quantize(_LAST_DIGIT, ROUND_DOWN, _EXACT)


def _divide(a: float, b: float) -> float:
    if b:
        return a / b
    if a == 0 or math.isnan(a) or math.isnan(b):
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1, b)


def negated(value: Number) -> Number:
    return Single(-value) if isinstance(value, Single) else -value


def absolute(value: Number) -> Number:
    return negated(value) if value < 0 else value


def rounded(value: Number, how: str) -> Number:
    """CEIL, FLOOR or ROUND, which takes a half up; the type stays."""
    if isinstance(value, int):
        return value
    if isinstance(value, Decimal):
        if how == "ROUND":
            return (value + Decimal("0.5")).to_integral_value(ROUND_FLOOR)
        return value.to_integral_value(ROUND_CEILING if how == "CEIL" else ROUND_FLOOR)
    if math.isnan(value) or math.isinf(value):
        return value
    whole = math.ceil(value) if how == "CEIL" else math.floor(value)
    if how == "ROUND" and value - whole >= 0.5:
        whole += 1
    found = math.copysign(float(whole), value) if whole == 0 else float(whole)
    return Single(found) if isinstance(value, Single) else found


def is_true(value: Number) -> bool:
    return not (value == 0 or value != value)
