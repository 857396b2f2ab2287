"""Sessions with a state directory: what they find there, what they refuse, and what they leave."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from state.running import REACH
from tidelog.epochs.changes import NetChange
from tidelog.epochs.engine import Engine
from tidelog.errors import TidelogError
from tidelog.session import Session
from tidelog.state.durable import Durable
from tidelog.state.files import LocalFiles
from tidelog.state.lock import NAME, Owner, read_owner

CHAIN = [(i, i + 1) for i in range(6)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A state of two epochs."""
    with Session(REACH, state=tmp_path / "state") as session:
        assert session.epoch == 0
        session.bootstrap({"edge": CHAIN})
        session.update(delete={"edge": [(2, 3)]})
    return tmp_path / "state"


def durable(session: Session) -> Durable:
    keeper = session._backend._durable  # type: ignore[attr-defined]
    assert isinstance(keeper, Durable)
    return keeper


def engine_of(session: Session) -> Engine:
    engine: Engine = session._backend._engine  # type: ignore[attr-defined]
    return engine


def contents(session: Session) -> dict[str, set[tuple[object, ...]]]:
    return {name: set(session[name]) for name in session.relations}


def refused(code: str, text: str, **options: object) -> str:
    with pytest.raises(TidelogError) as raised:
        Session(text, **options)  # type: ignore[arg-type]
    assert raised.value.codes == (code,)
    return str(raised.value)


def test_a_session_begins_with_the_last_epoch_of_its_directory(folder: Path) -> None:
    with Session(REACH) as fresh, Session(REACH, state=folder) as session:
        fresh.bootstrap({"edge": [edge for edge in CHAIN if edge != (2, 3)]})
        assert session.epoch == 2
        assert contents(session) == contents(fresh)
        epoch = session.update(insert={"edge": [(2, 3)]})
        assert (epoch.number, epoch.strategy) == (3, "update")
        assert epoch.inserted.count("path") == 12


def test_a_bootstrap_replaces_the_state(folder: Path) -> None:
    with Session(REACH, state=folder) as session:
        assert session.bootstrap({"edge": [(1, 2)]}).number == 3
    with Session(REACH, state=folder) as session:
        assert (session.epoch, list(session["path"])) == (3, [(1, 2)])
    assert sorted(p.name for p in (folder / "changes").iterdir()) == []


def test_whoever_only_reads_needs_no_lock_and_changes_nothing(folder: Path) -> None:
    with Session(REACH, state=folder) as writer, Session(REACH, state=folder, read_only=True) as reader:
        writer.update(insert={"edge": [(9, 9)]})
        assert (reader.epoch, (9, 9) in reader["edge"]) == (2, False)
        with pytest.raises(TidelogError, match="TL1311"):
            reader.update(insert={"edge": [(1, 9)]})


def test_a_second_writer_is_told_who_the_first_is(folder: Path) -> None:
    with Session(REACH, state=folder):
        message = refused("TL1306", REACH, state=folder)
        assert f"process {os.getpid()} of" in message
        assert "wait until it is closed" in message


def test_the_lock_of_a_process_that_is_gone_is_taken_over(folder: Path) -> None:
    program = (
        f"import os; from tidelog.session import Session; s = Session({REACH!r}, state={str(folder)!r}); os._exit(1)"
    )
    subprocess.run([sys.executable, "-c", program], check=False)
    assert (folder / NAME).exists()
    with Session(REACH, state=folder) as session:
        assert session.epoch == 2
        owner = read_owner(durable(session).directory.files)
        assert owner is not None
        assert owner.pid == os.getpid()
    assert not (folder / NAME).exists()


def test_a_lock_of_another_machine_stays(folder: Path) -> None:
    away = Owner("elsewhere", 1, "ann", "2026-01-01T00:00:00+00:00")
    (folder / NAME).write_text(json.dumps(away.__dict__))
    assert "process 1 of ann on elsewhere" in refused("TL1306", REACH, state=folder)


def test_another_program_is_refused_with_the_difference(folder: Path) -> None:
    text = REACH.replace("far(x, n) :- path(x, _),", "far(x, n) :- path(x, _), x > 1,")
    message = refused("TL1305", text, state=folder)
    assert "-far(x, n) :- path(x, _), n = count : { path(x, _) }." in message
    assert "+far(x, n) :- path(x, _), x > 1, n = count : { path(x, _) }." in message
    assert not (folder / NAME).exists()


def test_comments_and_outputs_make_no_other_program(folder: Path) -> None:
    text = "// paths\n" + REACH.replace(".input edge", '.input edge(filename="e.csv")') + ".output far\n"
    with Session(text, state=folder) as session:
        assert session.epoch == 2


def test_a_newer_format_is_refused_by_name(folder: Path) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps(manifest | {"format": 99, "tidelog": "7.0", "relations": "?"}))
    message = refused("TL1303", REACH, state=folder)
    assert "format 99" in message
    assert "Tidelog 7.0" in message


