"""Facts in Parquet and Arrow (Feather) files: columns by name, or by position where the names differ."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any

import pyarrow as pa
import pyarrow.feather as feather

from tidelog.analysis.types import RelationInfo, TypeSystem
from tidelog.errors import TidelogError, error
from tidelog.io.atomic import replacing
from tidelog.io.bad_rows import BadRows
from tidelog.io.place import PARQUET, Place
from tidelog.io.streams import cannot_open
from tidelog.io.tables import table_of_arrow

_NULLARY = "holds"  # a file must have a column; this one stands for a relation without attributes


def read_arrow(place: Place, info: RelationInfo, types: TypeSystem, bad: BadRows) -> pa.Table:
    try:
        table = _reader(place)(str(place.path))
    except pa.ArrowInvalid as problem:
        what = "a Parquet" if place.format == PARQUET else "an Arrow"
        raise error("TL0639", f"`{place.shown}` is not {what} file: {_first_line(problem)}", place.span) from None
    except OSError as problem:
        raise cannot_open(place, problem) from None
    try:
        return table_of_arrow(
            table, info, types, lambda code, message, row: bad.add_row(code, message, place.shown, row + 1)
        )
    except TidelogError as problem:
        first = problem.diagnostics[0]
        raise error("TL0627", f"{place.shown}: {first.message}", place.span, help=first.help) from None


def _reader(place: Place) -> Callable[[str], pa.Table]:
    if place.format == PARQUET:
        import pyarrow.parquet as parquet

        return lambda path: parquet.read_table(path, memory_map=True)
    return lambda path: feather.read_table(path, memory_map=False)


def write_arrow(place: Place, info: RelationInfo, tables: Iterable[pa.Table]) -> None:
    """Write tables, at least one, as one file."""
    assert place.path is not None
    parts = (table if info.arity else _nullary(table) for table in tables)
    first = next(parts)
    with replacing(place.path) as temporary, _writer(place, str(temporary), first.schema) as writer:
        for table in chain([first], parts):
            writer.write_table(table)


def _nullary(table: pa.Table) -> pa.Table:
    return pa.table({_NULLARY: pa.array([True] * table.num_rows, pa.bool_())})


def _writer(place: Place, path: str, schema: pa.Schema) -> Any:
    if place.format == PARQUET:
        import pyarrow.parquet as parquet

        return parquet.ParquetWriter(path, schema)
    return pa.ipc.new_file(path, schema, options=pa.ipc.IpcWriteOptions(compression="lz4"))


def _first_line(problem: Exception) -> str:
    return str(problem).split("\n")[0]
