"""Facts given as Python data: rows, columns, data frames and Arrow tables, checked against a relation.

`table_of` accepts a list of rows (tuples, lists or dicts), a dict of columns, a two-dimensional numpy array, and
anything that hands out Arrow data (pandas, polars, Arrow itself). The result has the relation's attributes as its
columns, in order, of the types that `ARROW_TYPES` says; nothing is null, wrapped around, rounded or cut off.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tidelog.analysis.types import RelationInfo, Type, TypeSystem
from tidelog.errors import Diagnostic, TidelogError, error
from tidelog.io.flat_records import not_plain
from tidelog.io.numbers import ARROW_TYPES
from tidelog.io.record_text import Malformed, parse
from tidelog.io.record_values import shown, text_of_python
from tidelog.values import Kind, fits

Problem: TypeAlias = Callable[[str, str, int], None]  # code, message, row counted from 0
_LIMIT = 20


def nullary_table(holds: bool) -> pa.Table:
    """The facts of a relation without attributes: one row without columns, or none."""
    return pa.table({"": pa.array([True] if holds else [], pa.bool_())}).select([])


def table_of(data: Any, info: RelationInfo, types: TypeSystem | None = None) -> pa.Table:
    """The data as facts of the relation; raises TL063x for all that does not fit. `types` is for records."""
    found: list[Diagnostic] = []
    count = 0

    def problem(code: str, message: str, row: int) -> None:
        nonlocal count
        count += 1
        if count <= _LIMIT:
            found.append(Diagnostic(code, f"facts of relation `{info.name}`, row {row + 1}: {message}"))

    table = _table(data, info, types, problem)
    if count > _LIMIT:
        found.append(Diagnostic("TL0629", f"facts of relation `{info.name}`: {count - _LIMIT:,} more malformed rows"))
    if found:
        raise TidelogError(found)
    return table


def _table(data: Any, info: RelationInfo, types: TypeSystem | None, problem: Problem) -> pa.Table:
    if isinstance(data, (pa.RecordBatch, pa.Table)) or hasattr(data, "__arrow_c_stream__"):
        return table_of_arrow(pa.table(data), info, types, problem)
    if isinstance(data, np.ndarray) and data.ndim == 2:
        if data.shape[1] != info.arity:
            raise _wrong_arity(info, data.shape[1])
        return table_of_arrow(pa.table(list(data.T), names=list(info.attributes)), info, types, problem)
    if isinstance(data, Mapping):
        columns = _named(data, info)
        lengths = {len(c) for c in columns}
        if len(lengths) > 1:
            raise error("TL0631", f"facts of relation `{info.name}`: the columns have different lengths")
        return _of_columns(columns, info, types, problem)
    if isinstance(data, Iterable) and not isinstance(data, (str, bytes)):
        return table_of_rows(list(data), info, types, problem)
    raise error(
        "TL0632",
        f"facts of relation `{info.name}` cannot be taken from a {type(data).__name__}",
        help="give a list of rows, a dict of columns, a data frame or an Arrow table",
    )


def _named(data: Mapping[Any, Any], info: RelationInfo) -> list[Any]:
    missing = [a for a in info.attributes if a not in data]
    extra = [k for k in data if k not in info.attributes]
    if missing or extra:
        what = [f"no column `{a}`" for a in missing] + [f"an unknown column `{k}`" for k in extra]
        raise error(
            "TL0631",
            f"facts of relation `{info.name}`: {', '.join(what)}",
            help=f"its attributes are {', '.join(info.attributes)}",
        )
    return [data[a] for a in info.attributes]


def _wrong_arity(info: RelationInfo, width: int) -> TidelogError:
    values = "1 value" if width == 1 else f"{width} values"
    message = f"facts of relation `{info.name}`: rows of {values}, but it has {info.arity} attributes"
    return error("TL0631", message, help=f"its attributes are {', '.join(info.attributes) or 'none'}")


def table_of_rows(rows: Sequence[Any], info: RelationInfo, types: TypeSystem | None, problem: Problem) -> pa.Table:
    """Rows of Python values as a table; those that do not fit go to `problem` and are left out."""
    arity, good, origin = info.arity, [], []
    single = arity == 1
    for number, row in enumerate(rows):
        if isinstance(row, Mapping):
            try:
                row = tuple(_named(row, info))
            except TidelogError as bad:
                problem("TL0631", bad.diagnostics[0].message.partition(": ")[2], number)
                continue
        if isinstance(row, (tuple, list)) and len(row) == arity:
            good.append(row)
            origin.append(number)
        elif single and isinstance(row, (str, int, float)):
            good.append((row,))
            origin.append(number)
        else:
            size = len(row) if isinstance(row, (tuple, list)) else 1
            problem("TL0631", f"{size} value{'s' * (size != 1)} for {arity} attribute{'s' * (arity != 1)}", number)
    if not arity:
        return nullary_table(bool(good))
    columns = list(zip(*good, strict=True)) or [()] * arity
    return _of_columns(columns, info, types, problem, origin)


def _of_columns(
    columns: Sequence[Any],
    info: RelationInfo,
    types: TypeSystem | None,
    problem: Problem,
    origin: Sequence[int] | None = None,
) -> pa.Table:
    """Columns of Python values as a table; `origin` has the rows' numbers in the user's data."""
    arrays, keep = [], None
    for i, values in enumerate(columns):
        declared = None if types is None else types.types[info.types[i]]
        if isinstance(values, (pa.Array, pa.ChunkedArray, np.ndarray)):
            array, bad = checked_arrow(
                pa.chunked_array([pa.array(values)]) if isinstance(values, np.ndarray) else values,
                info.kinds[i],
                declared,
            )
        else:
            array, bad = checked_values(list(values), info.kinds[i], declared)
        for row, (code, message) in bad.items():
            problem(code, f"attribute `{info.attributes[i]}`: {message}", origin[row] if origin is not None else row)
            keep = np.ones(len(array), bool) if keep is None else keep
            keep[row] = False
        arrays.append(array)
    table = pa.table(arrays, names=list(info.attributes))
    return table if keep is None else table.filter(pa.array(keep))


Bad: TypeAlias = dict[int, tuple[str, str]]
_PLAIN: dict[Kind, set[type]] = {Kind.NUMBER: {int}, Kind.UNSIGNED: {int}, Kind.FLOAT: {float}, Kind.SYMBOL: {str}}


def checked_values(values: list[Any], kind: Kind, declared: Type | None) -> tuple[pa.Array, Bad]:
    """Python values as an Arrow array, null where one is no value of the kind; and what is wrong with those."""
    arrow = ARROW_TYPES[kind]
    if kind is not Kind.RECORD and set(map(type, values)) <= _PLAIN[kind]:
        try:
            return pa.array(values, arrow), {}
        except (OverflowError, UnicodeEncodeError, pa.ArrowInvalid):
            pass  # the loop below finds out which one
    bad: Bad = {}
    found: list[Any] = []
    known: dict[str, str | None] = {}
    for row, value in enumerate(values):
        try:
            found.append(_value(value, kind, declared, known))
        except (ValueError, OverflowError) as problem:
            found.append(None)
            bad[row] = ("TL0633" if isinstance(problem, OverflowError) else "TL0632", str(problem))
    return pa.array(found, arrow), bad


def _value(value: Any, kind: Kind, declared: Type | None, known: dict[str, str | None]) -> Any:
    """A Python value as one of the kind; ValueError if it is of another type, OverflowError if it does not fit."""
    if isinstance(value, np.generic):
        value = value.item()
    if kind is Kind.RECORD:
        return _record(value, declared, known)
    if kind is Kind.SYMBOL:
        if not isinstance(value, str):
            raise ValueError(f"{shown(value)} is not a symbol")
        try:
            value.encode()
        except UnicodeEncodeError:
            raise ValueError(f"{shown(value)} has characters that are not valid text") from None
        return value
    if isinstance(value, bool) or not isinstance(value, int if kind is not Kind.FLOAT else (int, float)):
        raise ValueError(f"{shown(value)} is not {'a float' if kind is Kind.FLOAT else 'a number'}")
    if kind is Kind.FLOAT:
        if isinstance(value, int) and float(value) != value:
            raise OverflowError(f"{shown(value)} is not exactly a float")
        return float(value)
    assert isinstance(value, int)
    if not fits(kind, value):
        raise OverflowError(
            f"{shown(value)} does not fit into 64 bits"
            if value > 0 or kind is Kind.NUMBER
            else f"{shown(value)} is negative"
        )
    return value


def _record(value: Any, declared: Type | None, known: dict[str, str | None]) -> str:
    if isinstance(value, str):
        if declared is not None and value not in known:
            try:
                parse(value, declared)
            except Malformed as problem:
                raise ValueError(f"`{value}` is not a `{declared.name}`: {problem}") from None
            known[value] = None
        return value
    if declared is None:
        raise ValueError("a record must be given as text, such as `[1, nil]`")
    return text_of_python(value, declared)


def table_of_arrow(table: pa.Table, info: RelationInfo, types: TypeSystem | None, problem: Problem) -> pa.Table:
    """An Arrow table as facts: its columns by the attributes' names if it has them all, else by position."""
    names = [n for n in table.column_names if not n.startswith("__index_level_")]
    if set(info.attributes) <= set(names):
        names = list(info.attributes)
    elif len(names) != info.arity:
        raise _wrong_arity(info, len(names))
    if not info.arity:
        return nullary_table(table.num_rows > 0)
    return _of_columns([table.column(n) for n in names], info, types, problem)


