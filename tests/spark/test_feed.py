"""Change feeds as DataFrames: what an epoch gives and takes on Spark."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

from tidelog import Session, TidelogError
from tidelog.local.feed import split_table
from tidelog.session import checked_program

PROGRAM = checked_program("""
    .decl edge(a: symbol, b: symbol)
    .input edge
    .decl size(n: unsigned, f: float)
    .input size
    .decl path(a: symbol, b: symbol)
    path(a, b) :- edge(a, b).
    path(a, c) :- path(a, b), edge(b, c).
    .decl alone()
    alone() :- !edge(_, _).
""")
START = {"edge": [("a", "b"), ("b", "c")], "size": []}


@pytest.fixture(scope="module")
def session(spark: Any) -> Iterator[Session]:
    with Session(PROGRAM, spark=spark) as opened:
        yield opened


def rows(frame: Any) -> set[tuple[Any, ...]]:
    return {tuple(row) for row in frame.collect()}


def test_an_epoch_gives_its_changes_as_one_frame_per_relation(session: Session) -> None:
    session.bootstrap(START)
    epoch = session.update(insert={"edge": [("b", "d")]}, delete={"edge": [("b", "c")]})
    n = epoch.number
    feed = epoch.changes["path"]
    assert feed.columns == ["a", "b", "_change_type", "_epoch"]
    assert rows(feed) == {
        ("a", "c", "delete", n), ("b", "c", "delete", n), ("a", "d", "insert", n), ("b", "d", "insert", n),
    }  # fmt: skip
    assert rows(epoch.changes["alone"]) == set()
    cleared = session.update(clear="edge")
    assert rows(cleared.changes["alone"]) == {("insert", cleared.number)}


def test_a_feed_as_delta_writes_it_is_an_update(session: Session, spark: Any) -> None:
    session.bootstrap(START)
    feed = spark.createDataFrame(
        [
            ("a", "b", "update_preimage", 5, "2026-01-01"),
            ("a", "x", "update_postimage", 5, "2026-01-01"),
            ("x", "y", "insert", 5, "2026-01-01"),
            ("x", "y", "delete", 6, "2026-01-02"),
            ("x", "z", "insert", 6, "2026-01-02"),
        ],
        "a string, b string, _change_type string, _commit_version bigint, _commit_timestamp string",
    )
    session.apply({"edge": feed})
    assert rows(session["edge"]) == {("a", "x"), ("b", "c"), ("x", "z")}
    assert rows(session["path"]) == {("a", "x"), ("a", "z"), ("b", "c"), ("x", "z")}


def test_the_feed_of_an_epoch_undone_by_hand_leads_back(session: Session) -> None:
    from pyspark.sql import functions as F

    session.bootstrap(START)
    before = rows(session["path"])
    feed = session.update(insert={"edge": [("c", "a")]}, delete={"edge": [("a", "b")]}).changes["edge"]
    other = F.when(F.col("_change_type") == "insert", "delete").otherwise("insert")
    session.apply({"edge": feed.withColumn("_change_type", other)})
    assert rows(session["path"]) == before


def test_versions_order_a_feed_as_they_do_without_spark(session: Session, spark: Any) -> None:
    choose = random.Random(20261116)
    words = [
        (2**63 + choose.randrange(20), choose.choice([0.0, -0.0, 1.5]), choose.choice(["insert", "delete"]),
         choose.choice([None, 1, 2, 3]))
        for _ in range(300)
    ]  # fmt: skip
    names = ["n", "f", "_change_type", "_epoch"]
    kinds = [pa.uint64(), pa.float64(), pa.string(), pa.int64()]
    columns = [pa.array(column, kind) for column, kind in zip(zip(*words, strict=True), kinds, strict=True)]
    table = pa.table(columns, names=names)
    frame = spark.createDataFrame(
        [(str(n), *rest) for n, *rest in words], "n string, f double, _change_type string, _epoch bigint"
    ).selectExpr("cast(n as decimal(20, 0)) n", "f", "_change_type", "_epoch")
    sides = split_table(table, PROGRAM.relations["size"], PROGRAM.types)
    session.bootstrap({"size": sides.delete})
    epoch = session.apply({"size": frame})
    expected = {(row["n"], str(row["f"] + 0.0)) for row in sides.insert.to_pylist()}  # there is one zero
    assert {(int(row.n), str(row.f)) for row in session["size"].collect()} == expected
    assert not epoch.ignored_deletes


def test_unknown_change_types_are_named_and_nothing_changes(session: Session, spark: Any) -> None:
    session.bootstrap(START)
    feed = spark.createDataFrame([("a", "z", "upsert"), ("b", "z", None)], "a string, b string, _change_type string")
    with pytest.raises(TidelogError) as raised:
        session.apply({"edge": feed, "size": feed.drop("_change_type"), "path": feed})
    assert [d.code for d in raised.value.diagnostics] == ["TL1222", "TL1221", "TL1104"]
    assert "unknown change types `upsert`, null" in raised.value.diagnostics[0].message
    assert rows(session["edge"]) == {("a", "b"), ("b", "c")}


def test_a_batch_that_comes_again_changes_nothing(session: Session) -> None:
    session.bootstrap(START)
    stream = f"clicks {session.epoch}"
    session.update(insert={"edge": [("c", "d")]}, batch=(stream, 3))
    epoch = session.epoch
    again = session.update(insert={"edge": [("x", "y")]}, batch=(stream, 3))
    assert (again.strategy, again.number, session.epoch) == ("none", epoch, epoch)
    assert rows(again.changes["edge"]) == set()
    assert ("x", "y") not in rows(session["edge"])
