"""Facts with names: by name in any order and case, by position only where names say nothing, and told."""

from __future__ import annotations

import sqlite3
from collections import namedtuple
from dataclasses import dataclass
from decimal import Decimal

import pandas
import polars
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as parquet
import pytest
from pyspark.sql import Row

import tidelog
from tidelog.errors import TidelogError, render
from tidelog.io import BadRows, table_of
from tidelog.io.columns import chosen_columns
from tidelog.io.given import given_table

EDGE = ".decl edge(from: number, to: number)\n.input edge\n"
REVERSED = {"TO": [2, 4], "From": [1, 3]}
EXPECTED = {"from": [1, 3], "to": [2, 4]}
Backward = namedtuple("Backward", ["to", "From"])
Other = namedtuple("Other", ["src", "dst"])


@dataclass
class Arc:
    to: int
    FROM: int


@pytest.fixture
def edge(declared):
    return declared(EDGE)


def test_names_decide_in_any_order_and_case_whatever_the_facts_are(edge):
    info, types, _ = edge
    shapes = [
        REVERSED,
        pa.table(REVERSED),
        pa.table({**REVERSED, "weight": [0.5, 0.5]}),
        pandas.DataFrame(REVERSED),
        polars.DataFrame(REVERSED),
        [{"TO": 2, "From": 1}, {"from": 3, "to": 4}],
        [Row(TO=2, From=1), Row(**{"to": 4, "from": 3})],
        [Backward(2, 1), Backward(4, 3)],
        [Arc(2, 1), Arc(4, 3)],
        [Row(to=Decimal(2), FROM=Decimal(1)), (3, 4)],
    ]
    for shape in shapes:
        bad = BadRows()
        assert table_of(shape, info, types, bad).to_pydict() == EXPECTED, shape
        assert bad.report() == [], shape


def test_names_decide_in_files(edge, tmp_path):
    info, types, directive = edge
    parquet.write_table(pa.table(REVERSED), tmp_path / "edge.parquet")
    feather.write_feather(pa.table(REVERSED), str(tmp_path / "edge.arrow"))
    (tmp_path / "edge.json").write_text('[{"TO": 2, "From": 1}, {"to": 4, "from": 3}]')
    with sqlite3.connect(tmp_path / "edge.sqlite") as database:
        database.execute('CREATE TABLE edge("TO", "From")')
        database.executemany("INSERT INTO edge VALUES (?, ?)", [(2, 1), (4, 3)])
    for suffix in ("parquet", "arrow", "json", "sqlite"):
        bad = BadRows()
        found = given_table(tmp_path / f"edge.{suffix}", info, types, directive, bad)
        assert found.to_pydict() == EXPECTED, suffix
        assert bad.report() == [], suffix


def test_names_that_say_nothing_leave_the_position_which_is_told(edge, tmp_path):
    info, types, directive = edge
    columns = {"src": [1, 3], "dst": [2, 4]}
    parquet.write_table(pa.table(columns), tmp_path / "edge.parquet")
    with sqlite3.connect(tmp_path / "edge.sqlite") as database:
        database.execute("CREATE TABLE edge(src, dst)")
        database.executemany("INSERT INTO edge VALUES (?, ?)", [(1, 2), (3, 4)])
    shapes = [
        pa.table(columns),
        pandas.DataFrame(columns),
        polars.DataFrame(columns),
        [Other(1, 2), Other(3, 4)],
        [Row(src=1, dst=2), Row(src=3, dst=4)],
        tmp_path / "edge.parquet",
        tmp_path / "edge.sqlite",
    ]
    for shape in shapes:
        bad = BadRows()
        assert given_table(shape, info, types, directive, bad).to_pydict() == EXPECTED, shape
        assert render(bad.report()) == (
            "warning[TL1260]: facts of relation `edge`: no column is named as an attribute, so they are taken by "
            "position: `src` as `from`, `dst` as `to`\n"
            "  help: name the columns as the attributes (from, to), then their order does not matter"
        ), shape
    bad = BadRows()
    assert table_of([(1, 2), [3, 4]], info, types, bad).to_pydict() == EXPECTED
    assert bad.report() == [], "rows without names have nothing but their positions"


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (["from", "dest"], "facts of relation `edge`: no column `to`, an unknown column `dest`"),
        (["to", "x", "y"], "facts of relation `edge`: no column `from`, an unknown column `x`, an unknown column `y`"),
        (["to"], "facts of relation `edge`: no column `from`"),
        (["x", "y", "z"], "facts of relation `edge`: 3 columns (x, y, z), but it has 2 attributes"),
        (["From", "FROM", "to"], "facts of relation `edge`: which column is `from`? There are From, FROM"),
        (["from", "from", "to"], "facts of relation `edge`: which column is `from`? There are from, from"),
    ],
)
def test_names_that_are_attributes_in_part_or_twice_are_an_error(edge, names, text):
    with pytest.raises(TidelogError) as raised:
        chosen_columns(names, edge[0])
    assert [(d.code, d.message) for d in raised.value.diagnostics] == [("TL0631", text)]
    assert chosen_columns(["From", "from", "to"], edge[0]).positions == (1, 2), "the very name comes first"


def test_attributes_that_differ_only_in_case_want_their_very_names(declared):
    info = declared(".decl r(x: number, X: number)")[0]
    assert chosen_columns(["X", "x"], info).positions == (1, 0)
    with pytest.raises(TidelogError, match="no column `x`"):
        chosen_columns(["X", "y"], info)


