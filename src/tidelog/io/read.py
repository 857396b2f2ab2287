"""Reading the facts of `.input` relations, from whatever place in whatever format."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa

from tidelog.analysis.types import RelationInfo, TypeSystem
from tidelog.errors import Diagnostic, TidelogError
from tidelog.io.bad_rows import BadRows, FactLine
from tidelog.io.numbers import ARROW_TYPES
from tidelog.io.place import ARROW, JSON, PARQUET, SQLITE, Place, input_place
from tidelog.io.streams import opened
from tidelog.io.tables import nullary_table
from tidelog.lang import tree


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
) -> dict[str, list[pa.Table]]:
    """The facts of many relations, one table per directive; all that is wrong in all the files is raised at once."""
    tables: dict[str, list[pa.Table]] = {}
    problems: list[Diagnostic] = []
    for info, directive in inputs:
        try:
            table = read_facts(info, types, directive, folder, bad_rows, missing_ok)
            tables.setdefault(info.name, []).append(table)
        except TidelogError as problem:
            problems.extend(problem.diagnostics)
    if problems:
        raise TidelogError(problems)
    return tables


def empty_table(info: RelationInfo) -> pa.Table:
    """No facts of a relation."""
    if not info.arity:
        return nullary_table(False)
    arrays = [pa.array([], ARROW_TYPES[kind]) for kind in info.kinds]
    return pa.table(arrays, names=list(info.attributes))


def _read(place: Place, info: RelationInfo, types: TypeSystem, bad: BadRows) -> pa.Table:
    if place.format == SQLITE:
        from tidelog.io.sqlite_facts import read_sqlite

        return read_sqlite(place, info, types, bad)
    if place.format in (PARQUET, ARROW):
        from tidelog.io.arrow_files import read_arrow

        return read_arrow(place, info, types, bad)
    with opened(place) as stream:
        if place.format == JSON:
            from tidelog.io.json_facts import read_json

            return read_json(stream, place, info, types, bad)
        if not info.arity:
            return _read_nullary(stream, place, info, bad)
        from tidelog.io.text_lines import layout_of
        from tidelog.io.text_read import read_text

        columns = read_text(stream, layout_of(place, info, types), place.headers, bad)
        return pa.table(columns, names=list(info.attributes))


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
