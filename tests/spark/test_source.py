"""The data source: relations of a state directory as DataFrames, at any epoch that is there, without a session."""

from __future__ import annotations

from typing import Any

import pytest

from tidelog import Session, TidelogError
from tidelog.spark.source import TidelogDataSource, request_of
from tidelog.state import snapshot

PROGRAM = """
    .decl edge(a: symbol, b: symbol)
    .input edge
    .decl size(n: unsigned, f: float)
    .input size
    .decl path(a: symbol, b: symbol)
    path(a, b) :- edge(a, b).
    path(a, c) :- path(a, b), edge(b, c).
    .decl any()
    any() :- edge(_, _).
"""


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory, spark: Any) -> str:
    """Three epochs, and a fourth that took everything away; snapshots have row groups of two."""
    folder = tmp_path_factory.mktemp("state") / "s"
    spark.dataSource.register(TidelogDataSource)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(snapshot, "ROW_GROUP", 2)
        with Session(PROGRAM, state=folder) as s:
            s.bootstrap({"edge": [("a", "b"), ("b", "c"), ("c", "d")], "size": [(2**63, 1.5)]})
            s.update(insert={"edge": [("d", "e")]})
            s.update(delete={"edge": [("b", "c")]})
            s.update(clear="size")
    return str(folder)


def read(spark: Any, state: str, relation: str, **options: Any) -> Any:
    return spark.read.format("tidelog").option("state", state).options(**options).load(relation)


def rows(frame: Any) -> list[tuple[Any, ...]]:
    return sorted(tuple(row) for row in frame.collect())


def test_a_relation_is_read_at_the_last_epoch_or_at_an_earlier_one(spark: Any, state: str) -> None:
    last = read(spark, state, "path")
    assert last.dtypes == [("a", "string"), ("b", "string")]
    assert rows(last) == [("a", "b"), ("c", "d"), ("c", "e"), ("d", "e")]
    assert rows(read(spark, state, "path", epoch=1)) == [
        ("a", "b"), ("a", "c"), ("a", "d"), ("b", "c"), ("b", "d"), ("c", "d"),
    ]  # fmt: skip


def test_large_snapshots_are_read_by_several_tasks(spark: Any, state: str) -> None:
    assert read(spark, state, "path", epoch=3).rdd.getNumPartitions() == 4  # three pairs of rows, and what changed


def test_all_types_of_values_and_relations_without_attributes_are_read(spark: Any, state: str) -> None:
    sizes = read(spark, state, "size", epoch=3)
    assert sizes.dtypes == [("n", "decimal(20,0)"), ("f", "double")]
    assert [(int(n), f) for n, f in rows(sizes)] == [(2**63, 1.5)]
    assert rows(read(spark, state, "size")) == []
    assert rows(read(spark, state, "any")) == [(True,)]


def test_changes_since_an_epoch_are_a_change_feed(spark: Any, state: str) -> None:
    assert rows(read(spark, state, "edge", changes=1)) == [("b", "c", "delete", 3), ("d", "e", "insert", 2)]


def test_errors_name_what_is_there(spark: Any, state: str) -> None:
    with pytest.raises(Exception, match=r"(?s)no relation `pathe`.*it has edge, size, path, any"):
        read(spark, state, "pathe")
    with pytest.raises(Exception, match=r"(?s)epoch 9 of path.*available: epochs 1 to 4"):
        read(spark, state, "path", epoch=9).collect()
    with pytest.raises(TidelogError) as raised:
        request_of({"state": state, "epoch": "three", "changes": "-1"})
    assert [d.message for d in raised.value.diagnostics] == [
        "which relation is to be read?",
        "the option `epoch` is the number of an epoch, not `three`",
        "the option `changes` is the number of an epoch, not `-1`",
        "`epoch` and `changes` exclude each other",
    ]
    assert "edge, size, path, any" in str(raised.value)
