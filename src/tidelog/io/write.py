"""Writing the tuples of `.output` relations, to whatever place in whatever format.

Files are replaced in one step and their rows are in a repeatable order (`order`), so two runs over the same facts
write the same bytes.
"""

from __future__ import annotations

import gzip
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

import pyarrow as pa

from tidelog.analysis.types import RelationInfo, TypeSystem
from tidelog.errors import Diagnostic
from tidelog.io.atomic import replacing
from tidelog.io.order import sorted_table
from tidelog.io.place import ARROW, JSON, PARQUET, SIZE, SQLITE, Place, output_place
from tidelog.io.sizes import size_line
from tidelog.io.text_write import header_line, text_parts, unreadable
from tidelog.lang import tree

_CHUNK = 1 << 20


@dataclass(frozen=True)
class Parts:
    """The tuples of a relation in one or more tables, whose order is theirs; made when they are written."""

    count: int
    tables: Iterable[pa.Table]


def write_relation(
    info: RelationInfo, types: TypeSystem, tuples: pa.Table | Parts, directive: tree.Directive | None, folder: Path
) -> list[Diagnostic]:
    """Write a relation's tuples where its `.output` directive says; the folder `-` prints. Gives warnings.

    A table has the attributes as columns, as `decode` and `table_of` make it. Several are written one at a time; only
    JSON needs them all at once.
    """
    parts = tuples if isinstance(tuples, Parts) else Parts(tuples.num_rows, (tuples,))
    place = output_place(info, directive, folder)
    if place.format == SIZE:
        _print([(size_line(place.relation, parts.count) + "\n").encode()])
        return []
    tables = map(sorted_table, parts.tables)
    if place.format == SQLITE:
        from tidelog.io.sqlite_facts import write_sqlite

        write_sqlite(place, info, map(plain, tables))
    elif place.format in (PARQUET, ARROW):
        from tidelog.io.arrow_files import write_arrow

        write_arrow(place, info, map(plain, tables))
    elif place.format == JSON:
        from tidelog.io.json_facts import json_text

        table = _together(tables)
        _write(place, lambda: (part.encode() for part in json_text(table, info, types, place.objects)))
    elif place.path is None:
        _print(_framed(place, info, types, tables))
    else:
        warnings: list[Diagnostic] = []
        _write(place, lambda: _lines(place, info, types, _watched(tables, place, info, warnings)))
        return warnings[:1]
    return []


def _together(tables: Iterable[pa.Table]) -> pa.Table:
    first, *others = map(plain, tables)
    return pa.concat_tables([first, *others]) if others else first  # which may have a row but no columns


def _watched(
    tables: Iterable[pa.Table], place: Place, info: RelationInfo, warnings: list[Diagnostic]
) -> Iterator[pa.Table]:
    """The tables; a warning about each that cannot be read back is left behind."""
    for table in tables:
        warnings += unreadable(place, info, table)
        yield table


def _lines(
    place: Place, info: RelationInfo, types: TypeSystem, tables: Iterable[pa.Table]
) -> Iterator[bytes | memoryview]:
    if place.headers:
        yield (header_line(place, info) + "\n").encode()
    for table in tables:
        yield from text_parts(place, info, types, table)


def _framed(
    place: Place, info: RelationInfo, types: TypeSystem, tables: Iterable[pa.Table]
) -> Iterator[bytes | memoryview]:
    """As Soufflé prints a relation on the terminal."""
    head = f"---------------\n{place.relation}\n"
    if place.headers:
        head += header_line(place, info) + "\n"
    yield (head + "===============\n").encode()
    for table in tables:
        yield from text_parts(place, info, types, table)
    yield b"===============\n"


def plain(table: pa.Table) -> pa.Table:
    """The table with values where `sorted_table` left dictionaries, in chunks that no text overflows."""
    columns = []
    for column in table.columns:
        if pa.types.is_dictionary(column.type) and column.num_chunks:
            whole = column.chunk(0)
            parts = [whole.slice(start, _CHUNK) for start in range(0, len(whole), _CHUNK)]
            column = pa.chunked_array([p.dictionary.take(p.indices) for p in parts], whole.dictionary.type)
        columns.append(column)
    return pa.table(columns, names=table.column_names) if columns else table


def _print(parts: Iterable[bytes | memoryview]) -> None:
    sys.stdout.flush()
    binary = getattr(sys.stdout, "buffer", None)
    for part in parts:
        if binary is not None:
            binary.write(part)
        else:
            sys.stdout.write(bytes(part).decode())
    sys.stdout.flush()


def _write(place: Place, parts: Callable[[], Iterable[bytes | memoryview]]) -> None:
    assert place.path is not None
    with replacing(place.path) as temporary, _created(temporary, place.gzip) as file:
        for part in parts():
            file.write(part)


@contextmanager
def _created(path: Path, compressed: bool) -> Iterator[BinaryIO]:
    with open(path, "wb") as file:
        if not compressed:
            yield file
            return
        # no name and no time in it, so that the same tuples give the same bytes
        with gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=file, mtime=0) as squeezed:
            yield cast(BinaryIO, squeezed)
