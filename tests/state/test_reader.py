"""Reading a relation of a state directory without a session."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import fs

from state.running import REACH, DurableSubject
from tidelog.errors import TidelogError
from tidelog.session import Session
from tidelog.state import compaction, directory, reader
from tidelog.state.compaction import to_merge
from tidelog.state.files import Files, RemoteFiles
from tidelog.state.manifest import StoredFile, StoredRelation
from tidelog.state.reader import read_changes, read_relation, relation_names, relation_schema
from tidelog.state.verify import verify

KINDS = """
.type Pair = [a: number, s: symbol]
.type Shape = Circle {r: float} | Dot {}
.decl all(n: number, u: unsigned, f: float, s: symbol, p: Pair, h: Shape)
.input all
.decl nothing()
nothing() :- all(_, _, _, _, _, _).
"""
ROWS: list[tuple[Any, ...]] = [
    (-(2**63), 2**64 - 1, 1.5, "a", "[1, b]", "$Circle(0.1)"),
    (2**63 - 1, 0, -0.0, "", "nil", "$Dot"),
    (3, 7, math.inf, "tab\there, \"quoted\" ☃", "[-4, x y]", "$Dot"),
]  # fmt: skip


def tuples(table: pa.Table) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in table.to_pylist()]


def test_every_epoch_since_the_snapshot_can_be_read(tmp_path: Path) -> None:
    seen: dict[int, dict[str, set[Any]]] = {}
    with Session(REACH, state=tmp_path) as session:
        session.bootstrap({"edge": [(i, i + 1) for i in range(9)]})
        for epoch in range(1, 8):
            seen[epoch] = {name: set(session[name]) for name in session.relations}
            session.update(insert={"edge": [(epoch, epoch + 3)]}, delete={"edge": [(epoch, epoch + 1)]})
    for epoch, relations in seen.items():
        for name, wanted in relations.items():
            found = read_relation(tmp_path, name, epoch).drop_columns(["_iteration", "_count"])
            assert set(tuples(found)) == wanted, (epoch, name)
            assert found.num_rows == len(wanted)


def test_the_state_of_a_tuple_is_read_with_it(tmp_path: Path) -> None:
    with DurableSubject(REACH, tmp_path) as subject:
        subject.bootstrap({"edge": {(1, 2), (2, 4), (1, 3), (3, 4)}})
        subject.update({}, {"edge": {(1, 4)}})
        wanted = {(*row, *entry) for row, entry in subject.state()["path"].items() if entry}
    assert set(tuples(read_relation(tmp_path, "path"))) == wanted


def test_values_of_every_kind_come_back_as_they_were(tmp_path: Path) -> None:
    with Session(KINDS, state=tmp_path) as session:
        session.bootstrap({"all": ROWS[:1]})
        session.update(insert={"all": ROWS[1:]})
        wanted = sorted(session["all"], key=repr)
    with Session(KINDS, state=tmp_path) as session:
        assert sorted(session["all"], key=repr) == wanted
        assert list(session["nothing"]) == [()]
        session.update(delete={"all": ROWS[1:2]})
        assert len(session["all"]) == 2
    found = read_relation(tmp_path, "all").drop_columns(["_iteration", "_count"])
    assert sorted(tuples(found), key=repr) == sorted((row for row in wanted if row[0] != 2**63 - 1), key=repr)
    assert read_relation(tmp_path, "nothing").num_rows == 1
    assert relation_schema(tmp_path, "all").field("s").type == pa.string()
    assert not verify(tmp_path, full=True).problems


def test_changes_are_a_feed(tmp_path: Path) -> None:
    with Session(REACH, state=tmp_path) as session:
        session.bootstrap({"edge": [(1, 2), (2, 3)]})
        session.update(insert={"edge": [(3, 4)]})
        session.update(delete={"edge": [(3, 4)]})
    feed = tuples(read_changes(tmp_path, "lonely", 1))
    assert sorted(feed) == sorted([(3, "delete", 2), (4, "insert", 2), (3, "insert", 3), (4, "delete", 3)])
    assert tuples(read_changes(tmp_path, "lonely", 3)) == []


def test_epochs_that_are_gone_are_refused_with_those_that_are_there(tmp_path: Path) -> None:
    with Session(REACH, state=tmp_path) as session:
        session.bootstrap({"edge": [(1, 2)]})
        session.bootstrap({"edge": [(1, 2)]})
        session.update(insert={"edge": [(2, 3)]})
    with pytest.raises(TidelogError, match="available: epochs 2 to 3"):
        read_relation(tmp_path, "path", 1)
    with pytest.raises(TidelogError, match="TL1308"):
        read_relation(tmp_path, "paths")
    with pytest.raises(TidelogError, match="TL1302"):
        read_relation(tmp_path / "none", "path")
    assert relation_names(tmp_path) == ["edge", "path", "far", "lonely"]


def test_a_file_that_a_compaction_removes_makes_the_reader_begin_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Session(REACH, state=tmp_path) as session:
        session.bootstrap({"edge": [(1, 2)]})
        plain, removed = reader.tuples_at, []

        def tuples_at(*args: Any) -> pa.Table:
            if not removed:
                removed.append(session.bootstrap({"edge": [(5, 6)]}))
            return plain(*args)

        monkeypatch.setattr(reader, "tuples_at", tuples_at)
        assert tuples(read_relation(tmp_path, "edge")) == [(5, 6, 0, 1)]


def test_any_file_system_of_pyarrow_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    system = fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem())
    monkeypatch.setattr(Files, "at", staticmethod(lambda place: RemoteFiles(system, str(place), f"remote {place}")))
    for _ in range(2):
        with Session(REACH, state="somewhere") as session:
            if session.epoch == 0:
                session.bootstrap({"edge": [(1, 2), (2, 3)]})
            session.update(insert={"edge": [(3 + session.epoch, 4)]})
            with pytest.raises(TidelogError, match="TL1306"):
                directory.StateDirectory.open("somewhere")
    assert read_relation("somewhere", "edge").num_rows == 4
    assert not verify("somewhere", full=True).problems


def test_a_session_of_many_epochs_has_few_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compaction, "MOST", 4)
    monkeypatch.setattr(compaction, "WORTHWHILE", 40)
    most = 0
    with Session(REACH, state=tmp_path) as session:
        session.bootstrap({"edge": [(i, i + 1) for i in range(9)]})
        for epoch in range(40):
            session.update(insert={"edge": [(epoch, epoch + 20)]})
            most = max(most, len(list((tmp_path / "changes").glob("edge-*"))))
        wanted = set(session["path"])
    assert (
        most <= 20
    )  # of 40: those of the manifest, and those that wait for a thread to make them part of it or remove them
    assert read_relation(tmp_path, "path").num_rows == len(wanted)
    assert not verify(tmp_path, full=True).problems


def test_merging_keeps_the_number_of_files_logarithmic() -> None:
    file = StoredFile("", 0, 0, 1000, 0, "")
    stored = StoredRelation("relation", (), 0, file)
    copied, most = 0, 0
    for epoch in range(1, 3000):
        stored = StoredRelation("relation", (), 0, file, (*stored.changes, StoredFile("", epoch, epoch, 1, 0, "")))
        merged = to_merge(stored)
        if merged:
            rows = sum(part.rows for part in merged)
            copied += rows
            kept = stored.changes[: -len(merged)]
            both = StoredFile("", merged[0].first, merged[-1].last, rows, 0, "")
            stored = StoredRelation("relation", (), 0, file, (*kept, both))
        most = max(most, len(stored.changes))
    assert most <= 17
    assert copied < 3000 * 12
