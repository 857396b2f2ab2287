"""The commands over state directories."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tidelog.cli.command_line import command_line
from tidelog.errors import TidelogError

PROGRAM = """
.decl edge(x: number, y: number)
.input edge
.decl path(x: number, y: number)
path(x, y) :- edge(x, y).
path(x, z) :- path(x, y), edge(y, z).
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("reach.dl").write_text(PROGRAM)
    Path("edge.facts").write_text("1\t2\n2\t3\n")
    Path("new.csv").write_text("3,4\n")
    Path("old.csv").write_text("1,2\n")
    assert "edge +2, path +3" in tidelog("bootstrap", "reach.dl", "dir")
    return tmp_path


def tidelog(*arguments: str, code: int = 0) -> str:
    result = CliRunner().invoke(command_line(arguments), arguments, catch_exceptions=False)
    assert result.exit_code == code, result.output
    return result.output


def test_an_update_inserts_and_deletes_from_files(place: Path) -> None:
    told = tidelog("update", "dir", "--insert", "edge=new.csv", "--delete", "edge=old.csv")
    assert told.startswith("epoch 2: update")
    assert "edge +1 -1" in told
    assert tidelog("query", "dir", "path(2, X)") == "X = 3\nX = 4\n"
    assert tidelog("query", "dir", "path(1, 2)") == "false\n"


def test_a_relation_can_be_cleared(place: Path) -> None:
    assert "edge -2" in tidelog("update", "dir", "--clear", "edge")
    assert tidelog("query", "dir", "edge(X, Y)") == "false\n"


def test_a_strict_update_refuses_what_changes_nothing(place: Path) -> None:
    with pytest.raises(TidelogError, match="TL1105"):
        tidelog("update", "dir", "--strict", "--delete", "edge=new.csv")


def test_the_state_is_summarised(place: Path) -> None:
    tidelog("update", "dir", "--insert", "edge=new.csv")
    shown = tidelog("state", "dir")
    assert shown.startswith("epoch 2, ")
    assert "lock: free" in shown
    assert "epoch 2, " in shown.splitlines()[-1]
    assert "edge +1, path +3" in shown.splitlines()[-1]
    assert ".decl path(x: number, y: number)" in tidelog("state", "dir", "--program")
    assert tidelog("state", "dir", "--unlock") == "there was no lock\n"


def test_compaction_leaves_snapshots_only(place: Path) -> None:
    tidelog("update", "dir", "--insert", "edge=new.csv")
    assert tidelog("compact", "dir") == "2 relations have a new snapshot\n"
    assert tidelog("compact", "dir") == "there was nothing to compact\n"
    assert not list((place / "dir" / "changes").iterdir())
    assert tidelog("query", "dir", "path(1, X)") == "X = 2\nX = 3\nX = 4\n"


def test_verification_tells_a_damaged_state_from_a_whole_one(place: Path) -> None:
    tidelog("update", "dir", "--insert", "edge=new.csv")
    whole = tidelog("verify", "dir", "--full")
    assert "epoch 2 is whole: 4 files" in whole
    assert "derives the same" in whole
    path = place / "dir" / "changes" / "path-0000000002.parquet"
    data = bytearray(path.read_bytes())
    data[-20] ^= 1
    path.write_bytes(data)
    assert "path-0000000002.parquet is not what was written" in tidelog("verify", "dir", code=1)


def test_a_state_migrates_to_another_program(place: Path) -> None:
    Path("other.dl").write_text(PROGRAM + ".decl ends(x: number)\nends(x) :- path(_, x), !edge(x, _).\n")
    with pytest.raises(TidelogError, match="TL1103"):
        tidelog("update", "dir", "--insert", "edges=new.csv")
    told = tidelog("update", "dir", "--migrate", "other.dl", "--insert", "edge=new.csv")
    assert "epoch 2: the state is that of other.dl" in told
    assert "epoch 3: update" in told
    assert tidelog("query", "dir", "ends(X)") == "X = 4\n"


def test_the_shell_goes_on_from_a_state(place: Path) -> None:
    script = "start; insert edge(9, 1); commit; path(9, X)?\n"
    words = ["shell", "reach.dl", "--state", "dir"]
    result = CliRunner().invoke(command_line(words), words, input=script, catch_exceptions=False)
    assert result.output == "X = 1\nX = 2\nX = 3\n"
    assert tidelog("query", "dir", "edge(9, X)") == "X = 1\n"


def test_options_that_name_no_file_are_explained_all_at_once(place: Path) -> None:
    with pytest.raises(TidelogError) as raised:
        tidelog("update", "dir", "--insert", "edge", "--delete", "=x", "--insert", "edge=a", "--insert", "edge=b")
    assert raised.value.codes == ("TL1320",) * 3


def test_a_folder_without_a_state_is_refused(place: Path) -> None:
    for command in (["state"], ["update"], ["verify"], ["compact"]):
        with pytest.raises(TidelogError, match="TL1302"):
            tidelog(*command, "nowhere")
    assert not Path("nowhere").exists()


def test_epochs_of_a_state_have_profiles_limits_and_warnings(place: Path) -> None:
    Path("edge.facts").write_text("1\t2\n2\tx\n")
    told = tidelog("bootstrap", "reach.dl", "other", "--skip-bad-rows", "-p", "first.json")
    assert "edge +1, path +1" in told
    assert "warning[TL0" in told
    assert "path(x, z)" in tidelog("profile", "first.json")
    told = tidelog("update", "other", "--insert", "edge=new.csv", "--profile", "second.json")
    assert told.startswith("epoch 2: update")
    assert json.loads(Path("second.json").read_text())["strategy"] == "update"
    with pytest.raises(TidelogError, match="TL1106"):
        tidelog("update", "other", "--insert", "edge=old.csv", "--max-iterations", "0")
    with pytest.raises(TidelogError, match="TL0903"):
        tidelog("bootstrap", "reach.dl", "third", "--skip-bad-rows", "--max-memory", "1M")
