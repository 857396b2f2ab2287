"""A state that was written when 0.0 and -0.0 were different floats: `floats_by_bits`, by Tidelog of that time."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path

import pytest

import tidelog
from tidelog.errors import TidelogError
from tidelog.state.program_text import stored_program
from tidelog.state.verify import verify

STORED = Path(__file__).parent / "floats_by_bits"
FACTS = {
    "e": [(0, 1.0), (0, 0.0), (2, 0.0), (2, math.nan), (3, 0.0)],
    "g": [(0.0,)],
    "n": [(1,), (2,), (3,)],
    "m": [(5, 0.0)],
}
RELATIONS = ("e", "g", "n", "q", "m", "total", "twice")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(STORED, tmp_path / "state"))


def contents(session: tidelog.Session) -> dict[str, list[str]]:
    return {name: sorted(map(repr, session[name])) for name in RELATIONS}


def test_the_state_is_one_in_which_zeros_differ() -> None:
    manifest = json.loads((STORED / "manifest.json").read_text())
    assert manifest["format"] == 1
    assert manifest["relations"]["q"]["tuples"] == 3  # 1.0, 0.0 and -0.0


def test_opened_for_writing_it_becomes_that_of_the_same_facts_by_value(folder: Path) -> None:
    program = stored_program(folder)
    with tidelog.Session(program) as fresh, tidelog.Session(program, state=folder) as session:
        fresh.bootstrap(FACTS)
        assert contents(session) == contents(fresh)
        for one in (fresh, session):
            one.update(delete={"e": [(0, -0.0), (2, 0.0)]}, insert={"e": [(7, -0.0)], "n": [(7,)]})
        assert contents(session) == contents(fresh)
    assert not verify(folder, full=True).problems
    with tidelog.Session(program, state=folder) as again, tidelog.Session(program) as fresh:
        assert json.loads((folder / "manifest.json").read_text())["format"] == 2
        fresh.bootstrap({**FACTS, "e": [(0, 1.0), (2, math.nan), (3, 0.0), (7, 0.0)], "n": [(1,), (2,), (3,), (7,)]})
        assert contents(again) == contents(fresh)


def test_facts_without_floats_keep_their_files(folder: Path) -> None:
    with tidelog.Session(stored_program(folder), state=folder):
        pass
    relations = json.loads((folder / "manifest.json").read_text())["relations"]
    assert {name for name in RELATIONS if relations[name]["snapshot"]["last"] == 1} == {"n"}


def test_a_reader_sees_it_by_value_and_leaves_it_as_it_is(folder: Path) -> None:
    program, before = stored_program(folder), (folder / "manifest.json").read_bytes()
    with tidelog.Session(program) as fresh, tidelog.Session(program, state=folder, read_only=True) as session:
        fresh.bootstrap(FACTS)
        assert contents(session) == contents(fresh)
    assert (folder / "manifest.json").read_bytes() == before


def test_it_can_be_verified_in_full_when_it_has_been_brought_up_to_date(folder: Path) -> None:
    assert not verify(folder).problems
    with pytest.raises(TidelogError, match="TL1303"):
        verify(folder, full=True)
