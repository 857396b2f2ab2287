"""Records and branches given as Python values or JSON, turned into text.

A record is a tuple or list of its fields, a dict, named tuple, Spark row or data class of them by name, or None for
nil. A branch is its text, or a tuple or list that begins with its name: `("$Node", left, right)`. Inside, numbers are
numbers and symbols are strings.
"""

from __future__ import annotations

from typing import Any

from tidelog.analysis.types import AdtType, RecordType, Type
from tidelog.io.columns import names_of_row, values_of_row
from tidelog.io.record_text import (
    BranchValue,
    Made,
    MalformedRecord,
    Opened,
    Quotes,
    leaf_text,
    opened_branch,
    opened_record,
    parse,
    render,
)
from tidelog.values import Kind, fits

_LEAF = leaf_text(Quotes.NEEDED)


def text_of_python(value: Any, declared: Type) -> str:
    """The text of a record or branch; ValueError says what does not fit."""
    return render(declared, value, _take_apart, _leaf)


def python_value(made: Made, values: list[Any]) -> tuple[Any, ...]:
    """A parsed record or branch as a tuple, such as `text_of_python` takes."""
    return tuple(values) if isinstance(made, RecordType) else (f"${made.name}", *values)


def _take_apart(declared: Type, value: Any) -> Opened | str:
    if isinstance(declared, RecordType):
        return _record(declared, value)
    assert isinstance(declared, AdtType)
    if isinstance(value, str):
        value = _parsed(declared, value)
    if isinstance(value, BranchValue):
        return opened_branch(value.branch, value.values)
    if isinstance(value, (list, tuple)) and value and isinstance(value[0], str):
        branch = declared.branches.get(value[0].removeprefix("$"))
        if branch is not None:
            if len(value) - 1 != len(branch.types):
                raise ValueError(f"{len(value) - 1} values for the {len(branch.types)} fields of `${branch.name}`")
            return opened_branch(branch, value[1:])
    raise ValueError(f"{shown(value)} is not a branch of type `{declared.name}`")


def _record(declared: RecordType, value: Any) -> Opened | str:
    if value is None:
        return "nil"
    if isinstance(value, str):
        value = _parsed(declared, value)
        return "nil" if value is None else opened_record(declared, value)
    if type(value) not in (tuple, list) and (names := names_of_row(value)) is not None:
        value = dict(zip(names, values_of_row(value, names), strict=True))
        if set(value) != set(declared.fields):
            raise ValueError(
                f"{shown(value)} does not have the fields {', '.join(declared.fields)} of `{declared.name}`"
            )
        value = [value[name] for name in declared.fields]
    if not isinstance(value, (list, tuple)):
        raise ValueError(f"{shown(value)} is not a record of type `{declared.name}`")
    if len(value) != len(declared.types):
        raise ValueError(f"{len(value)} values for the {len(declared.types)} fields of `{declared.name}`")
    return opened_record(declared, value)


def _parsed(declared: Type, text: str) -> Any:
    try:
        return parse(text, declared)
    except MalformedRecord as problem:
        raise ValueError(f"`{text}` is not a `{declared.name}`: {problem}") from None


def _leaf(kind: Kind, value: Any) -> str:
    if kind is Kind.SYMBOL:
        good = isinstance(value, str)
    elif kind is Kind.FLOAT:
        good = isinstance(value, (int, float)) and not isinstance(value, bool)
        value = float(value) if good else value
    else:
        good = isinstance(value, int) and not isinstance(value, bool)
        if good and not fits(kind, value):
            raise OverflowError(f"{shown(value)} does not fit into 64 bits")
    if not good:
        raise ValueError(f"{shown(value)} is not a {kind.value}")
    return _LEAF(kind, value)


def shown(value: Any) -> str:
    """A value for a message, cut short."""
    try:
        text = repr(value)
    except RecursionError:
        text = "a deeply nested value"
    return text if len(text) <= 60 else text[:59] + "…"
