"""Outputs of a session on Spark: by Spark where the program says so, else the same bytes as without Spark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tidelog import Session, TidelogError
from tidelog.analysis.check import check
from tidelog.errors import Report
from tidelog.lang.souffle import parse
from tidelog.session import checked_program
from tidelog.spark import write

RULES = """
    .decl edge(a: symbol, b: symbol)
    .input edge
    .decl size(n: unsigned, f: float)
    .input size
    .decl any()
    any() :- edge(_, _).
    .decl path(a: symbol, b: symbol)
    path(a, b) :- edge(a, b).
    path(a, c) :- path(a, b), edge(b, c).
"""
FILES = """
    .output path
    .output size(rfc4180=true, filename="sizes.csv", headers=true)
    .output any
    .output path(IO=parquet, filename="path.parquet")
    .output path(IO=arrow, filename="path.arrow")
    .output path(IO=sqlite, filename="path.db")
    .output path(IO=jsonfile, filename="path.json")
    .printsize path
"""
FACTS = {"edge": [(f"n{i}", f"n{i + 1}") for i in range(30)], "size": [(2**63 + i, i / 4) for i in range(3)]}


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.suffix != ".db"}


def test_spark_writes_what_it_is_asked_to_and_files_have_the_same_bytes_as_without_it(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import pyarrow.feather as feather
    import pyarrow.parquet as parquet

    by_spark = f"""
        .output path(IO=spark, format=orc, path="{tmp_path}/path.orc")
        .output size(IO=spark, format=csv, path="{tmp_path}/sizes", header=true, partitionBy="n", mode=append)
        .output path(IO=spark, table="paths")
        .output any(IO=spark, path="{tmp_path}/any")
        .output size(IO=spark, format=nonsense, path="{tmp_path}/no")
    """
    with Session(RULES + FILES) as s:
        s.bootstrap(FACTS)
        assert s.write_outputs(tmp_path / "local") == []
        printed = capsys.readouterr().out
    with Session(RULES + FILES + by_spark, spark=spark) as s:
        s.bootstrap(FACTS)
        assert s.count("path") == 465
        with pytest.raises(TidelogError, match=r"Spark cannot write relation `size`.*nonsense"):
            s.write_outputs(tmp_path / "spark")
        assert contents(tmp_path / "spark") == contents(tmp_path / "local")
        assert capsys.readouterr().out == printed
        monkeypatch.setattr(write, "SMALL", 50)
        with pytest.raises(TidelogError, match="nonsense"):
            s.write_outputs(tmp_path / "pieces")
    pieces, local = contents(tmp_path / "pieces"), contents(tmp_path / "local")
    for name, read in (("path.parquet", parquet.read_table), ("path.arrow", feather.read_table)):
        assert read(tmp_path / "pieces" / name).equals(read(tmp_path / "local" / name))
        del pieces[name], local[name]
    assert pieces == local
    assert spark.read.orc(f"{tmp_path}/path.orc").count() == spark.table("paths").count() == 465
    sizes = spark.read.option("header", True).csv(f"{tmp_path}/sizes")
    assert sizes.count() == 6  # appended twice
    assert sorted(sizes.columns) == ["f", "n"]
    assert spark.read.parquet(f"{tmp_path}/any").collect() == [(True,)]


def test_an_output_by_spark_needs_spark() -> None:
    with Session(RULES + '.output path(IO=spark, path="x")\n') as s:
        s.bootstrap(FACTS)
        with pytest.raises(TidelogError, match=r"(?s)TL0628.*without --local"):
            s.write_outputs(".")


def test_options_of_a_format_are_not_warned_about_and_what_is_missing_is_an_error() -> None:
    assert checked_program(RULES + '.output path(IO=spark, format=csv, path="x", sep=";")\n').warnings == ()
    report = Report()
    with pytest.raises(TidelogError) as raised:
        check(
            parse(RULES + ".output path(IO=spark, header=true)\n.output any(IO=spark, path=x, mode=replace)\n"), report
        )
    assert [d.code for d in raised.value.diagnostics] == ["TL0610", "TL0610"]