@pytest.mark.parametrize("spoil", ["cut", "flip", "remove"])
def test_a_damaged_file_is_named(folder: Path, spoil: str) -> None:
    path = folder / "snapshots" / "path-0000000001.parquet"
    data = bytearray(path.read_bytes())
    if spoil == "cut":
        path.write_bytes(data[: len(data) // 2])
    elif spoil == "flip":
        data[60] ^= 0xFF
        path.write_bytes(data)
    else:
        path.unlink()
    message = refused("TL1304", REACH, state=folder)
    assert "path-0000000001.parquet" in message
    assert "restore this file" in message


def test_a_manifest_that_is_no_manifest_is_refused(folder: Path) -> None:
    (folder / "manifest.json").write_text("{}")
    assert "manifest.json" in refused("TL1304", REACH, state=folder)


def test_strategies_that_keep_nothing_cannot_be_stored(tmp_path: Path) -> None:
    assert "elastic, update" in refused("TL1309", REACH, state=tmp_path / "s", strategy="batch")


def test_a_program_that_asks_for_numbers_of_symbols_cannot_be_stored(tmp_path: Path) -> None:
    text = ".decl s(x: symbol)\n.input s\n.decl n(x: number)\nn(ord(x)) :- s(x).\n"
    refused("TL1310", text, state=tmp_path / "s")


def test_a_batch_is_applied_once_also_after_a_restart(folder: Path) -> None:
    with Session(REACH, state=folder) as session:
        assert session.update(insert={"edge": [(7, 8)]}, batch=("edges", 4)).number == 3
        assert session.update(delete={"edge": [(7, 8)]}, batch=("edges", 4)).number == 3
        assert session.update(insert={"edge": [(8, 9)]}, batch=("others", 0)).number == 4
    with Session(REACH, state=folder) as session:
        again = session.update(delete={"edge": [(7, 8)]}, batch=("edges", 3))
        assert (again.number, again.strategy) == (4, "none")
        assert (7, 8) in session["edge"]
        assert session.update(delete={"edge": [(7, 8)]}, batch=("edges", 5)).number == 5


def test_without_a_state_directory_a_batch_is_applied_once_while_the_session_lasts() -> None:
    with Session(REACH) as session:
        session.bootstrap({})
        assert session.update(insert={"edge": [(1, 2)]}, batch=("edges", 1)).number == 2
        assert session.update(delete={"edge": [(1, 2)]}, batch=("edges", 1)).strategy == "none"
        assert (1, 2) in session["edge"]


def test_a_change_set_that_was_logged_and_not_evaluated_is_evaluated_by_the_next(folder: Path) -> None:
    with Session(REACH, state=folder) as session:
        rows = engine_of(session).facts("edge")[:1]
        durable(session).log.write(3, NetChange({"edge": rows}, {}, ("edges", 7)))
        gone = tuple(rows[0].tolist())
    with Session(REACH, state=folder) as session:
        assert session.epoch == 3
        assert gone not in session["edge"]
        assert engine_of(session).has_applied(("edges", 7))
    assert list((folder / "log").iterdir()) == []


def test_a_logged_change_set_that_fails_is_given_up(tmp_path: Path) -> None:
    text = ".decl e(x: number)\n.input e\n.decl p(x: number)\np(6 / x) :- e(x).\n"
    with Session(text, state=tmp_path) as session:
        session.bootstrap({"e": [(1,), (2,)]})
        with pytest.raises(TidelogError, match="division by zero"):
            session.update(insert={"e": [(0,)]})
        assert session.epoch == 1
        assert list((tmp_path / "log").iterdir()) == []
        rows = engine_of(session).facts("e")[:1]
        durable(session).log.write(2, NetChange({}, {"e": rows * 0}))
    with Session(text, state=tmp_path) as session:
        assert (session.epoch, set(session["p"])) == (1, {(6,), (3,)})
        assert session.update(insert={"e": [(3,)]}).number == 2


def test_an_epoch_without_changes_is_an_epoch(folder: Path) -> None:
    with Session(REACH, state=folder) as session:
        assert session.update().number == 3
    with Session(REACH, state=folder) as session:
        assert session.epoch == 3


def test_files_can_be_read_by_others(folder: Path) -> None:
    snapshot = pq.read_table(folder / "snapshots" / "far-0000000001.parquet")
    assert snapshot.schema.names == ["x", "n", "_iteration", "_count"]
    assert snapshot.schema.types == [pa.int64(), pa.int64(), pa.int32(), pa.int32()]
    changes = pq.read_table(folder / "changes" / "edge-0000000002.parquet").to_pylist()
    assert changes == [
        {"x": 2, "y": 3, "_change_type": "delete", "_iteration": None, "_count": None, "_epoch": 2},
    ]


def test_a_place_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    refused("TL1301", REACH, state=tmp_path / "file")
    refused("TL1301", REACH, state="/proc/nowhere/state")


def test_a_lock_that_could_not_be_removed_does_not_shut_its_own_process_out(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: LocalFiles, name: str) -> None:
        raise PermissionError(13, "Permission denied")

    session = Session(REACH, state=folder)
    with monkeypatch.context() as broken:
        broken.setattr(LocalFiles, "remove", refuse)
        session.close()
    assert (folder / NAME).exists()
    with Session(REACH, state=folder) as session:
        session.update(insert={"edge": [(2, 3)]})
        with pytest.raises(TidelogError, match="is being written by process"):
            Session(REACH, state=folder)
    assert not (folder / NAME).exists()
