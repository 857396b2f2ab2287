"""Reading the facts of `.input` relations, from whatever place in whatever format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa

from tidelog.analysis.types import RelationInfo, TypeSystem
from tidelog.errors import Diagnostic, TidelogError, error
from tidelog.formats import FORMATS
from tidelog.io.bad_rows import BadRows, FactLine
from tidelog.io.folders import part_files
from tidelog.io.numbers import ARROW_TYPES
from tidelog.io.place import Place, input_place
from tidelog.io.streams import opened
from tidelog.io.tables import nullary_table
from tidelog.lang import tree
from tidelog.plain import replace


def read_facts(
    info: RelationInfo,
    types: TypeSystem,
    directive: tree.Directive | None,
    folder: Path,
    bad_rows: BadRows,
    missing_ok: bool = False,
) -> pa.Table:
    """The facts of a relation as a table with its attributes as columns (`tables.ARROW_TYPES`; records as text).

    Malformed facts are collected in `bad_rows` and raised together when the file has been read, unless they may be
    skipped. A missing file is an error unless `missing_ok` (Soufflé's flag -w), when there are no facts.
    """
    place = input_place(info, directive, folder)
    if missing_ok and place.path is not None and not place.path.exists():
        return empty_table(info)
    table = _read(place, info, types, bad_rows)
    bad_rows.check()
    return table


def read_inputs(
    inputs: Iterable[tuple[RelationInfo, tree.Directive | None]],
    types: TypeSystem,
    folder: Path,
    bad_rows: BadRows,
    missing_ok: bool = False,
) -> Iterator[tuple[str, pa.Table]]:
    """The facts of many relations, one table per directive, each read when it is asked for; all that is wrong in all
    the files is raised at once, in the end."""
    problems: list[Diagnostic] = []
    for info, directive in inputs:
        try:
            table = read_facts(info, types, directive, folder, bad_rows, missing_ok)
        except TidelogError as problem:
            problems.extend(problem.diagnostics)
            continue
        if not problems:
            yield info.name, table
        del table  # before the next is read
    if problems:
        raise TidelogError(problems)


def empty_table(info: RelationInfo) -> pa.Table:
    """No facts of a relation."""
    if not info.arity:
        return nullary_table(False)
    arrays = [pa.array([], ARROW_TYPES[kind]) for kind in info.kinds]
    return pa.table(arrays, names=list(info.attributes))


def _read(place: Place, info: RelationInfo, types: TypeSystem, bad: BadRows) -> pa.Table:
    format = FORMATS[place.format]
    if not format.reads:
        what = "a table of" if format.log else "in"
        more = ", which is more than its files" if format.log else ", which this process does not read"
        raise error(
            "TL1262", f"`{place.shown}` is {what} {place.format.capitalize()}{more}",
            place.span, help=f'let Spark read it: {{"{info.name}": spark.read.format("{place.format}").load(…)}}',
        )  # fmt: skip
    if place.path is not None and place.path.is_dir() and not format.folders:
        parts = [_read(_part(place, file), info, types, bad) for file in part_files(place.path)]
        return pa.concat_tables(parts) if info.arity and parts else _nullary_or_none(parts, info)
    table: pa.Table = format.read(place, info, types, bad)
    return table


def read_lines(place: Place, info: RelationInfo, types: TypeSystem, bad: BadRows) -> pa.Table:
    """The facts of a file of text, one a line."""
    with opened(place) as stream:
        if not info.arity:
            return _read_nullary(stream, place, info, bad)
        from tidelog.io.text_lines import layout_of
        from tidelog.io.text_read import read_text

        columns = read_text(stream, layout_of(place, info, types), place.headers, bad)
        return pa.table(columns, names=list(info.attributes))


def _part(place: Place, file: Path) -> Place:
    """A file of a folder."""
    return replace(place, path=file, shown=str(file), gzip=file.suffix == ".gz")


def _nullary_or_none(parts: list[pa.Table], info: RelationInfo) -> pa.Table:
    return nullary_table(any(part.num_rows for part in parts)) if parts else empty_table(info)


def _read_nullary(stream: BinaryIO, place: Place, info: RelationInfo, bad: BadRows) -> pa.Table:
    """A relation without attributes holds if its file has a line, which is `()` or empty."""
    lines = stream.read().decode(errors="replace").splitlines()[place.headers :]
    holds = False
    for number, line in enumerate(lines, 1 + place.headers):
        if line.strip() in ("()", ""):
            holds = True
        else:
            message = f"relation `{info.name}` has no attributes; the only fact it can have is `()`"
            bad.add("TL0621", message, FactLine(place.shown, number, line))
    return nullary_table(holds)
