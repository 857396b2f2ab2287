"""Programs that were parsed before are found again, and only those."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tidelog.errors import Report
from tidelog.lang import kept_programs
from tidelog.lang.load import load_program

PROGRAM = ".decl a(x: number)\n.input a\n.decl b(x: number)\nb(x) :- a(x), x > 1.\n.output b\n"


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIDELOG_CACHE", str(tmp_path / "cache"))


def parsed(path: Path) -> tuple[object, Report]:
    report = Report()
    return load_program(path, report), report


def kept_files(tmp_path: Path) -> list[str]:
    folder = tmp_path / "cache" / "programs"
    return sorted(os.listdir(folder)) if folder.is_dir() else []


def test_a_program_is_parsed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "p.dl"
    path.write_text(PROGRAM)
    first, _ = parsed(path)
    monkeypatch.setattr("tidelog.lang.souffle.parse_into", None)  # nobody asks for it again
    again, report = parsed(path)
    assert again == first
    assert report.diagnostics == []
    assert str(again.rules[0].span.source.name) == str(path)  # type: ignore[attr-defined]


def test_another_text_name_or_version_is_parsed_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, other = tmp_path / "p.dl", tmp_path / "q.dl"
    for where in (path, other):
        where.write_text(PROGRAM)
        parsed(where)
    assert len(kept_files(tmp_path)) == 2
    path.write_text(PROGRAM.replace("> 1", "> 2"))
    changed, _ = parsed(path)
    assert changed != parsed(other)[0]
    text = path.read_bytes()
    place = kept_programs.place_of(str(path), text)
    assert place is not None
    assert kept_programs.kept(place, str(path), text) is not None
    monkeypatch.setattr(kept_programs, "VERSION", "another")
    assert kept_programs.kept(place, str(path), text) is None


def test_a_program_that_lies_where_another_would_is_not_taken_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_programs, "crc32", lambda *_: 7)
    path = tmp_path / "p.dl"
    path.write_text(PROGRAM)
    first, _ = parsed(path)
    path.write_text(PROGRAM.replace("> 1", "> 2"))
    assert parsed(path)[0] != first
    assert len(kept_files(tmp_path)) == 1


@pytest.mark.parametrize("damage", [b"", b"nonsense", None])
def test_what_cannot_be_read_is_parsed_anew(tmp_path: Path, damage: bytes | None) -> None:
    path = tmp_path / "p.dl"
    path.write_text(PROGRAM)
    first, _ = parsed(path)
    (name,) = kept_files(tmp_path)
    file = tmp_path / "cache" / "programs" / name
    file.write_bytes(file.read_bytes()[:-20] if damage is None else damage)
    assert parsed(path)[0] == first


@pytest.mark.parametrize("text", ["#define N 1\n" + PROGRAM, '.include "q.dl"\n', PROGRAM + "b(x :- a(x)."])
def test_includes_macros_and_mistakes_are_not_kept(tmp_path: Path, text: str) -> None:
    path = tmp_path / "p.dl"
    (tmp_path / "q.dl").write_text(PROGRAM)
    path.write_text(text)
    parsed(path)
    assert kept_files(tmp_path) == []


def test_there_is_room_for_so_many_and_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_programs, "MOST", 4)
    for number in range(9):
        path = tmp_path / f"p{number}.dl"
        path.write_text(PROGRAM)
        parsed(path)
    assert 3 <= len(kept_files(tmp_path)) <= 5
    monkeypatch.setenv("TIDELOG_CACHE", "/dev/null/nowhere")
    parsed(path)
