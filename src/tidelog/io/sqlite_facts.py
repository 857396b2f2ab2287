"""Facts in SQLite databases, laid out as Soufflé lays them out.

A relation `r` is a table `_r` with columns 0, 1, …, in which symbols are numbers of the table `__SymbolTable`, and a
view `r` with the attributes' names, in which they are text. Reading takes any table or view of the relation's name.
Unsigned numbers are stored as SQLite's signed ones with the same bits. Floats are stored as floats and records as
text, where Soufflé stores words that mean nothing outside of its process.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pyarrow as pa

from tidelog.analysis.types import RelationInfo, TypeSystem
from tidelog.arrow import pc
from tidelog.errors import Diagnostic, TidelogError, error
from tidelog.io.bad_rows import BadRows
from tidelog.io.columns import chosen_columns
from tidelog.io.numbers import NotANumber, number_of
from tidelog.io.order import plain
from tidelog.io.place import Place
from tidelog.io.streams import cannot_open
from tidelog.io.tables import nullary_table, table_of_rows
from tidelog.io.write import Parts
from tidelog.values import Kind

_SYMBOLS = "__SymbolTable"
_MISSING = "n/a"  # what Soufflé reads where a symbol is NULL
_BATCH = 65536
_AFFINITIES = {Kind.FLOAT: "REAL", Kind.RECORD: "TEXT"}


def read_sqlite(place: Place, info: RelationInfo, types: TypeSystem, bad: BadRows) -> pa.Table:
    if place.path is not None and not place.path.exists():
        raise cannot_open(place, FileNotFoundError(2, "no such file"))
    try:
        with closing(sqlite3.connect(place.database, uri=place.path is None)) as connection:
            return _read(connection, place, info, types, bad)
    except sqlite3.Error as problem:
        raise error("TL0626", f"cannot read the SQLite database `{place.shown}`: {problem}", place.span) from None


def _read(
    connection: sqlite3.Connection, place: Place, info: RelationInfo, types: TypeSystem, bad: BadRows
) -> pa.Table:
    known = [n for (n,) in connection.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")]
    if place.relation not in known:
        raise error(
            "TL0626",
            f"there is no table or view `{place.relation}` in `{place.shown}`",
            place.span,
            help=f"it has {', '.join(sorted(known))}" if known else "it has no tables",
        )
    names = [d[0] for d in connection.execute(f"SELECT * FROM {_quoted(place.relation)} LIMIT 0").description]
    if len(names) < info.arity:
        raise error(
            "TL0626",
            f"`{place.relation}` in `{place.shown}` has {len(names)} columns, "
            f"but relation `{info.name}` has {info.arity} attributes",
            place.span,
        )
    if not info.arity:
        return nullary_table(connection.execute(f"SELECT 1 FROM {_quoted(place.relation)}").fetchone() is not None)
    columns = [
        f"CAST({_quoted(name)} AS TEXT)" if kind is Kind.SYMBOL else _quoted(name)
        for name, kind in zip(_chosen(names, place, info, bad), info.kinds, strict=True)
    ]
    cursor = connection.execute(f"SELECT {', '.join(columns)} FROM {_quoted(place.relation)}")
    tables, start = [], 0
    while rows := cursor.fetchmany(_BATCH):
        converted = list(
            zip(*(_column(c, k) for c, k in zip(zip(*rows, strict=True), info.kinds, strict=True)), strict=True)
        )

        def problem(code: str, message: str, row: int, start: int = start) -> None:
            bad.add_row("TL0621", message, place.shown, start + row + 1)

        tables.append(table_of_rows(converted, info, types, problem))
        start += len(rows)
    return pa.concat_tables(tables) if tables else table_of_rows([], info, types, lambda *_: None)


def _chosen(names: list[str], place: Place, info: RelationInfo, bad: BadRows) -> list[str]:
    """The columns that are meant; if no name is that of an attribute, the first ones, as in Soufflé."""
    known = {attribute.casefold() for attribute in info.attributes}
    if not any(name.casefold() in known for name in names):
        names = names[: info.arity]
    try:
        choice = chosen_columns(names, info)
    except TidelogError as problem:
        (d,) = problem.diagnostics
        raise error("TL0626", f"`{place.relation}` in `{place.shown}`: {d.message}", place.span, help=d.help) from None
    bad.tell_once(choice.warning)
    return [names[p] for p in choice.positions]


def _column(values: tuple[Any, ...], kind: Kind) -> Any:
    """The values as Python values of the kind, as far as they are any; others are left for the check that follows."""
    if kind is Kind.SYMBOL:
        return values if None not in values else [_MISSING if v is None else v for v in values]
    if kind is Kind.NUMBER and set(map(type, values)) <= {int}:
        return values
    if kind is Kind.RECORD:
        return values
    return [_number(v, kind) for v in values]


def _number(value: Any, kind: Kind) -> Any:
    if isinstance(value, str):
        try:
            return number_of(value, kind)
        except NotANumber:
            return value
    if kind is Kind.UNSIGNED and isinstance(value, int) and value < 0:
        return value + 2**64
    if kind is Kind.FLOAT and isinstance(value, int):
        return float(value)
    return value


def write_sqlite(place: Place, info: RelationInfo, types: TypeSystem, parts: Parts) -> list[Diagnostic]:
    try:
        if place.path is not None:
            place.path.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(place.database, uri=place.path is None, isolation_level=None)) as connection:
            connection.execute("PRAGMA synchronous = OFF")
            connection.execute("BEGIN IMMEDIATE")
            _create(connection, place.relation, info)
            marks = ", ".join("?" * max(info.arity, 1))
            for table in map(plain, parts.tables):
                connection.executemany(
                    f"INSERT OR IGNORE INTO {_quoted('_' + place.relation)} VALUES ({marks})",
                    _stored(connection, table, info),
                )
            connection.execute("COMMIT")
    except (sqlite3.Error, OSError) as problem:
        raise error("TL0630", f"cannot write to the SQLite database `{place.shown}`: {problem}", place.span) from None
    return []


def _create(connection: sqlite3.Connection, relation: str, info: RelationInfo) -> None:
    """Empty tables and the view; what an earlier run left of this relation is dropped."""
    stored, view = _quoted("_" + relation), _quoted(relation)
    for (kind,) in connection.execute("SELECT type FROM sqlite_master WHERE name = ?", (relation,)).fetchall():
        if kind == "view":
            connection.execute(f"DROP VIEW {view}")
    connection.execute(f"DROP TABLE IF EXISTS {stored}")
    connection.execute(f"CREATE TABLE IF NOT EXISTS {_quoted(_SYMBOLS)} (id INTEGER PRIMARY KEY, symbol TEXT UNIQUE)")
    columns = [f'"{i}"' for i in range(info.arity)]
    key = f", PRIMARY KEY ({', '.join(columns)})) WITHOUT ROWID" if columns else ")"
    kinds = [_AFFINITIES.get(kind, "INTEGER") for kind in info.kinds]
    described = [f"{column} {kind}" for column, kind in zip(columns, kinds, strict=True)] or ["holds INTEGER"]
    connection.execute(f"CREATE TABLE {stored} ({', '.join(described)}{key}")
    shown, tables, joins = [], [stored], []
    for column, name, kind in zip(columns, info.attributes, info.kinds, strict=True):
        source = f"{stored}.{column}"
        if kind is Kind.SYMBOL:
            alias = _quoted(f"_symtab_{len(tables) - 1}")
            tables.append(f"{_quoted(_SYMBOLS)} AS {alias}")
            joins.append(f"{source} = {alias}.id")
            source = f"{alias}.symbol"
        shown.append(f"{source} AS {_quoted(name)}")
    where = f" WHERE {' AND '.join(joins)}" if joins else ""
    connection.execute(f"CREATE VIEW {view} AS SELECT {', '.join(shown) or '*'} FROM {', '.join(tables)}{where}")


def _stored(connection: sqlite3.Connection, table: pa.Table, info: RelationInfo) -> Iterator[tuple[Any, ...]]:
    """The rows as the table `_r` has them."""
    if not info.arity:
        yield from [(1,)] * table.num_rows
        return
    symbols = [table.column(i) for i, kind in enumerate(info.kinds) if kind is Kind.SYMBOL]
    ids = _symbol_ids(connection, symbols)
    for batch in table.to_batches(max_chunksize=_BATCH):
        columns: list[Any] = []
        for column, kind in zip(batch.columns, info.kinds, strict=True):
            if kind is Kind.UNSIGNED:
                column = column.view(pa.int64())
            values = column.to_pylist()
            if kind is Kind.SYMBOL:
                values = [ids[v] for v in values]
            elif kind is Kind.FLOAT:
                values = ["nan" if math.isnan(v) else v for v in values]  # SQLite would store NULL
            columns.append(values)
        yield from zip(*columns, strict=True)


def _symbol_ids(connection: sqlite3.Connection, columns: list[pa.ChunkedArray]) -> dict[str, int]:
    texts = {text for column in columns for text in pc.unique(column).to_pylist()}
    connection.executemany(
        f"INSERT OR IGNORE INTO {_quoted(_SYMBOLS)} VALUES (NULL, ?)", ((text,) for text in sorted(texts))
    )
    known = connection.execute(f"SELECT symbol, id FROM {_quoted(_SYMBOLS)}")
    return {text: number for text, number in known if text in texts}


def _quoted(name: str) -> str:
    doubled = name.replace('"', '""')
    return f'"{doubled}"'
