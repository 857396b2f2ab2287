"""Writing the tuples of `.output` relations, to whatever place in whatever format.

Files are replaced in one step and their rows are in a repeatable order (`order`), so two runs over the same facts
write the same bytes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

import pyarrow as pa

from tidelog.analysis.types import RelationInfo, TypeSystem
from tidelog.errors import Diagnostic
from tidelog.formats import FORMATS
from tidelog.io.atomic import replacing
from tidelog.io.order import sorted_table
from tidelog.io.place import Place, output_place
from tidelog.io.sizes import size_line
from tidelog.io.text_write import header_line, text_parts, unreadable
from tidelog.lang import tree
from tidelog.plain import dataclass


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
    ordered = Parts(parts.count, map(sorted_table, parts.tables))
    warnings: list[Diagnostic] = FORMATS[place.format].write(place, info, types, ordered)
    return warnings


def write_size(place: Place, info: RelationInfo, types: TypeSystem, parts: Parts) -> list[Diagnostic]:
    """Print how many tuples there are."""
    print_bytes([(size_line(place.relation, parts.count) + "\n").encode()])
    return []


def write_lines(place: Place, info: RelationInfo, types: TypeSystem, parts: Parts) -> list[Diagnostic]:
    """A line of text for each tuple, to a file or to the terminal."""
    if place.path is None:
        print_bytes(_framed(place, info, types, parts.tables))
        return []
    warnings: list[Diagnostic] = []
    write_file(place, _lines(place, info, types, _watched(parts.tables, place, info, warnings)))
    return warnings[:1]


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


def print_bytes(parts: Iterable[bytes | memoryview]) -> None:
    """To standard output, behind what was printed before."""
    sys.stdout.flush()
    binary = getattr(sys.stdout, "buffer", None)
    for part in parts:
        if binary is not None:
            binary.write(part)
        else:
            sys.stdout.write(bytes(part).decode())
    sys.stdout.flush()


def write_file(place: Place, parts: Iterable[bytes | memoryview]) -> None:
    """Replace the file of a place by these bytes, compressed if it says so."""
    assert place.path is not None
    with replacing(place.path) as temporary, _created(temporary, place.gzip) as file:
        for part in parts:
            file.write(part)


@contextmanager
def _created(path: Path, compressed: bool) -> Iterator[BinaryIO]:
    with open(path, "wb") as file:
        if not compressed:
            yield file
            return
        import gzip

        # no name and no time in it, so that the same tuples give the same bytes
        with gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=file, mtime=0) as squeezed:
            yield cast(BinaryIO, squeezed)
