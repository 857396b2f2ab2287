"""A state of an older format: its counts are others, so it is brought up to date when it is opened."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest

from state.running import DurableSubject
from strategies.subject import Subject
from tidelog.epochs.changes import NetChange
from tidelog.epochs.engine import EngineOptions
from tidelog.errors import TidelogError
from tidelog.plan.rewrites import extract_aggregates, project_negations, read_classes
from tidelog.plan.stateful import stateful_program
from tidelog.state import open_state, program_text
from tidelog.state.verify import verify

PROGRAM = """
.type Pair = [a: number, b: number]
.decl e(x: number, y: number)
.input e
.decl f(x: number, y: number)
.input f
.decl p(x: number, r: Pair)
p(x, [x, 0]) :- e(x, _), f(x, _).
p(y, r) :- p(x, r), e(x, y), p(y, s), p(_, s).
.decl q(x: number)
q(x) :- p(x, _), f(_, y), e(y, _), e(_, _).
"""
FACTS = {"e": {(1, 2), (1, 3), (2, 3), (3, 4)}, "f": {(1, 1), (1, 2), (2, 2)}}
MORE = {"e": {(4, 5), (1, 4)}, "f": {(4, 4)}}


def stored_as_before(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The state as Tidelog wrote it when every tuple behind a `_` was a derivation."""
    with monkeypatch.context() as before:
        rewrites = (read_classes, extract_aggregates, project_negations)
        before.setattr("tidelog.evaluate.state.stateful_program", partial(stateful_program, rewrites=rewrites))
        before.setattr(program_text, "_COUNTED", "")
        with DurableSubject(PROGRAM, folder) as subject:
            subject.bootstrap(FACTS)
            assert max(entry.count for entry in subject.state()["q"].values() if entry) > 4
    path = folder / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"format": 1}))


def fresh(**more: set[tuple[int, int]]) -> Subject:
    subject = Subject(PROGRAM)
    subject.bootstrap(FACTS)
    subject.update({}, more)
    return subject


def test_a_state_of_the_format_before_is_brought_up_to_date(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stored_as_before(tmp_path, monkeypatch)
    with DurableSubject(PROGRAM, tmp_path) as subject:
        assert subject.state() == fresh().state()
        assert subject.durable.last_epoch().strategy == "migration"
        subject.update({}, MORE)
        assert subject.state() == fresh(**MORE).state()
    with DurableSubject(PROGRAM, tmp_path) as subject:
        assert subject.state() == fresh(**MORE).state()
        assert subject.durable.last_epoch().strategy != "migration"
    assert not verify(tmp_path, full=True).problems


def test_who_only_reads_leaves_it_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stored_as_before(tmp_path, monkeypatch)
    text = (tmp_path / "manifest.json").read_text()
    subject = Subject(PROGRAM, "elastic")
    subject.engine, _ = open_state(subject.checked, EngineOptions(), tmp_path, read_only=True)
    subject.database = subject.engine.database
    assert subject.state() == fresh().state()
    assert (tmp_path / "manifest.json").read_text() == text


def test_its_counts_cannot_be_verified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stored_as_before(tmp_path, monkeypatch)
    assert not verify(tmp_path).problems
    with pytest.raises(TidelogError, match="format 1"):
        verify(tmp_path, full=True)


def test_a_logged_change_set_is_not_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stored_as_before(tmp_path, monkeypatch)
    with DurableSubject(PROGRAM, tmp_path) as writer:
        writer.durable.log.write(writer.engine.epoch + 1, NetChange({}, writer.words(MORE)))
    path = tmp_path / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"format": 1}))
    with DurableSubject(PROGRAM, tmp_path) as subject:
        assert subject.state() == fresh(**MORE).state()


def test_projections_of_a_recursion_are_stored_with_it(tmp_path: Path) -> None:
    with DurableSubject(PROGRAM, tmp_path) as subject:
        subject.bootstrap(FACTS)
        subject.update({"f": {(2, 2)}}, MORE)
        wanted = subject.state()
        assert "p@(0)" in set(subject.durable._manifest().relations)
    with DurableSubject(PROGRAM, tmp_path) as subject:
        assert subject.state() == wanted
        subject.update({"e": {(1, 2)}}, {})
        wanted = subject.state()
    later = PROGRAM.replace("q(x) :- p(x, _),", "q(x) :- p(x, _), x > 1,")
    with DurableSubject(later, tmp_path, migrate=True) as subject:
        assert subject.state()["p"] == wanted["p"]
        assert subject.durable._manifest().relations["p@(0)"].snapshot.last == 1
