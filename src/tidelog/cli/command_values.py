"""Values of the command language, as the Python data that facts are made of, and tuples as DDlog writes them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, repeat
from typing import Any

from tidelog.analysis.types import AdtType, RecordType, RelationInfo, Type, TypeSystem
from tidelog.cli.commands import Struct
from tidelog.errors import error
from tidelog.io.order import sorted_table
from tidelog.io.record_text import base_type
from tidelog.lang.escapes import escape
from tidelog.values import Kind


def row_of(value: Any, info: RelationInfo, types: TypeSystem) -> Any:
    """A fact's arguments as a row; what does not fit is left as it is for the checks of facts to find."""
    declared = [types.types[name] for name in info.types]
    if isinstance(value, Struct):
        value = value.fields
    if isinstance(value, Mapping):
        by_name = dict(zip(info.attributes, declared, strict=True))
        return {name: _python(v, by_name.get(name)) for name, v in value.items()}
    if not isinstance(value, (tuple, list)):
        value = (value,)
    return tuple(_each(value, declared))


def _python(value: Any, declared: Type | None) -> Any:
    base = base_type(declared) if declared is not None else None
    if isinstance(base, RecordType):
        fields = value.fields if isinstance(value, Struct) else value
        if isinstance(fields, Mapping):
            return {name: _python(v, _field(base, name)) for name, v in fields.items()}
        if isinstance(fields, (tuple, list)):
            return tuple(_each(fields, base.types))
    elif isinstance(base, AdtType) and isinstance(value, Struct):
        return _branch(value, base)
    return value


def _branch(value: Struct, adt: AdtType) -> Any:
    """The name of a branch and its fields in order."""
    branch = adt.branches.get(value.name)
    if branch is None:
        return f"${value.name}"
    fields = value.fields
    if isinstance(fields, Mapping):
        if set(fields) != set(branch.fields):
            wanted = ", ".join(branch.fields) or "none"
            raise error(
                "TL1113", f"`{branch.name}` does not have the fields {', '.join(fields)}", help=f"it has {wanted}"
            )
        fields = tuple(fields[name] for name in branch.fields)
    return (f"${branch.name}", *_each(fields, branch.types))


def _each(values: Iterable[Any], types: Iterable[Type]) -> Iterator[Any]:
    """The values as their types say; those too many stay as they are, to be complained of."""
    return (_python(v, t) for v, t in zip(values, chain(types, repeat(None)), strict=False))


def _field(record: RecordType, name: str) -> Type | None:
    return record.types[record.fields.index(name)] if name in record.fields else None


def tuples_of(table: Any) -> list[tuple[Any, ...]]:
    """The rows of an Arrow table."""
    if not table.num_columns:
        return [()] * table.num_rows
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def shown_tuples(info: RelationInfo, rows: Iterable[tuple[Any, ...]]) -> Iterator[str]:
    """`path{.from = 1, .to = "b"}`."""
    for row in rows:
        fields = (f".{name} = {value}" for name, value in zip(info.attributes, shown(info, row), strict=True))
        yield f"{info.name}{{{', '.join(fields)}}}"


def shown_answers(info: RelationInfo, table: Any) -> Iterator[str]:
    """`X = 1, Y = "b"` for each answer; `true` if there are no variables, `false` if there are no answers."""
    rows = tuples_of(sorted_table(table))
    for row in rows if info.arity else ():
        yield ", ".join(f"{name} = {value}" for name, value in zip(info.attributes, shown(info, row), strict=True))
    if not rows or not info.arity:
        yield "true" if rows else "false"


def shown(info: RelationInfo, row: tuple[Any, ...]) -> list[str]:
    """The values of a tuple: symbols in quotes, records as Soufflé writes them."""
    return [escape(value) if kind is Kind.SYMBOL else str(value) for kind, value in zip(info.kinds, row, strict=True)]
