"""What a session on Spark makes of names, nulls, decimals, folders and tables, with either executor."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import tidelog
from tidelog.errors import TidelogError, render
from tidelog.spark import places

PROGRAM = """
.decl edge(from: number, to: number)
.input edge
.decl back(a: number, b: number)
back(b, a) :- edge(a, b).
.decl size(u: unsigned, f: float)
.input size
"""
EXECUTORS = ["columnar", "dataframe"]


@pytest.fixture(scope="module", params=EXECUTORS)
def session(spark: Any, request: pytest.FixtureRequest) -> Iterator[tidelog.Session]:
    with tidelog.Session(PROGRAM, spark=spark, executor=request.param) as opened:
        opened.bootstrap({})
        yield opened


@pytest.fixture(scope="module")
def reader(spark: Any) -> Iterator[tidelog.Session]:
    """A session that is only asked what facts are; both executors read them in the same way."""
    with tidelog.Session(PROGRAM, spark=spark, executor="dataframe") as opened:
        yield opened


def rows(frame: Any) -> set[tuple[Any, ...]]:
    return {tuple(row) for row in frame.collect()}


def taken(session: tidelog.Session, facts: Any) -> set[tuple[Any, ...]]:
    """What these facts are to the session."""
    found = session.validated("edge", facts)
    if isinstance(found, pa.Table):
        return {tuple(row.values()) for row in found.to_pylist()}
    return rows(found)


def test_names_decide_in_any_order_and_case(session: tidelog.Session, spark: Any) -> None:
    from pyspark.sql import Row

    reversed_rows = [Row(**{"to": 2, "from": 1})]
    frame = spark.createDataFrame([(2, "x", 1)], "TO int, other string, FROM bigint")
    for facts in (frame.toDF("To", "a.b", "from"), reversed_rows, pa.table({"TO": [2], "From": [1]})):
        assert taken(session, facts) == {(1, 2)}, facts
    epoch = session.bootstrap({"edge": frame})
    assert rows(session["edge"]) == {(1, 2)}
    assert session["edge"] is session["edge"]
    assert epoch.warnings == ()
    session.update(delete={"edge": spark.createDataFrame([(2, 1)], "TO int, FROM bigint")})
    assert rows(session["edge"]) == set()
    feed = [(2, "insert", 1), (8, "insert", 7), (8, "delete", 7)]
    session.apply({"edge": spark.createDataFrame(feed, "TO int, _change_type string, FROM int")})
    assert rows(session["edge"]) == {(1, 2), (7, 8)}


def test_names_that_say_nothing_leave_the_position_and_are_told_once(session: tidelog.Session, spark: Any) -> None:
    frame = spark.createDataFrame([(1, 2)], "src int, dst int")
    with pytest.warns(tidelog.TidelogWarning, match="`src` as `from`"):
        first = session.bootstrap({"edge": frame})
    assert rows(session["edge"]) == {(1, 2)}
    assert [d.code for d in first.warnings] == ["TL1260"]
    assert "`src` as `from`, `dst` as `to`" in first.warnings[0].message
    with warnings.catch_warnings():
        warnings.simplefilter("error", tidelog.TidelogWarning)  # PySpark leaves sockets of `collect` to be collected
        assert session.update(insert={"edge": frame}).warnings == ()
    feed = spark.createDataFrame([(3, 4, "insert")], "x int, y int, _change_type string")
    assert [d.code for d in session.apply({"edge": feed}).warnings] == ["TL1260"]
    assert session.apply({"edge": feed}).warnings == ()
    for columns in ("from int, dest int", "to int, x int, y int", "x int, y int, z int"):
        width = columns.count(",") + 1
        with pytest.raises(TidelogError, match="TL0631"):
            session.update(insert={"edge": spark.createDataFrame([(1,) * width], columns)})
    with pytest.raises(TidelogError, match="TL0631"):
        session.apply({"edge": feed.toDF("from", "dest", "_change_type")})


def test_decimals_are_numbers_if_they_are_whole_and_fit(session: tidelog.Session, spark: Any) -> None:
    def decimals(kind: str, *values: str) -> Any:
        pair = [(Decimal(value), 1) for value in values]
        return spark.createDataFrame(pair, f"from decimal({kind}), to int")

    session.bootstrap({"edge": decimals("38,0", "5", "-7")})
    assert rows(session["edge"]) == {(5, 1), (-7, 1)}
    with pytest.raises(TidelogError) as raised:
        session.update(insert={"edge": decimals("38,0", "1", str(10**19)).repartition(2)})
    assert "facts of relation `edge`: attribute `from`: 10000000000000000000 does not fit into 64 bits" in str(
        raised.value
    )
    with pytest.raises(TidelogError, match=r"TL1203.*column `from` is decimal\(10,2\)"):
        session.update(insert={"edge": decimals("10,2", "1.50")})
    unsigned = spark.createDataFrame([(Decimal(2**64), 1.0)], "u decimal(38,0), f double")
    with pytest.raises(TidelogError, match="attribute `u`: 18446744073709551616 does not fit into 64 bits"):
        session.update(insert={"size": unsigned})
    exact = spark.createDataFrame([(1, 2**53 + 1)], "u int, f bigint")
    with pytest.raises(TidelogError, match="attribute `f`: 9007199254740993 is not exactly a float"):
        session.update(insert={"size": exact})
    largest = spark.createDataFrame([(Decimal(2**64 - 1), 2)], "u decimal(38,0), f bigint")
    session.update(insert={"size": largest})
    assert rows(session["size"]) == {(Decimal(2**64 - 1), 2.0)}
    session.update(delete={"size": session["size"].collect()})
    assert rows(session["size"]) == set()


@pytest.mark.parametrize("executor", EXECUTORS)
def test_null_rows_can_be_skipped_and_are_counted(spark: Any, tmp_path: Path, executor: str) -> None:
    nulls = [(1, 2), (None, 3), (4, None), (None, None), (5, 6)]
    frame = spark.createDataFrame(nulls, "from int, to int").selectExpr("from", "cast(to AS decimal(38,0)) AS to")
    frame.write.parquet(str(tmp_path / "edges"))
    program = PROGRAM.replace(".input size", f'.input size(IO="spark", format="parquet", path="{tmp_path}/edges")')
    program = program.replace("size(u: unsigned, f: float)", "size(from: number, to: unsigned)")
    with tidelog.Session(program, spark=spark, executor=executor, skip_bad_rows=True) as s:
        epoch = s.bootstrap({"edge": frame.repartition(2)})  # which tasks look at; a few rows the driver does
        assert rows(s["back"]) == {(2, 1), (6, 5)}
        assert [d.message for d in epoch.warnings] == ["facts of relation `edge`: 3 malformed facts skipped"]
        assert "attribute `from`: null is not a value" in render(epoch.warnings)
        epoch = s.update(insert={"size": str(tmp_path / "edges"), "edge": [(7, 8), (9, None)]})
        assert {tuple(map(int, row)) for row in rows(s["size"])} == {(1, 2), (5, 6)}
        assert (7, 8) in rows(s["edge"])
        assert sorted(d.message for d in epoch.warnings) == [
            "facts of relation `edge`: 1 malformed fact skipped", "facts of relation `size`: 3 malformed facts skipped",
        ]  # fmt: skip
        feed = frame.selectExpr("to", "from", "'delete' AS _change_type")
        epoch = s.apply({"edge": feed})
        assert rows(s["edge"]) == {(7, 8)}
        assert "3 malformed facts skipped" in render(epoch.warnings)


@pytest.mark.parametrize("kind", ["parquet", "orc", "csv", "json", "text"])
def test_a_folder_is_read_as_what_is_in_it(reader: tidelog.Session, spark: Any, tmp_path: Path, kind: str) -> None:
    folder = tmp_path / "edges"
    frame = spark.createDataFrame([(2, 1), (4, 3)], "to int, from int")
    if kind in ("parquet", "orc", "json"):
        frame.write.format(kind).save(str(folder))
    elif kind == "csv":
        frame.select("from", "to").write.csv(str(folder))
    else:
        frame.selectExpr("concat_ws('\\t', from, to)").write.text(str(folder))
    assert (folder / "_SUCCESS").exists()
    for given in (folder, str(folder), f"file://{folder}"):
        if kind == "csv" and "://" in str(given):
            continue  # a text without a suffix at a URI is separated by tabs
        assert taken(reader, given) == {(1, 2), (3, 4)}, given


def test_names_in_the_header_of_csv_and_in_json_decide(spark: Any, tmp_path: Path) -> None:
    spark.createDataFrame([(2, "x", 1)], "TO int, o string, From int").write.option("header", "true").csv(
        str(tmp_path / "csv")
    )
    spark.createDataFrame([(2, 1)], "TO int, From int").write.json(str(tmp_path / "json"))
    for kind in ("csv", "json"):
        program = PROGRAM.replace(
            ".input edge", f'.input edge(IO="spark", format="{kind}", path="{tmp_path}/{kind}", header="true")'
        ).replace(".input size", "")
        with tidelog.Session(program, spark=spark, executor="dataframe") as s:
            assert s.bootstrap().warnings == ()
            assert rows(s["edge"]) == {(1, 2)}


def test_a_table_is_known_by_its_name_unless_a_file_has_it(
    reader: tidelog.Session, spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    frame = spark.createDataFrame([(2, 1)], "to int, from int")
    frame.createOrReplaceTempView("some_edges")
    frame.write.mode("overwrite").saveAsTable("kept_edges")
    try:
        assert taken(reader, "some_edges") == {(1, 2)}
        assert taken(reader, "spark_catalog.default.kept_edges") == {(1, 2)}
        Path("some_edges").write_text("7\t8\n")
        assert taken(reader, "some_edges") == {(7, 8)}
        for unknown in ("no_edges", "some_catalog.no.edges", "no edges at all.csv"):
            with pytest.raises(TidelogError, match=r"TL1263.*neither a file or folder nor a table"):
                reader.bootstrap({"edge": unknown})
        with pytest.raises(TidelogError, match=r"TL0620.*there is no such file"):
            reader.bootstrap({"edge": "./no_edges"})
    finally:
        spark.catalog.dropTempView("some_edges")
        spark.sql("DROP TABLE kept_edges")


def test_the_format_at_a_uri_that_only_spark_sees_is_that_of_its_files(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "local_path", lambda path: None)
    frame = spark.createDataFrame([(2, 1)], "to int, from int")
    for kind in ("parquet", "orc", "json"):
        frame.write.format(kind).save(str(tmp_path / kind))
        assert places.format_of_uri(spark, f"file://{tmp_path}/{kind}") == kind
    frame.selectExpr("concat_ws('\\t', from, to)").write.text(str(tmp_path / "text"))
    assert places.format_of_uri(spark, f"file://{tmp_path}/text") == "text"
    (tmp_path / "parquet" / "_delta_log").mkdir()
    (tmp_path / "parquet" / "_delta_log" / "0.json").write_text("{}")
    assert places.format_of_uri(spark, f"file://{tmp_path}/parquet") == "delta"


def test_records_may_be_structs_whose_fields_have_names(spark: Any) -> None:
    program = ".type P = [a: number, b: symbol]\n.decl r(p: P)\n.input r\n"
    frame = spark.sql("SELECT named_struct('b', 'x', 'a', 1) AS p")
    for executor in EXECUTORS:
        with tidelog.Session(program, spark=spark, executor=executor) as s:
            s.bootstrap({"r": frame})
            assert rows(s["r"]) == {("[1, x]",)}, executor
