"""Facts in Parquet, ORC and Arrow (Feather) files and folders; which columns are meant is decided in `columns`."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import Any

import pyarrow as pa
import pyarrow.feather as feather

from tidelog.analysis.types import RelationInfo, TypeSystem
from tidelog.errors import Diagnostic, TidelogError, error
from tidelog.formats import ORC, PARQUET
from tidelog.io.atomic import replacing
from tidelog.io.bad_rows import BadRows
from tidelog.io.order import plain
from tidelog.io.place import Place
from tidelog.io.streams import cannot_open
from tidelog.io.tables import table_of_arrow
from tidelog.io.write import Parts

_NULLARY = "holds"  # a file must have a column; this one stands for a relation without attributes


def read_arrow(place: Place, info: RelationInfo, types: TypeSystem, bad: BadRows) -> pa.Table:
    try:
        table = _reader(place)(str(place.path))
    except pa.ArrowInvalid as problem:
        what = {PARQUET: "a Parquet", ORC: "an ORC"}.get(place.format, "an Arrow")
        raise error("TL0639", f"`{place.shown}` is not {what} file: {_first_line(problem)}", place.span) from None
    except OSError as problem:
        raise cannot_open(place, problem) from None
    try:
        return table_of_arrow(
            table, info, types, lambda code, message, row: bad.add_row(code, message, place.shown, row + 1),
            bad.tell_once,
        )  # fmt: skip
    except TidelogError as problem:
        raise TidelogError(
            Diagnostic("TL0627", f"{place.shown}: {d.message}", place.span, d.help) for d in problem.diagnostics
        ) from None


def _reader(place: Place) -> Callable[[str], pa.Table]:
    if place.path is not None and place.path.is_dir():
        import pyarrow.dataset as dataset

        form = {PARQUET: "parquet", ORC: "orc"}.get(place.format, "ipc")
        return lambda path: dataset.dataset(path, format=form, partitioning="hive").to_table()
    if place.format == ORC:
        import pyarrow.orc as orc

        return orc.read_table  # type: ignore[no-any-return]
    if place.format == PARQUET:
        import pyarrow.parquet as parquet

        return lambda path: parquet.read_table(path, memory_map=True)
    return lambda path: feather.read_table(path, memory_map=False)


def write_arrow(place: Place, info: RelationInfo, types: TypeSystem, parts: Parts) -> list[Diagnostic]:
    """Write tables, at least one, as one file."""
    assert place.path is not None
    tables = (plain(table) if info.arity else _nullary(table) for table in parts.tables)
    first = next(tables)
    with replacing(place.path) as temporary, _writer(place, str(temporary), first.schema) as writer:
        for table in chain([first], tables):
            writer.write_table(table)
    return []


def _nullary(table: pa.Table) -> pa.Table:
    return pa.table({_NULLARY: pa.array([True] * table.num_rows, pa.bool_())})


def _writer(place: Place, path: str, schema: pa.Schema) -> Any:
    if place.format == PARQUET:
        import pyarrow.parquet as parquet

        return parquet.ParquetWriter(path, schema)
    if place.format == ORC:
        import pyarrow.orc as orc

        return _OrcWriter(orc.ORCWriter(path))
    return pa.ipc.new_file(path, schema, options=pa.ipc.IpcWriteOptions(compression="lz4"))


class _OrcWriter:
    """Writes tables as ORC, which has no unsigned numbers: they are decimals there, as in Spark."""

    def __init__(self, writer: Any) -> None:
        self._writer = writer

    def write_table(self, table: pa.Table) -> None:
        columns = [c.cast(pa.decimal128(20, 0)) if c.type == pa.uint64() else c for c in table.columns]
        self._writer.write(pa.table(columns, names=table.column_names))

    def __enter__(self) -> _OrcWriter:
        return self

    def __exit__(self, *exception: object) -> None:
        self._writer.close()


def _first_line(problem: Exception) -> str:
    return str(problem).split("\n")[0]
