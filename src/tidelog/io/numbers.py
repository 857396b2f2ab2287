"""Numbers as text: what fact files may contain, and how results are printed.

Integers are decimal, hexadecimal (0x…) or binary (0b…) with an optional sign; floats are what C's strtod takes.
Floats are printed with 17 significant digits as Soufflé prints them (C's %.17g), which reads back as the same float.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from tidelog.arrow import pc
from tidelog.values import Kind, fits

ARROW_TYPES = {
    Kind.NUMBER: pa.int64(),
    Kind.UNSIGNED: pa.uint64(),
    Kind.FLOAT: pa.float64(),
    Kind.SYMBOL: pa.string(),
    Kind.RECORD: pa.string(),
}

_INTEGER = re.compile(r"[ \t]*([+-]?)(?:0x([0-9a-fA-F]+)|0b([01]+)|([0-9]+))[ \t]*")
_FLOAT = re.compile(r"[ \t]*[+-]?(?:inf(?:inity)?|nan|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?)[ \t]*", re.I)
_HEX_FLOAT = re.compile(r"[ \t]*[+-]?0x(?:[0-9a-f]+\.?[0-9a-f]*|\.[0-9a-f]+)(?:p[+-]?[0-9]+)?[ \t]*", re.I)
_NAMES = {Kind.NUMBER: "a number", Kind.UNSIGNED: "an unsigned number", Kind.FLOAT: "a float"}


class NotANumber(ValueError):
    """A text that is no value of the kind; `str()` says why, to be read after the text itself."""


def number_of(text: str, kind: Kind) -> int | float:
    """The value that a text stands for."""
    if kind is Kind.FLOAT:
        return _float_of(text)
    if len(text) < 19 and text.isdigit() and text.isascii():
        return int(text)
    match = _INTEGER.fullmatch(text)
    if match is None:
        raise NotANumber("is empty" if not text.strip() else f"is not {_NAMES[kind]}")
    sign, hexadecimal, binary, decimal = match.groups()
    if hexadecimal:
        value = int(hexadecimal, 16)
    elif binary:
        value = int(binary, 2)
    else:
        value = _decimal(decimal)
    if sign == "-":
        if kind is Kind.UNSIGNED:
            raise NotANumber("is not an unsigned number: it has a minus sign")
        value = -value
    if not fits(kind, value):
        raise NotANumber("does not fit into 64 bits")
    return value


def _decimal(digits: str) -> int:
    """Python refuses to read very long integers; those do not fit into 64 bits anyway."""
    digits = digits.lstrip("0") or "0"
    return int(digits[:30])


def _float_of(text: str) -> float:
    if _HEX_FLOAT.fullmatch(text):
        try:
            return float.fromhex(text)
        except OverflowError:
            raise NotANumber("is too large for a float") from None
    if not _FLOAT.fullmatch(text):
        raise NotANumber("is empty" if not text.strip() else "is not a float")
    value = float(text)
    if value in (float("inf"), float("-inf")) and "inf" not in text.lower():
        raise NotANumber("is too large for a float")
    return value


def numbers_of(texts: pa.ChunkedArray, kind: Kind) -> pa.ChunkedArray:
    """The values of a column of texts, null where a text is no number. Only texts that are not plain are slow."""
    plain = pc.match_substring_regex(texts, "^[0-9]{1,18}$") if kind is not Kind.FLOAT else None
    if plain is None or not pc.any(plain).as_py():
        return _each(texts, kind)
    values = pc.cast(pc.if_else(plain, texts, "0"), ARROW_TYPES[kind])
    if pc.all(plain).as_py():
        return values
    return pa.chunked_array(
        [
            pc.replace_with_mask(
                values.combine_chunks(),
                pc.invert(plain).combine_chunks(),
                _each(texts.filter(pc.invert(plain)), kind).combine_chunks(),
            )
        ]
    )


def _each(texts: pa.ChunkedArray, kind: Kind) -> pa.ChunkedArray:
    """Each distinct text is looked at once."""
    distinct = pc.unique(texts)
    values = pa.array([_or_none(text, kind) for text in distinct.to_pylist()], ARROW_TYPES[kind])
    return pa.chunked_array([values.take(chunk) for chunk in pc.index_in(texts, distinct).chunks], ARROW_TYPES[kind])


def _or_none(text: str, kind: Kind) -> int | float | None:
    try:
        return number_of(text, kind)
    except NotANumber:
        return None


def float_text(value: float) -> str:
    return f"{value:.17g}"


def float_texts(values: Sequence[float] | np.ndarray) -> pa.Array:
    """The texts of many floats."""
    found = []
    for start in range(0, len(values), 65536):
        part = values[start : start + 65536]
        items = part.tolist() if isinstance(part, np.ndarray) else part
        found += (("%.17g\n" * len(items)) % tuple(items)).split("\n")[:-1]
    return pa.array(found, pa.string())
