"""What is written reads back as it was, in every format; random tables of every kind."""

from __future__ import annotations

import math
import sqlite3
import tempfile
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from io_support import StandIn, declare

from tidelog.errors import TidelogError
from tidelog.io import BadRows, decode, encode, read_facts, table_of, write_relation
from tidelog.io.record_text import Quotes, parse, text_of
from tidelog.lang import tree

ATTRIBUTES = "n: number, u: unsigned, f: float, s: symbol, l: List, p: Pair, c: Color, t: Tree, m: Mixed"
INFO, TYPES, _ = declare(f".decl r({ATTRIBUTES})")

number = st.one_of(st.integers(-(2**63), 2**63 - 1), st.integers(-9, 9))
unsigned = st.one_of(st.integers(0, 2**64 - 1), st.integers(0, 9))
floats = st.floats(allow_nan=False).map(lambda x: x + 0.0)
anything = st.text(st.characters(codec="utf-8"), max_size=8)
plain = st.text("abc äß\"'\\;.%x0", max_size=6)
tame = st.text("abc", min_size=1, max_size=4)


def records(symbols):
    lists = st.recursive(st.none(), lambda tail: st.tuples(number, tail), max_leaves=4)
    pairs = st.one_of(st.none(), st.tuples(symbols, floats))
    colors = st.sampled_from([("$Red",), ("$Green",), ("$Blue",)])
    leaves = st.one_of(st.just(("$Leaf",)), symbols.map(lambda s: ("$Tag", s)))
    trees = st.recursive(leaves, lambda t: st.tuples(st.just("$Node"), t, number, t), max_leaves=4)
    mixed = st.one_of(st.none(), st.tuples(lists, colors, trees, unsigned))
    return lists, pairs, colors, trees, mixed


def rows(symbols, inner):
    return st.lists(st.tuples(number, unsigned, floats, symbols, *records(inner)), max_size=12)


def as_set(table: pa.Table) -> set[tuple]:
    return set(zip(*(c.to_pylist() for c in table.columns), strict=True))


def round_trip(table: pa.Table, **params: str) -> pa.Table:
    with tempfile.TemporaryDirectory() as folder:
        name = {"filename": "facts." + params.pop("suffix", "txt"), **params}
        for kind in ("output", "input"):
            directive = tree.Directive(kind, "r", tuple(name.items()))
            if kind == "output":
                write_relation(INFO, TYPES, table, directive, Path(folder))
        found = read_facts(INFO, TYPES, directive, Path(folder), BadRows())
    found.validate(full=True)
    return found


@settings(max_examples=60, deadline=None)
@given(rows(plain, tame))
def test_random_tables_through_plain_text(data):
    table = table_of(data, INFO, TYPES)
    assert as_set(round_trip(table)) == as_set(table)
    assert as_set(round_trip(table, suffix="csv.gz", headers="true", delimiter="|||")) == as_set(table)


@settings(max_examples=60, deadline=None)
@given(rows(anything, anything))
def test_random_tables_through_rfc4180(data):
    table = table_of(data, INFO, TYPES)
    found = round_trip(table, rfc4180="true")
    # Symbols inside of records come back with more quotes than they need; the values are the same.
    assert values(found) == values(table)


def values(table: pa.Table) -> set[str]:
    words = encode(table, INFO, TYPES, shared := StandIn())
    return {repr(row) for row in as_set(decode(words, INFO, TYPES, shared))}


@settings(max_examples=60, deadline=None)
@given(rows(anything, anything))
@pytest.mark.parametrize(
    "params",
    [
        {"suffix": "parquet"},
        {"suffix": "arrow"},
        {"suffix": "json"},
        {"suffix": "json", "format": "object"},
        {"IO": "sqlite"},
    ],
    ids=str,
)
def test_random_tables_through_other_formats(params, data):
    table = table_of(data, INFO, TYPES)
    assert as_set(round_trip(table, **params)) == as_set(table)


@settings(max_examples=60, deadline=None)
@given(rows(anything, anything))
def test_random_tables_through_words(data):
    table, database = table_of(data, INFO, TYPES), StandIn()
    words = encode(table, INFO, TYPES, database)
    assert words.shape == (len(data), 9)
    assert decode(words, INFO, TYPES, database).equals(table)
    assert as_set(decode(words, INFO, TYPES, database, compact=True)) == as_set(table)