def checked_arrow(column: pa.ChunkedArray | pa.Array, kind: Kind, declared: Type | None) -> tuple[pa.ChunkedArray, Bad]:
    """An Arrow column as one of the kind's type, and the rows where it does not fit."""
    arrow, target = column.type, ARROW_TYPES[kind]
    if pa.types.is_dictionary(arrow):
        column = pc.cast(column, arrow.value_type)
        arrow = column.type
    if pa.types.is_null(arrow) and len(column) == 0:
        return pa.chunked_array([], target), {}
    text = pa.types.is_string(arrow) or pa.types.is_large_string(arrow) or pa.types.is_string_view(arrow)
    wanted = text if kind in (Kind.SYMBOL, Kind.RECORD) else pa.types.is_integer(arrow) or (
        kind is Kind.FLOAT and pa.types.is_floating(arrow)
    )  # fmt: skip
    if not wanted and not (kind is Kind.RECORD or pa.types.is_null(arrow) or pa.types.is_nested(arrow)):
        return pa.nulls(len(column), target), {
            0: ("TL0632", f"a column of {arrow} cannot hold values of kind {kind.value}")
        }
    bad: Bad = {}
    if column.null_count:
        rows = np.flatnonzero(np.asarray(pc.is_null(column)))
        bad = {int(row): ("TL0632", "null is not a value") for row in rows}
    if wanted:
        try:
            result = pc.cast(column, target)
        except pa.ArrowInvalid:
            pass
        else:
            if kind is Kind.RECORD:
                bad |= _bad_records(result, declared, bad)
            return result, bad
    array, more = checked_values(column.to_pylist(), kind, declared)
    return array, more | bad


def _bad_records(column: pa.ChunkedArray, declared: Type | None, nulls: Bad) -> Bad:
    """The rows with text that is no record of the type; each distinct text is looked at once."""
    if declared is None:
        return {}
    wrong = {}
    for text in not_plain(pc.unique(column.drop_null()), declared):
        try:
            parse(text, declared)
        except Malformed as problem:
            wrong[text] = ("TL0632", f"`{text}` is not a `{declared.name}`: {problem}")
    if not wrong:
        return {}
    rows = np.flatnonzero(np.asarray(pc.is_in(column, pa.array(list(wrong), column.type))))
    return {int(row): wrong[column[int(row)].as_py()] for row in rows if int(row) not in nulls}
