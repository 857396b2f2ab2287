"""Facts that Spark's tasks read: files beyond the size that the driver reads itself, and Spark's own formats."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tidelog
from tidelog.errors import TidelogError, render
from tidelog.spark import files, places
from tidelog.spark.dataframe import small

PROGRAM = """
.decl edge(a: number, b: symbol)
.input edge{params}
.decl back(b: symbol, a: number)
back(b, a) :- edge(a, b).
"""
ROWS = {(1, "x"), (0x10, "ä\u2028b"), (-3, "")}


@pytest.fixture(autouse=True)
def _nothing_is_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "SMALL", -1)


def program(params: str = "") -> str:
    return PROGRAM.replace("{params}", params)


def facts(spark: Any, folder: Path, params: str = "", **settings: Any) -> set[tuple[Any, ...]]:
    with tidelog.Session(program(params), spark=spark, facts=folder, **settings) as s:
        s.bootstrap()
        return {(row.a, row.b) for row in s["back"].collect()}


def test_lines_mean_the_same_as_without_spark(spark: Any, tmp_path: Path) -> None:
    (tmp_path / "edge.facts").write_text("1\tx\n0x10\tä\u2028b\n-3\t\n", encoding="utf-8")
    with tidelog.Session(program(), facts=tmp_path) as s:
        s.bootstrap()
        assert {(a, b) for b, a in s["back"]} == ROWS
    assert facts(spark, tmp_path) == ROWS
    with tidelog.Session(program(), spark=spark) as s:
        s.bootstrap({"edge": tmp_path / "edge.facts"})
        assert {(row.a, row.b) for row in s["back"].collect()} == ROWS


def test_malformed_lines_are_named_with_their_numbers(spark: Any, tmp_path: Path) -> None:
    (tmp_path / "edge.facts").write_text("1\tx\n" * 50 + "y\tx\n3\n")
    with pytest.raises(TidelogError) as raised:
        facts(spark, tmp_path)
    assert "edge.facts:51:1" in str(raised.value)
    assert "edge.facts:52" in str(raised.value)


def test_malformed_lines_can_be_skipped_and_are_counted(spark: Any, tmp_path: Path) -> None:
    (tmp_path / "edge.facts").write_text("1\tx\ny\tx\n3\n")
    with tidelog.Session(program(), spark=spark, facts=tmp_path, skip_bad_rows=True) as s:
        epoch = s.bootstrap()
        assert "2 malformed facts skipped" in epoch.warnings[0].message
        assert s["edge"].count() == 1


@pytest.mark.parametrize("executor", ["columnar", "dataframe"])
def test_any_format_that_spark_reads_is_an_input(spark: Any, tmp_path: Path, executor: str) -> None:
    spark.createDataFrame(list(ROWS), "a bigint, b string").write.orc(str(tmp_path / "orc"))
    found = facts(spark, tmp_path, f'(IO="spark", format="orc", path="{tmp_path}/orc")', executor=executor)
    assert found == ROWS


def test_options_go_to_the_format(spark: Any, tmp_path: Path) -> None:
    (tmp_path / "edge.csv").write_text("a|b\n1|x\n")
    params = f'(IO="spark", format="csv", path="{tmp_path}/edge.csv", sep="|", header="true")'
    assert facts(spark, tmp_path, params) == {(1, "x")}


def test_what_spark_cannot_read_is_said_with_its_place(spark: Any, tmp_path: Path) -> None:
    with pytest.raises(TidelogError) as raised:
        facts(spark, tmp_path, f'(IO="spark", format="parquet", path="{tmp_path}/nowhere")')
    assert raised.value.codes == ("TL1205",)
    assert "nowhere" in str(raised.value)
    assert ".input edge(" in str(raised.value)


@pytest.mark.parametrize("executor", ["columnar", "dataframe"])
def test_columns_of_parquet_go_by_name_or_by_position_and_folders_may_have_partitions(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, executor: str
) -> None:
    monkeypatch.setattr(small, "MOST_FACTS", -1)
    numbers, texts = zip(*ROWS, strict=True)
    pq.write_table(pa.table({"b": texts, "a": numbers}), tmp_path / "named.parquet")
    pq.write_table(pa.table({"x": pa.array(numbers, pa.int32()), "y": texts}), tmp_path / "placed.parquet")
    spark.createDataFrame(list(ROWS), "a bigint, b string").write.partitionBy("a").parquet(str(tmp_path / "parts"))
    program = "".join(
        f'.decl {name}(a: number, b: symbol)\n.input {name}(IO="spark", format="parquet", path="{tmp_path}/{file}")\n'
        for name, file in (("named", "named.parquet"), ("placed", "placed.parquet"), ("parted", "parts"))
    )
    with tidelog.Session(program, spark=spark, executor=executor) as s:
        s.bootstrap()
        for name in ("named", "placed", "parted"):
            assert {(row.a, row.b) for row in s[name].collect()} == ROWS, name


def test_a_null_in_parquet_is_an_error(spark: Any, tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": [1, None], "b": ["x", "y"]}), tmp_path / "edge.parquet")
    with pytest.raises(TidelogError) as raised:
        facts(spark, tmp_path, f'(IO="spark", format="parquet", path="{tmp_path}/edge.parquet")')
    assert "attribute `a`" in str(raised.value)


@pytest.mark.parametrize("executor", ["columnar", "dataframe"])
@pytest.mark.parametrize("strategy", ["elastic", "batch"])
def test_facts_of_a_relation_may_come_in_several_ways(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, executor: str, strategy: str
) -> None:
    monkeypatch.setattr(small, "MOST_FACTS", -1)
    monkeypatch.setattr(places, "SMALL", 100)
    (tmp_path / "small.facts").write_text("1\tx\n2\tx\n")
    (tmp_path / "large.facts").write_text("".join(f"{i}\ty{i}\n" for i in range(100)))
    pq.write_table(pa.table({"a": range(1000), "b": [f"z{i}" for i in range(1000)]}), tmp_path / "all.parquet")
    spark.createDataFrame([(7, "orc")], "a bigint, b string").write.orc(str(tmp_path / "orc"))
    ways = [
        '(filename="small.facts")', '(filename="large.facts")',
        f'(IO="spark", format="parquet", path="{tmp_path}/all.parquet")',
        f'(IO="spark", format="orc", path="{tmp_path}/orc")',
    ]  # fmt: skip
    expected = {(1, "x"), (2, "x"), (7, "orc")} | {(i, f"y{i}") for i in range(100)}
    expected |= {(i, f"z{i}") for i in range(1000)}
    text = program("\n.input edge".join(ways)) + "edge(a, b) :- back(b, a), a < 0.\n"
    with tidelog.Session(text, spark=spark, facts=tmp_path, executor=executor, strategy=strategy) as s:
        s.bootstrap()
        assert {(row.a, row.b) for row in s["back"].collect()} == expected
        s.update(delete={"edge": tmp_path / "large.facts"}, insert={"edge": [(-1, "new")]})
        expected = expected - {(i, f"y{i}") for i in range(100)} | {(-1, "new")}
        assert {(row.a, row.b) for row in s["back"].collect()} == expected
        s.bootstrap()
        assert s["back"].count() == 1103


@pytest.mark.parametrize("executor", ["columnar", "dataframe", "spread"])
def test_lines_have_their_numbers_also_in_later_stretches(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, executor: str
) -> None:
    monkeypatch.setattr(files, "TEXT_STRETCH", 50)
    if executor == "spread":
        monkeypatch.setattr(small, "MOST_FACTS", -1)
        executor = "dataframe"
    (tmp_path / "edge.facts").write_text("".join(f"{i}\tx\n" for i in range(100)) + "y\tx\n" + "3\tx\n" * 20 + "4\n")
    with pytest.raises(TidelogError) as raised:
        facts(spark, tmp_path, executor=executor)
    assert [d.code for d in raised.value.diagnostics] == ["TL0621", "TL0622"]
    assert "edge.facts:101:1" in str(raised.value)
    assert "edge.facts:122" in str(raised.value)
    with tidelog.Session(program(), spark=spark, facts=tmp_path, executor=executor, skip_bad_rows=True) as s:
        shown = render(s.bootstrap().warnings)
        assert s["edge"].count() == 100
    assert shown.count("warning") == 1
    assert "2 malformed facts skipped" in shown
    assert "edge.facts:101:1" in shown


def test_a_bootstrap_that_fails_leaves_no_facts_behind(spark: Any, tmp_path: Path) -> None:
    path = tmp_path / "edge.facts"
    with tidelog.Session(program(), spark=spark, facts=tmp_path) as s:
        path.write_text("1\tx\nthree\tx\n")
        with pytest.raises(TidelogError, match="is not a number"):
            s.bootstrap()
        path.write_text("2\tx\n")
        s.bootstrap()
        assert [row.a for row in s["edge"].collect()] == [2]