@settings(max_examples=200, deadline=None)
@given(st.tuples(anything, st.floats(allow_nan=False)))
@example(('a"', 0.0)).via("a quote that is not at the beginning")
@example((" a\\", 0.0)).via("a backslash that needs no escape, after a blank that needs quotes")
def test_random_symbols_inside_records_read_back(pair):
    kind = TYPES.types["Pair"]
    for quotes in (Quotes.NEEDED, Quotes.ALWAYS):
        assert parse(text_of(list(pair), kind, quotes), kind) == list(pair)


@pytest.mark.parametrize("suffix", ["txt", "json", "parquet", "arrow", "sqlite"])
def test_nan_reads_back(suffix, declared, tmp_path):
    io = {"sqlite": "(IO=sqlite)"}.get(suffix, f'(filename="x.{suffix}")')
    info, types, directive = declared(f".decl r(x: float)\n.output r{io}")
    write_relation(info, types, table_of([(math.nan,)], info), directive, tmp_path)
    (value,) = read_facts(info, types, directive, tmp_path, BadRows()).column("x").to_pylist()
    assert math.isnan(value)


@pytest.mark.parametrize("suffix", ["txt", "json", "parquet", "arrow", "sqlite"])
@pytest.mark.parametrize("holds", [True, False])
def test_nullary_relations_read_back(suffix, holds, declared, tmp_path):
    io = {"sqlite": "(IO=sqlite)"}.get(suffix, f'(filename="x.{suffix}")')
    info, types, directive = declared(f".decl r()\n.output r{io}")
    write_relation(info, types, table_of([()] if holds else [], info), directive, tmp_path)
    assert read_facts(info, types, directive, tmp_path, BadRows()).num_rows == holds


def test_sqlite_has_the_tables_that_souffle_makes(declared, tmp_path):
    info, types, directive = declared('.decl r(x: symbol, y: number)\n.output r(IO=sqlite, dbname="d.db")')
    write_relation(info, types, table_of([("a", 1), ("b", 2)], info), directive, tmp_path)
    write_relation(info, types, table_of([("b", 3)], info), directive, tmp_path)
    with sqlite3.connect(tmp_path / "d.db") as connection:
        assert connection.execute("SELECT * FROM r").fetchall() == [("b", 3)]
        assert connection.execute("SELECT x, y FROM r").fetchall() == [("b", 3)]
        assert connection.execute("SELECT * FROM _r").fetchall() == [(2, 3)]
        assert connection.execute("SELECT * FROM __SymbolTable").fetchall() == [(1, "a"), (2, "b")]


def test_sqlite_tables_of_other_programs_are_read(declared, tmp_path):
    with sqlite3.connect(tmp_path / "r.sqlite") as connection:
        connection.execute("CREATE TABLE r (a, b, c)")
        connection.executemany("INSERT INTO r VALUES (?, ?, ?)", [("x", "0x10", 1), (5, 2, None), (None, "3", b"")])
    info, types, directive = declared(".decl r(x: symbol, y: number)\n.input r(IO=sqlite)")
    rows = read_facts(info, types, directive, tmp_path, BadRows()).to_pylist()
    assert rows == [{"x": "x", "y": 16}, {"x": "5", "y": 2}, {"x": "n/a", "y": 3}]


