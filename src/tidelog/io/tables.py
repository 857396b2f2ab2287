"""Facts given as Python data: rows, columns, data frames and Arrow tables, checked against a relation.

`table_of` accepts a list of rows (tuples, lists, dicts, named tuples, Spark's rows, data classes), a dict of columns, a
two-dimensional numpy array, and anything that hands out Arrow data (pandas, polars, Arrow itself). The result has the
relation's attributes as its columns, in order, of the types that `ARROW_TYPES` says; nothing is null, wrapped around,
rounded or cut off. What names mean is decided in `columns`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from tidelog.analysis.types import RelationInfo, Type, TypeSystem
from tidelog.arrow import pc
from tidelog.errors import Diagnostic, Report, TidelogError, error
from tidelog.io.bad_rows import BadRows
from tidelog.io.columns import NamedRows, chosen_columns, names_of_row, values_of_row, wrong_width
from tidelog.io.flat_records import not_plain
from tidelog.io.numbers import ARROW_TYPES
from tidelog.io.record_text import MalformedRecord, parse
from tidelog.io.record_values import shown, text_of_python
from tidelog.values import Kind, fits

Problem: TypeAlias = Callable[[str, str, int], None]  # code, message, row counted from 0
Tell: TypeAlias = Callable[[Diagnostic | None], None]


def nullary_table(holds: bool) -> pa.Table:
    """The facts of a relation without attributes: one row without columns, or none."""
    return pa.table({"": pa.array([True] if holds else [], pa.bool_())}).select([])


def table_of(
    data: Any, info: RelationInfo, types: TypeSystem | None = None, bad: BadRows | None = None, numbered: bool = True
) -> pa.Table:
    """The data as facts of the relation. Rows that do not fit are raised together as TL063x, or left out and counted if
    `bad` skips them; rows of data without an order are not `numbered`. `types` is for records."""
    found = BadRows() if bad is None else bad
    what = f"facts of relation `{info.name}`"

    def problem(code: str, message: str, row: int) -> None:
        found.add_row(code, message, what, row + 1 if numbered else None)

    table = _table(data, info, types, problem, found.tell_once)
    found.check()
    return table


def _table(data: Any, info: RelationInfo, types: TypeSystem | None, problem: Problem, tell: Tell) -> pa.Table:
    if isinstance(data, (pa.RecordBatch, pa.Table)) or hasattr(data, "__arrow_c_stream__"):
        return table_of_arrow(pa.table(data), info, types, problem, tell)
    if isinstance(data, np.ndarray) and data.ndim == 2:
        if data.shape[1] != info.arity:
            raise wrong_width(info, f"rows of {data.shape[1]} value{'s' * (data.shape[1] != 1)}")
        return table_of_arrow(pa.table(list(data.T), names=list(info.attributes)), info, types, problem, tell)
    if isinstance(data, Mapping):
        names = names_of_row(data) or ()
        columns = values_of_row(data, names)
        if len({len(c) for c in columns}) > 1:
            raise error("TL0631", f"facts of relation `{info.name}`: the columns have different lengths")
        chosen = [columns[p] for p in chosen_columns(names, info, positional=False).positions]
        return _of_columns(chosen, info, types, problem) if info.arity else nullary_table(any(map(len, columns)))
    if isinstance(data, Iterable) and not isinstance(data, (str, bytes)):
        return table_of_rows(list(data), info, types, problem, tell)
    raise error(
        "TL0632",
        f"facts of relation `{info.name}` cannot be taken from a value of type {type(data).__name__}",
        help="give a list of rows, a dict of columns, a data frame or an Arrow table",
    )


def table_of_rows(
    rows: Sequence[Any], info: RelationInfo, types: TypeSystem | None, problem: Problem, tell: Tell = lambda _: None
) -> pa.Table:
    """Rows of Python values as a table; those that do not fit go to `problem` and are left out."""
    arity, good, origin = info.arity, [], []
    single, named = arity == 1, NamedRows(info)
    for number, row in enumerate(rows):
        if type(row) not in (tuple, list) and (names := names_of_row(row)) is not None:
            try:
                row = named.ordered(row, names)
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
    for warning in named.warnings:
        tell(warning)
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
    """Columns of Python values as a table; `origin` has the rows' numbers in the user's data. A row is a problem once,
    however much is wrong with it."""
    arrays, wrong, report = [], dict[int, list[tuple[str, str]]](), Report()
    for i, values in enumerate(columns):
        declared = None if types is None else types.types[info.types[i]]
        try:
            array, bad = _checked_column(values, info.kinds[i], declared)
        except WrongColumn as what:
            report.error("TL0632", f"facts of relation `{info.name}`: attribute `{info.attributes[i]}`: {what}")
            continue
        for row, (code, message) in bad.items():
            wrong.setdefault(row, []).append((code, f"attribute `{info.attributes[i]}`: {message}"))
        arrays.append(array)
    report.check_in_order()
    table = pa.table(arrays, names=list(info.attributes))
    if not wrong:
        return table
    for row in sorted(wrong):
        said = "; ".join(message for _, message in wrong[row])
        problem(wrong[row][0][0], said, origin[row] if origin is not None else row)
    keep = np.ones(table.num_rows, bool)
    keep[list(wrong)] = False
    return table.filter(pa.array(keep))


def _checked_column(values: Any, kind: Kind, declared: Type | None) -> tuple[pa.ChunkedArray | pa.Array, Bad]:
    if isinstance(values, np.ndarray):
        values = pa.chunked_array([pa.array(values)])
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        return checked_arrow(values, kind, declared)
    return checked_values(list(values), kind, declared)


class WrongColumn(ValueError):
    """A column of a type that has no values of a kind."""


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
    elif isinstance(value, Decimal) and value.is_finite() and value == value.to_integral_value():
        value = int(value)  # which is how Spark hands out unsigned numbers
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
            except MalformedRecord as problem:
                raise ValueError(f"`{value}` is not a `{declared.name}`: {problem}") from None
            known[value] = None
        return value
    if declared is None:
        raise ValueError("a record must be given as text, such as `[1, nil]`")
    return text_of_python(value, declared)


def table_of_arrow(
    table: pa.Table, info: RelationInfo, types: TypeSystem | None, problem: Problem, tell: Tell
) -> pa.Table:
    """An Arrow table as facts; rows that do not fit go to `problem` and are left out."""
    if not info.arity:
        return nullary_table(table.num_rows > 0)
    places = [i for i, name in enumerate(table.column_names) if not name.startswith("__index_level_")]
    choice = chosen_columns([table.column_names[i] for i in places], info)
    tell(choice.warning)
    return _of_columns([table.column(places[p]) for p in choice.positions], info, types, problem)


def checked_arrow(column: pa.ChunkedArray | pa.Array, kind: Kind, declared: Type | None) -> tuple[pa.ChunkedArray, Bad]:
    """An Arrow column as one of the kind's type, and the rows where it does not fit."""
    arrow, target = column.type, ARROW_TYPES[kind]
    if pa.types.is_dictionary(arrow):
        column = pc.cast(column, arrow.value_type)
        arrow = column.type
    if pa.types.is_null(arrow) and len(column) == 0:
        return pa.chunked_array([], target), {}
    text = pa.types.is_string(arrow) or pa.types.is_large_string(arrow) or pa.types.is_string_view(arrow)
    whole = pa.types.is_integer(arrow) or (
        kind is not Kind.FLOAT and pa.types.is_decimal(arrow) and arrow.scale == 0
    )  # fmt: skip
    wanted = text if kind in (Kind.SYMBOL, Kind.RECORD) else whole or (
        kind is Kind.FLOAT and pa.types.is_floating(arrow)
    )  # fmt: skip
    if not wanted and not (kind is Kind.RECORD or pa.types.is_null(arrow) or pa.types.is_nested(arrow)):
        raise WrongColumn(f"a column of {arrow} cannot hold values of kind {kind.value}")
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
        except MalformedRecord as problem:
            wrong[text] = ("TL0632", f"`{text}` is not a `{declared.name}`: {problem}")
    if not wrong:
        return {}
    rows = np.flatnonzero(np.asarray(pc.is_in(column, pa.array(list(wrong), column.type))))
    return {int(row): wrong[column[int(row)].as_py()] for row in rows if int(row) not in nulls}
