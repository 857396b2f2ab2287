"""The DataFrame executor while everything is small: in this process, with few Spark jobs or none; then on Spark."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from tidelog import Session
from tidelog.errors import TidelogError
from tidelog.spark.dataframe import small
from tidelog.spark.dataframe.engine import DataFrames

PROGRAM = """
.decl edge(x: number, y: number)
.input edge
.decl path(x: number, y: number)
path(x, y) :- edge(x, y).
path(x, z) :- path(x, y), edge(y, z).
.decl far(u: unsigned, s: symbol)
far(itou(x), to_string(y)) :- path(x, y), y > x + 1.
.decl loop()
loop() :- path(x, x).
"""
CHAIN = [(i, i + 1) for i in range(4)]


def rows(frame: Any) -> set[tuple[Any, ...]]:
    return {tuple(row) for row in frame.collect()}


def paths(edges: set[tuple[int, int]]) -> set[tuple[int, int]]:
    found = set(edges)
    while more := {(x, z) for x, y in found for u, z in edges if u == y} - found:
        found |= more
    return found


def jobs_of(spark: Any, group: str, action: Any) -> int:
    spark.sparkContext.setJobGroup(group, group)
    try:
        action()
    finally:
        spark.sparkContext.setJobGroup("tests", "tests")
    return len(spark.sparkContext.statusTracker().getJobIdsForGroup(group))


def test_a_small_program_takes_no_spark_job_but_to_collect_frames(spark: Any) -> None:
    frame = spark.createDataFrame([(2, 3), (7, 8)], "x bigint, y bigint").repartition(2).localCheckpoint()
    with Session(PROGRAM, spark=spark, executor="dataframe") as s:
        assert jobs_of(spark, "small rows", lambda: s.bootstrap({"edge": CHAIN})) == 0
        assert jobs_of(spark, "small count", lambda: s.count("path")) == 0
        assert jobs_of(spark, "small frame", lambda: s.update(delete={"edge": frame})) >= 1
        assert s["path"] is s["path"]
        assert rows(s["path"]) == paths({(0, 1), (1, 2), (3, 4)})
        assert rows(s["far"]) == {(0, "2")}
        assert (rows(s["loop"]), rows(s.query("edge(X, 4)"))) == (set(), {(3,)})


@pytest.mark.parametrize("limit", ["MOST_FACTS", "MOST_TUPLES"])
def test_what_becomes_too_large_goes_on_on_spark_from_the_same_epoch(
    spark: Any, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    began: list[int] = []
    taken = DataFrames.take_over
    monkeypatch.setattr(DataFrames, "take_over", lambda *given: (began.append(given[1]), taken(*given))[1])
    with Session(PROGRAM, spark=spark, executor="dataframe") as s:
        s.bootstrap({"edge": CHAIN})
        monkeypatch.setattr(small, limit, 1)
        epoch = s.update(insert={"edge": [(4, 0), (0, 1)]}, delete={"edge": [(2, 3), (9, 9)]})
        assert began == [1]
        assert (epoch.number, epoch.strategy, epoch.why) == (2, "bootstrap", "it has become too large for one process")
        old, new = paths(set(CHAIN)), paths({(0, 1), (1, 2), (3, 4), (4, 0)})
        assert rows(epoch.inserted["path"]) == new - old
        assert rows(epoch.deleted["path"]) == old - new
        assert (epoch.ignored_inserts, epoch.ignored_deletes) == ({"edge": 1}, {"edge": 1})
        assert rows(s["far"]) == {(x, str(y)) for x, y in new if y > x + 1}
        epoch = s.update(insert={"edge": [(2, 3)]}, clear=())
        assert (epoch.number, s.count("path"), rows(s["loop"])) == (3, 25, {(True,)})
        assert began == [1], "once on Spark, it stays there"


def test_a_change_that_is_refused_on_spark_leaves_the_small_epoch(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    text = ".decl n(x: number)\n.input n\n.decl q(x: number)\nq(12 / x) :- n(x).\n"
    with Session(text, spark=spark, executor="dataframe") as s:
        s.bootstrap({"n": [(3,)]})
        monkeypatch.setattr(small, "MOST_FACTS", 0)
        with pytest.raises(TidelogError, match="12 / 0: division by zero"):
            s.update(insert={"n": [(0,)]})
        assert (s.epoch, rows(s["q"])) == (1, {(4,)})
        s.update(insert={"n": [(2,)]})
        assert (s.epoch, rows(s["q"])) == (2, {(4,), (6,)})


def test_facts_that_cannot_be_are_refused_before_anything_changes(spark: Any) -> None:
    text = ".decl p(x: number, u: unsigned)\n.input p\n"
    with Session(text, spark=spark, executor="dataframe", strict=True) as s:
        with pytest.raises(TidelogError, match="attribute `x`: null is not a value"):
            s.bootstrap({"p": spark.createDataFrame([(None, 1)], "x bigint, u bigint")})
        s.bootstrap({"p": spark.createDataFrame([(1, Decimal(2**63))], "x int, u decimal(20,0)")})
        with pytest.raises(TidelogError, match="is not there"):
            s.update(delete={"p": [(2, 2)]})
        assert (s.epoch, rows(s["p"])) == (1, {(1, Decimal(2**63))})