def test_what_can_be_wrong_with_sqlite(declared, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    info, types, directive = declared(".decl r(x: symbol, y: number)\n.input r(IO=sqlite)")

    def problem() -> str:
        with pytest.raises(TidelogError) as raised:
            read_facts(info, types, directive, Path(), BadRows())
        return str(raised.value).splitlines()[0]

    assert problem() == "error[TL0620]: cannot open fact file `r.sqlite`: there is no such file"
    with sqlite3.connect("r.sqlite") as connection:
        connection.execute("CREATE TABLE q (a)")
    assert problem() == "error[TL0626]: there is no table or view `r` in `r.sqlite`"
    with sqlite3.connect("r.sqlite") as connection:
        connection.execute("CREATE TABLE r (a, b)")
        connection.execute("INSERT INTO r VALUES ('a', 'b')")
    assert problem() == "error[TL0621]: r.sqlite, row 1: attribute `y`: 'b' is not a number"
    Path("r.sqlite").write_text("no database at all" * 100)
    assert problem() == "error[TL0626]: cannot read the SQLite database `r.sqlite`: file is not a database"


def test_parquet_columns_are_found_by_name_or_else_by_position(declared, tmp_path):
    import pyarrow.parquet as parquet

    info, types, directive = declared('.decl r(x: symbol, y: number)\n.input r(filename="r.parquet")')
    parquet.write_table(pa.table({"y": pa.array([1], pa.int8()), "z": [2.5], "x": ["a"]}), tmp_path / "r.parquet")
    assert read_facts(info, types, directive, tmp_path, BadRows()).to_pylist() == [{"x": "a", "y": 1}]
    parquet.write_table(pa.table({"one": pa.array(["b"]).dictionary_encode(), "two": [7]}), tmp_path / "r.parquet")
    assert read_facts(info, types, directive, tmp_path, BadRows()).to_pylist() == [{"x": "b", "y": 7}]


def test_what_can_be_wrong_with_parquet(declared, tmp_path, monkeypatch):
    import pyarrow.parquet as parquet

    monkeypatch.chdir(tmp_path)
    info, types, directive = declared('.decl r(x: symbol, y: number)\n.input r(filename="r.parquet")')

    def problem(table: pa.Table) -> list[str]:
        parquet.write_table(table, "r.parquet")
        with pytest.raises(TidelogError) as raised:
            read_facts(info, types, directive, Path(), BadRows())
        return [line for line in str(raised.value).splitlines() if line.startswith("error")]

    assert problem(pa.table({"x": ["a"]})) == ["error[TL0627]: r.parquet: facts of relation `r`: no column `y`"]
    assert problem(pa.table({"x": ["a", None], "y": [1, 2]})) == [
        "error[TL0632]: r.parquet, row 2: attribute `x`: null is not a value"
    ]
    assert problem(pa.table({"x": ["a"], "y": [1.5]})) == [
        "error[TL0627]: r.parquet: facts of relation `r`: attribute `y`: "
        "a column of double cannot hold values of kind number"
    ]
    assert problem(pa.table({"x": ["a", "b"], "y": pa.array([1, 2**63], pa.uint64())})) == [
        "error[TL0633]: r.parquet, row 2: attribute `y`: 9223372036854775808 does not fit into 64 bits"
    ]
    Path("r.parquet").write_text("text")
    with pytest.raises(TidelogError, match=r"TL0639.*`r.parquet` is not a Parquet file"):
        read_facts(info, types, directive, Path(), BadRows())


def test_what_can_be_wrong_with_json(declared, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    info, types, directive = declared(".decl r(x: symbol, l: List)\n.input r(IO=jsonfile)")

    def problem(text: str) -> str:
        Path("r.json").write_text(text)
        with pytest.raises(TidelogError) as raised:
            read_facts(info, types, directive, Path(), BadRows())
        return str(raised.value)

    expected = """\
error[TL0625]: malformed JSON: Expecting ',' delimiter
  --> r.json:2:7
2 |  ["b" null]]
  |       ^"""
    assert problem('[["a", null],\n ["b" null]]') == expected
    assert problem('"x"').startswith("error[TL0625]: the facts are not in a JSON array\n")
    assert problem('{"x": "a", "l": null}\n{"x": 1, "l": null}') == (
        'error[TL0621]: attribute `x`: 1 is not a symbol\n  --> r.json:2:1\n2 | {"x": 1, "l": null}\n  | ' + 19 * "^"
    )
    expected = """\
error[TL0621]: attribute `x`: 1 is not a symbol
  --> r.json:2:3
2 |   [1, null], ["b", [1]],
  |   ^^^^^^^^^
error[TL0621]: attribute `l`: 1 values for the 2 fields of `List`
  --> r.json:2:14
2 |   [1, null], ["b", [1]],
  |              ^^^^^^^^^^
error[TL0621]: 1 value for 2 attributes
  --> r.json:3:3
3 |   ["c"],
  |   ^^^^^
error[TL0621]: no column `l`
  --> r.json:4:3
4 |   {"x": "d"}]
  |   ^^^^^^^^^^"""
    assert problem('[["a", null],\n  [1, null], ["b", [1]],\n  ["c"],\n  {"x": "d"}]') == expected
