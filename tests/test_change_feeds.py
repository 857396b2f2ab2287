"""Change feeds of a session in this process: an epoch gives one, and takes one as Delta writes them."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidelog import Session, TidelogError
from tidelog.session import checked_program

REACH = checked_program("""
    .decl edge(a: number, b: number)
    .input edge
    .decl path(a: number, b: number)
    path(a, b) :- edge(a, b).
    path(a, c) :- path(a, b), edge(b, c).
""")


def told(feed: pa.Table) -> list[tuple[Any, ...]]:
    return sorted(tuple(row.values()) for row in feed.to_pylist())


def test_an_epoch_gives_its_changes_as_a_feed() -> None:
    with Session(REACH) as s:
        s.bootstrap({"edge": [(1, 2), (2, 3)]})
        epoch = s.update(insert={"edge": [(2, 4)]}, delete={"edge": [(2, 3)]})
        feed = epoch.changes["path"]
    assert feed.column_names == ["a", "b", "_change_type", "_epoch"]
    assert told(feed) == [(1, 3, "delete", 2), (1, 4, "insert", 2), (2, 3, "delete", 2), (2, 4, "insert", 2)]
    assert epoch.changes.count("path") == 4
    assert set(epoch.changes) == {"edge", "path"}


def test_a_relation_that_did_not_change_has_an_empty_feed_with_the_same_columns() -> None:
    with Session(REACH) as s:
        s.bootstrap({"edge": [(1, 2)]})
        feed = s.update(insert={"edge": [(1, 2)]}).changes["path"]
    assert feed.column_names == ["a", "b", "_change_type", "_epoch"]
    assert feed.num_rows == 0


def test_the_feed_of_one_session_is_the_input_of_another() -> None:
    with Session(REACH) as first, Session(REACH) as second:
        first.bootstrap({"edge": [(1, 2), (2, 3)]})
        second.bootstrap({"edge": first["edge"].to_arrow()})
        for change in ({"insert": {"edge": [(3, 4)]}}, {"delete": {"edge": [(1, 2)]}}):
            second.apply({"edge": first.update(**change).changes["edge"]})
            assert set(second["path"]) == set(first["path"])


def test_attributes_named_like_a_feed_s_own_columns_go_out_and_come_back() -> None:
    program = ".decl seen(_epoch: number)\n.input seen\n"
    with Session(program) as first, Session(program) as second:
        feed = first.bootstrap({"seen": [(7,)]}).changes["seen"]
        assert feed.column_names == ["_epoch_", "_change_type", "_epoch"]
        second.bootstrap({})
        second.apply({"seen": feed})
        assert set(second["seen"]) == {(7,)}


def test_a_relation_without_attributes_has_a_feed() -> None:
    with Session(".decl on()\n.input on\n.decl off()\noff() :- !on().\n") as s:
        s.bootstrap({})
        epoch = s.apply({"on": {"_change_type": ["insert", "delete", "insert"], "_commit_version": [1, 2, 3]}})
        assert told(epoch.changes["on"]) == [("insert", 2)]
        assert told(epoch.changes["off"]) == [("delete", 2)]
        assert told(s.apply({"on": epoch.changes["on"].set_column(0, "_change_type", [["delete"]])}).changes["on"]) == [
            ("delete", 3)
        ]


def test_images_before_and_after_an_update_are_a_deletion_and_an_insertion() -> None:
    feed = pd.DataFrame(
        {
            "a": [1, 1],
            "b": [2, 5],
            "_change_type": ["update_preimage", "update_postimage"],
            "_commit_version": [3, 3],
            "_commit_timestamp": pd.to_datetime(["2026-01-01", "2026-01-01"]),
        }
    )
    with Session(REACH) as s:
        s.bootstrap({"edge": [(1, 2)]})
        s.apply({"edge": feed})
        assert set(s["edge"]) == {(1, 5)}


def test_a_strict_session_takes_a_row_that_was_updated_to_itself() -> None:
    feed = [
        {"a": 1, "b": 2, "_change_type": "update_postimage", "_commit_version": 1},
        {"a": 1, "b": 2, "_change_type": "update_preimage", "_commit_version": 1},
    ]
    with Session(REACH, strict=True) as s:
        s.bootstrap({"edge": [(1, 2)]})
        assert str(s.apply({"edge": feed})).endswith("nothing changed")


word = st.tuples(
    st.integers(0, 3), st.integers(0, 3), st.integers(0, 3), st.sampled_from(["insert", "delete"])
)  # version, a, b, change


@settings(max_examples=100, deadline=None)
@given(facts=st.sets(st.tuples(st.integers(0, 3), st.integers(0, 3))), words=st.lists(word, max_size=12))
def test_of_several_versions_the_net_effect_in_their_order_counts(facts: set[Any], words: list[Any]) -> None:
    expected = set(facts)
    for _, a, b, change in sorted(words, key=lambda w: (w[0], w[3] == "insert")):
        expected = expected | {(a, b)} if change == "insert" else expected - {(a, b)}
    columns = list(zip(*words, strict=True)) or [()] * 4
    feed = pa.table(
        {
            "a": pa.array(columns[1], pa.int64()),
            "b": pa.array(columns[2], pa.int64()),
            "_change_type": pa.array(columns[3], pa.string()),
            "_commit_version": pa.array(columns[0], pa.int64()),
        }
    )
    with Session(REACH) as s:
        s.bootstrap({"edge": list(facts)})
        s.apply({"edge": feed})
        assert set(s["edge"]) == expected


def test_zero_and_minus_zero_are_one_fact_of_a_feed() -> None:
    with Session(".decl x(f: float)\n.input x\n") as s:
        s.bootstrap({})
        s.apply({"x": {"f": [0.0, -0.0, 0.0], "_change_type": ["insert", "insert", "delete"], "_epoch": [1, 1, 2]}})
        assert list(s["x"]) == []
        s.apply({"x": {"f": [0.0, -0.0], "_change_type": ["delete", "insert"], "_epoch": [3, 4]}})
        assert [str(f) for (f,) in s["x"]] == ["0.0"]


def test_everything_wrong_with_feeds_is_said_at_once_and_changes_nothing() -> None:
    with Session(".decl e(a: number)\n.input e\n.decl f(a: number)\n.input f\n.decl g(a: number)\n.input g\n") as s:
        s.bootstrap({})
        with pytest.raises(TidelogError) as raised:
            s.apply({
                "e": {"a": [1, 2, 3], "_change_type": ["insert", "upsert", None]},
                "f": {"a": [1]},
                "g": 7,
                "h": {},
            })  # fmt: skip
        assert [d.code for d in raised.value.diagnostics] == ["TL1222", "TL1221", "TL1221", "TL1103"]
        assert "unknown change types `upsert`, null" in raised.value.diagnostics[0].message
        assert s.epoch == 1


def test_a_batch_of_a_stream_is_applied_once() -> None:
    with Session(REACH) as s:
        s.bootstrap({})
        s.update(insert={"edge": [(1, 2)]}, batch=("clicks", 4))
        again = s.update(insert={"edge": [(3, 4)]}, batch=("clicks", 4))
        assert (again.strategy, s.epoch, set(s["edge"])) == ("none", 2, {(1, 2)})
        assert s.update(insert={"edge": [(3, 4)]}, batch=("views", 0)).number == 3
