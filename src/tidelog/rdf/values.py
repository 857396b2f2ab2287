"""What literals stand for: numbers, truth values, points in time, texts; how they compare, and how they add up.

What is always true: integers and decimals are exact; the value of a term is worked out once and kept. What has no value
of these kinds compares with nothing but itself.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache
from typing import Any

from tidelog.lang.rules import XSD
from tidelog.rdf.terms import STRING, literal, parse_literal

ERROR = ""
INTEGER, DECIMAL, FLOAT, DOUBLE, BOOLEAN = (XSD + name for name in ("integer", "decimal", "float", "double", "boolean"))
DATE, DATE_TIME = XSD + "date", XSD + "dateTime"
_SIZES = {"long": 64, "int": 32, "short": 16, "byte": 8}
INTEGERS: dict[str, tuple[int | None, int | None]] = {
    XSD + "integer": (None, None), XSD + "nonNegativeInteger": (0, None), XSD + "positiveInteger": (1, None),
    XSD + "nonPositiveInteger": (None, 0), XSD + "negativeInteger": (None, -1),
    **{XSD + name: (-(1 << bits - 1), (1 << bits - 1) - 1) for name, bits in _SIZES.items()},
    **{XSD + f"unsigned{name.capitalize()}": (0, (1 << bits) - 1) for name, bits in _SIZES.items()},
}  # fmt: skip
"""The datatypes of integers, with the least and the greatest of their values."""
KNOWN = {*INTEGERS, DECIMAL, FLOAT, DOUBLE, BOOLEAN, DATE, DATE_TIME}
LOW_BITS = 31
Number = int | Decimal | float
Value = Number | bool | datetime | str

_INTEGER = re.compile(r"[+-]?[0-9]+")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)")
_DOUBLE = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?INF|NaN")


@lru_cache(1 << 20)
def value(term: str) -> Value | None:
    """What a literal stands for: a number, a truth value, a point in time, or a text; None for everything else."""
    found = parse_literal(term)
    if found is None:
        return None
    text, datatype = found.text.strip(), found.datatype
    if datatype in INTEGERS:
        return _whole(text, *INTEGERS[datatype])
    if datatype == DECIMAL:
        return Decimal(text) if _DECIMAL.fullmatch(text) else None
    if datatype in (FLOAT, DOUBLE):
        return float(text.replace("INF", "inf")) if _DOUBLE.fullmatch(text) else None
    if datatype == BOOLEAN:
        return {"true": True, "1": True, "false": False, "0": False}.get(text)
    if datatype in (DATE, DATE_TIME):
        return _moment(text)
    return found.text if datatype == STRING else None


def _whole(text: str, least: int | None, greatest: int | None) -> int | None:
    if not _INTEGER.fullmatch(text):
        return None
    found = int(text)
    return None if (least is not None and found < least) or (greatest is not None and found > greatest) else found


def _moment(text: str) -> datetime | None:
    """A date or time; one without a time zone is taken as UTC, so that all can be compared."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def number(term: str) -> Number | None:
    found = value(term)
    return found if isinstance(found, (int, Decimal, float)) and not isinstance(found, bool) else None


def term_of(found: Number | bool) -> str:
    """The literal of a number or a truth value."""
    if isinstance(found, bool):
        return literal("true" if found else "false", BOOLEAN)
    if isinstance(found, int):
        return literal(str(found), INTEGER)
    if isinstance(found, Decimal):
        text = format(found, "f")
        text = text.rstrip("0").rstrip(".") if "." in text else text
        return literal(text if "." in text else f"{text}.0", DECIMAL)
    if not math.isfinite(found):
        return literal("NaN" if math.isnan(found) else "INF" if found > 0 else "-INF", DOUBLE)
    mantissa, _, exponent = f"{found:.16e}".partition("e")
    short = repr(found)
    if "e" in short:
        mantissa, _, exponent = short.partition("e")
    else:
        mantissa, exponent = _scientific(short)
    return literal(f"{mantissa if '.' in mantissa else mantissa + '.0'}E{int(exponent)}", DOUBLE)