def test_records_go_by_the_names_of_their_fields(declared):
    info, types, _ = declared(".decl r(l: List)")
    rows = [(Row(tail=None, head=1),), ({"tail": None, "head": 2},), ((3, None),)]
    assert table_of(rows, info, types).to_pydict() == {"l": ["[1, nil]", "[2, nil]", "[3, nil]"]}
    with pytest.raises(TidelogError, match="does not have the fields head, tail"):
        table_of([(Row(first=1, rest=None),)], info, types)


@pytest.mark.filterwarnings("always")
def test_a_session_tells_once_how_columns_were_taken(recwarn):
    named = pa.table({"src": [1], "dst": [2]})
    with tidelog.Session(EDGE) as s:
        with pytest.raises(TidelogError):
            s.bootstrap({"edge": named, "nothing": []})
        assert [d.code for d in s.bootstrap({"edge": named}).warnings] == ["TL1260"]
        assert s.update(insert={"edge": named}).warnings == ()
        other = s.update(delete={"edge": pa.table({"a": [1], "b": [2]})})
        assert "`a` as `from`, `b` as `to`" in other.warnings[0].message
    assert [str(told.message).split(":")[0] for told in recwarn] == 2 * ["facts of relation `edge`"]


def test_change_feeds_go_by_name_too():
    with tidelog.Session(EDGE) as s:
        s.bootstrap({"edge": [(1, 2), (3, 4)]})
        s.apply({"edge": pa.table({"TO": [2, 6], "_change_type": ["delete", "insert"], "FROM": [1, 5]})})
        assert set(s["edge"]) == {(3, 4), (5, 6)}
        s.apply({"edge": [Row(to=8, _change_type="insert", FROM=7), {"to": 4, "FROM": 3, "_change_type": "delete"}]})
        assert set(s["edge"]) == {(5, 6), (7, 8)}
        epoch = s.apply({"edge": pa.table({"a": [9], "b": [9], "_change_type": ["insert"]})})
        assert [d.code for d in epoch.warnings] == ["TL1260"]
        with pytest.raises(TidelogError, match="no column `to`, an unknown column `b`"):
            s.apply({"edge": pa.table({"from": [9], "b": [9], "_change_type": ["insert"]})})


def test_rows_that_are_no_facts_can_be_skipped_and_are_counted(tmp_path):
    table = pa.table({"to": [2, None, 4, 5, None], "from": [1, 2, None, 4, None]})
    parquet.write_table(table, tmp_path / "edge.parquet")
    rows = [Row(to=2, FROM=1), (3, None), ("x", 4), (4, 5), (1,)]
    feed = table.append_column("_change_type", pa.array(["insert", "insert", "delete", "insert", "delete"]))
    with tidelog.Session(EDGE, skip_bad_rows=True) as s:
        for facts, what in (
            (table, "facts of relation `edge`"),
            (tmp_path / "edge.parquet", tmp_path / "edge.parquet"),
        ):
            epoch = s.bootstrap({"edge": facts})
            assert set(s["edge"]) == {(1, 2), (4, 5)}
            assert [d.message for d in epoch.warnings] == [f"{what}: 3 malformed facts skipped"]
            assert "row 2: attribute `to`: null is not a value" in render(epoch.warnings)
        epoch = s.bootstrap({"edge": rows})
        assert set(s["edge"]) == {(1, 2), (4, 5)}
        assert "3 malformed facts skipped" in render(epoch.warnings)
        s.bootstrap({"edge": []})
        epoch = s.apply({"edge": feed})
        assert set(s["edge"]) == {(1, 2), (4, 5)}
        assert "changes of relation `edge`: 3 malformed facts skipped" in render(epoch.warnings)
        with pytest.raises(TidelogError, match="a column of double cannot hold values of kind number"):
            s.update(insert={"edge": pa.table({"from": [1.5, None], "to": [1, 2]})})


def test_whole_decimals_are_numbers_and_others_are_not(declared):
    info = declared(".decl r(n: number, u: unsigned)")[0]
    kind = pa.decimal128(38, 0)
    good = pa.table({"n": pa.array([Decimal(-5)], kind), "u": pa.array([Decimal(2**64 - 1)], kind)})
    assert table_of(good, info).to_pydict() == {"n": [-5], "u": [2**64 - 1]}
    assert table_of([(Decimal(-5), Decimal("7.0"))], info).to_pydict() == {"n": [-5], "u": [7]}
    large = pa.table({"n": pa.array([Decimal(10**19)], kind), "u": pa.array([Decimal(-1)], kind)})
    with pytest.raises(TidelogError) as raised:
        table_of(large, info)
    assert [d.message for d in raised.value.diagnostics] == [
        "facts of relation `r`, row 1: attribute `n`: 10000000000000000000 does not fit into 64 bits; "
        "attribute `u`: -1 is negative"
    ]
    with pytest.raises(TidelogError, match=r"a column of decimal128\(10, 2\) cannot hold values of kind number"):
        table_of(pa.table({"n": pa.array([Decimal("1.50")], pa.decimal128(10, 2)), "u": [1]}), info)
    with pytest.raises(TidelogError, match=r"Decimal\('1.5'\) is not a number"):
        table_of([(Decimal("1.5"), 1)], info)
