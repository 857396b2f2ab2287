"""Records and ADT branches as texts that DataFrame expressions can make and take apart.

`[x, y]` is `[2:`, the length of each field as nine digits, and the fields one after the other: fields are found by
position, nothing is escaped, and a list of a hundred thousand elements is no deeper than its text is long. nil and the
branches of an enumeration are the digits of their word; other branches are records of tag, fields and padding, as in
`io/codec.py`. Two records are equal exactly if their texts are: integers are decimal, unsigned ones by their bits, and
floats are hexadecimal, which Java and Python write alike (but for trailing zeros).

Cost: a record is as long as all that it contains, so a list of n elements built step by step takes n² characters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import Column
from pyspark.sql import functions as F

from tidelog.analysis.types import AdtType, RecordType, Type
from tidelog.io.record_text import (
    Made,
    MalformedRecord,
    Opened,
    Quotes,
    base_type,
    leaf_text,
    opened_branch,
    opened_record,
    parse,
    render,
)
from tidelog.spark.dataframe.faults import FactFault
from tidelog.spark.dataframe.sql import Sql
from tidelog.values import Kind, canonical

DIGITS = 9
NIL = "0"
NO_TEXT = "''"


# ---- in expressions


def pack(fields: Sequence[Sql], kinds: Sequence[Kind]) -> Sql:
    """The record with these fields."""
    texts = [_field_text(field, kind) for field, kind in zip(fields, kinds, strict=True)]
    lengths = [f"lpad(cast(length({text}) AS string), {DIGITS}, '0')" for text in texts]
    return f"concat('{_opening(len(texts))}', {', '.join([*lengths, *texts]) or NO_TEXT})"


def is_record(record: Sql, arity: int) -> Sql:
    """Whether it is one with so many fields; nil has none."""
    return f"startswith({record}, '{_opening(arity)}')"


def unpack(record: Sql, arity: int, field: int, kind: Kind) -> Sql:
    """A field of a record of that arity; of anything else, null."""
    opening = len(_opening(arity))
    lengths = [f"try_cast(substring({record}, {opening + DIGITS * i + 1}, {DIGITS}) AS int)" for i in range(field + 1)]
    start = " + ".join([str(opening + DIGITS * arity + 1), *lengths[:-1]])
    text = f"substring({record}, {start}, {lengths[-1]})"
    if kind in (Kind.SYMBOL, Kind.RECORD):
        return text
    return f"try_cast({text} AS {'double' if kind is Kind.FLOAT else 'bigint'})"


def _opening(arity: int) -> str:
    return f"[{arity}:"


def _field_text(field: Sql, kind: Kind) -> Sql:
    if kind is Kind.FLOAT:
        return f"format_string('%a', {field})"
    return f"cast({field} AS string)"


# ---- to and from Soufflé's syntax


def record_of_text(declared: Type) -> Callable[[Column], Column]:
    """Soufflé's text to ours, as a function over columns."""

    def convert(texts: pa.Array) -> pa.Array:
        return _each(texts, lambda text: _parsed(text, declared))

    return _arrow_function(convert)


def text_of_record(declared: Type) -> Callable[[Column], Column]:
    """Our text to Soufflé's."""

    def convert(records: pa.Array) -> pa.Array:
        return _each(records, lambda record: printed(record, declared))

    return _arrow_function(convert)


def _arrow_function(convert: Callable[[pa.Array], pa.Array]) -> Callable[[Column], Column]:
    convert.__annotations__ = {}  # Spark would read them
    return F.arrow_udf(convert, "string")  # type: ignore[attr-defined,no-any-return]


def _each(texts: pa.Array, function: Callable[[str], str]) -> pa.Array:
    """The function of each text, called once per distinct one."""
    coded = texts.dictionary_encode()
    values = pa.array([function(text) for text in coded.dictionary.to_pylist()], pa.string())
    return values.take(coded.indices)


def _parsed(text: str, declared: Type) -> str:
    try:
        found = parse(text, declared, _made)
    except MalformedRecord as problem:
        raise FactFault(f"`{text}` is not a `{declared.name}`: {problem}") from None
    return NIL if found is None else str(found)


def _made(made: Made, values: list[Any]) -> str:
    """The text of a record or branch whose records are texts already."""
    texts = [_python_text(value, base_type(t).kind) for value, t in zip(values, made.types, strict=True)]
    if isinstance(made, RecordType):
        return joined(texts)
    if made.adt.is_enum:
        return str(made.tag)
    return joined([str(made.tag), *texts, *["0"] * (made.adt.width - 1 - len(texts))])


def joined(texts: Sequence[str]) -> str:
    return "".join((_opening(len(texts)), *(f"{len(text):0{DIGITS}}" for text in texts), *texts))


def split(record: str) -> list[str]:
    """The texts of a record's fields."""
    colon = record.index(":")
    arity = int(record[1:colon])
    place = colon + 1 + DIGITS * arity
    fields = []
    for i in range(arity):
        length = int(record[colon + 1 + DIGITS * i : colon + 1 + DIGITS * (i + 1)])
        fields.append(record[place : place + length])
        place += length
    return fields


def _python_text(value: Any, kind: Kind) -> str:
    """A field as `_field_text` has it."""
    if value is None:
        return NIL
    if kind is Kind.UNSIGNED and value >= 2**63:
        value -= 2**64
    return _java_hexadecimal(canonical(value)) if kind is Kind.FLOAT else str(value)


def _java_hexadecimal(value: float) -> str:
    if value != value:
        return "NaN"
    if value in (float("inf"), float("-inf")):
        return "Infinity" if value > 0 else "-Infinity"
    mantissa, exponent = value.hex().split("p")
    whole, _, fraction = mantissa.partition(".")
    return f"{whole}.{fraction.rstrip('0') or '0'}p{int(exponent)}"


def _java_float(text: str) -> float:
    return float(text) if text in ("NaN", "Infinity", "-Infinity") else float.fromhex(text)


def printed(record: str, declared: Type) -> str:
    """Soufflé's text of a record."""
    print_leaf = leaf_text(Quotes.NEEDED)

    def take_apart(kind: Type, text: str) -> Opened | str:
        if isinstance(kind, RecordType):
            return "nil" if text == NIL else opened_record(kind, split(text))
        assert isinstance(kind, AdtType)
        tag, *fields = [text] if kind.is_enum else split(text)
        branch = next(b for b in kind.branches.values() if b.tag == int(tag))
        return opened_branch(branch, fields[: len(branch.types)])

    def leaf(kind: Kind, text: str) -> str:
        match kind:
            case Kind.SYMBOL:
                return print_leaf(kind, text)
            case Kind.FLOAT:
                return print_leaf(kind, _java_float(text))
            case Kind.UNSIGNED:
                return str(int(text) % 2**64)
        return text

    return render(base_type(declared), record, take_apart, leaf)