def _scientific(plain: str) -> tuple[str, str]:
    digits = Decimal(plain).as_tuple()
    shown = "".join(map(str, digits.digits)).rstrip("0") or "0"
    exponent = len(digits.digits) - 1 + int(digits.exponent)
    sign = "-" if digits.sign else ""
    return f"{sign}{shown[0]}.{shown[1:] or '0'}", str(exponent if shown != "0" else 0)


# ---- comparison


def compared(left: str, right: str) -> int | None:
    """-1, 0 or 1; 2 for values that differ and have no order; None if they cannot be compared."""
    if not left or not right:
        return None
    if left == right:
        return 0 if left != '"NaN"^^<' + DOUBLE + ">" else 2
    if not (left.startswith('"') and right.startswith('"')):
        return 2
    a: Any = value(left)
    b: Any = value(right)
    if a is None or b is None:
        return 2 if language_of(left) or language_of(right) else None
    if _family(a) != _family(b):
        return None
    if isinstance(a, float) or isinstance(b, float):
        a, b = float(a), float(b)
        if math.isnan(a) or math.isnan(b):
            return 2
    return int(a > b) - int(a < b)


def _family(found: Value) -> str:
    if isinstance(found, bool):
        return "truth"
    return "number" if isinstance(found, (int, Decimal, float)) else type(found).__name__


def language_of(term: str) -> str:
    found = parse_literal(term)
    return found.language if found else ""


OPERATORS: dict[str, Callable[[int], bool]] = {
    "eq": lambda c: c == 0, "ne": lambda c: c != 0, "lt": lambda c: c == -1, "le": lambda c: c in (-1, 0),
    "gt": lambda c: c == 1, "ge": lambda c: c in (0, 1),
}  # fmt: skip


def compare(op: str, left: str, right: str) -> int:
    """1 if the comparison holds, 0 if it does not, 2 if it is an error."""
    found = compared(left, right)
    if found is None or (found == 2 and op not in ("eq", "ne")):
        return 2
    return int(OPERATORS[op](found))


# ---- aggregates: numbers in parts that the engine can add up


def kind(term: str) -> int:
    """0 for an integer, 1 for a decimal, 2 for a double, 3 for what is no number: the largest decides about a sum."""
    found = number(term)
    return 3 if found is None else 0 if isinstance(found, int) else 1 if isinstance(found, Decimal) else 2


def high(term: str) -> int:
    """The integer part of a number, without its last 31 bits: sums of both parts cannot overflow."""
    return _integer_part(term) >> LOW_BITS


def low(term: str) -> int:
    return _integer_part(term) & ((1 << LOW_BITS) - 1)


def _integer_part(term: str) -> int:
    found = number(term)
    whole = int(found) if isinstance(found, (int, Decimal)) else 0
    if not -(1 << 62) <= whole < 1 << 62:
        raise OverflowError(f"{term} is too large to be added up exactly")
    return whole


def billionths(term: str) -> int:
    found = number(term)
    return int((found - int(found)).scaleb(9)) if isinstance(found, Decimal) else 0


def real(term: str) -> float:
    found = number(term)
    return found if isinstance(found, float) else 0.0


def place(term: str) -> float:
    """Where a number, a truth value or a point in time stands among its like."""
    found = value(term)
    if isinstance(found, datetime):
        return found.timestamp()
    return 0.0 if found is None or isinstance(found, str) else float(found)


def unordered(term: str) -> int:
    return int(value(term) is None or isinstance(value(term), str))


def total(kinds: int, highs: int, lows: int, parts: int, count: int, reals: float) -> str:
    """The sum of numbers, given the largest of their kinds and the sums of their parts."""
    if kinds == 3:
        return ERROR
    exact = _exact(highs, lows, parts)
    return term_of(int(exact) if kinds == 0 else exact if kinds == 1 else float(exact) + reals)


def mean(kinds: int, highs: int, lows: int, parts: int, count: int, reals: float) -> str:
    if kinds == 3:
        return ERROR
    exact = _exact(highs, lows, parts)
    return term_of(exact / count if kinds < 2 else (float(exact) + reals) / count)


def _exact(highs: int, lows: int, parts: int) -> Decimal:
    return Decimal((highs << LOW_BITS) + lows) + Decimal(parts).scaleb(-9)


def integer(found: int) -> str:
    return term_of(found)
