"""A state brought to another program: what the change leaves alone stays, the rest is evaluated anew."""

from __future__ import annotations

from pathlib import Path

import pytest

from state.running import REACH, DurableSubject
from strategies.subject import Subject
from tidelog.errors import TidelogError
from tidelog.state.verify import verify

EDGES = {(1, 2), (2, 3), (3, 4), (5, 1)}


def stored(folder: Path, text: str = REACH, **facts: set[tuple[object, ...]]) -> None:
    with DurableSubject(text, folder) as subject:
        subject.bootstrap(facts or {"edge": EDGES})


def migrated(folder: Path, text: str, **facts: set[tuple[object, ...]]) -> set[str]:
    """Bring the state to a program; it is then that of a Bootstrap. The relations that kept their files."""
    fresh = Subject(text)
    fresh.bootstrap(facts or {"edge": EDGES})
    with DurableSubject(text, folder, migrate=True) as subject:
        assert subject.state() == fresh.state()
        relations = subject.durable._manifest().relations
        subject.update({}, {"edge": {(4, 9)}})
        fresh.update({}, {"edge": {(4, 9)}})
        assert subject.state() == fresh.state()
    with DurableSubject(text, folder) as subject:
        assert subject.state() == fresh.state()
    assert not verify(folder, full=True).problems
    return {name for name, found in relations.items() if found.snapshot.last == 1}


def test_only_strata_behind_the_change_are_evaluated(tmp_path: Path) -> None:
    stored(tmp_path)
    text = REACH.replace("far(x, n) :- path(x, _),", "far(x, n) :- path(x, _), x > 1,")
    assert migrated(tmp_path, text) >= {"edge", "path", "lonely"}


def test_a_rule_that_is_changed_reaches_what_reads_it(tmp_path: Path) -> None:
    stored(tmp_path)
    text = REACH.replace("path(x, y) :- edge(x, y).", "path(x, y) :- edge(x, y), x < 5.")
    assert {"edge", "lonely"} <= migrated(tmp_path, text) <= {"edge", "lonely"}


def test_relations_come_and_go(tmp_path: Path) -> None:
    stored(tmp_path)
    gone = REACH[: REACH.index(".decl lonely")]
    text = gone + ".decl new(x: number)\n.input new\n.decl both(x: number)\nboth(x) :- new(x), edge(x, _).\n"
    assert migrated(tmp_path, text) >= {"edge", "path", "far"}
    assert not list((tmp_path / "snapshots").glob("lonely-*"))


def test_facts_of_a_relation_that_becomes_derived_stay(tmp_path: Path) -> None:
    stored(tmp_path)
    text = REACH + "edge(x, x) :- lonely2(x).\n.decl lonely2(x: number)\nlonely2(7).\n"
    assert migrated(tmp_path, text) == set()


def test_facts_survive_a_relation_that_becomes_whole_and_back(tmp_path: Path) -> None:
    plain = ".decl edge(x: number, y: number)\n.input edge\n.decl p(x: number)\np(x) :- edge(x, _).\n"
    classes = plain.replace("y: number)", "y: number) eqrel", 1)
    stored(tmp_path, plain)
    with DurableSubject(classes, tmp_path, migrate=True) as subject:
        assert set(subject.state()["p"]) == {(i,) for i in range(1, 6)}
    with DurableSubject(plain, tmp_path, migrate=True) as subject:
        assert set(subject.state()["edge"]) == EDGES


def test_an_input_with_other_columns_begins_without_facts(tmp_path: Path) -> None:
    stored(tmp_path)
    text = ".decl edge(x: number, y: symbol)\n.input edge\n.decl p(x: number)\np(x) :- edge(x, _).\n"
    with DurableSubject(text, tmp_path, migrate=True) as subject:
        assert subject.state() == {"edge": {}, "p": {}}


def test_numbers_of_a_counter_move_when_a_stratum_before_them_changes(tmp_path: Path) -> None:
    text = """
    .decl edge(x: number, y: number)
    .input edge
    .decl a(n: number, x: number)
    a(autoinc(), x) :- edge(x, _).
    .decl b(n: number, x: number)
    b(autoinc(), x) :- edge(_, x), a(_, _).
    """
    stored(tmp_path, text)
    with DurableSubject(text.replace("edge(x, _).", "edge(x, _), x > 1."), tmp_path, migrate=True) as subject:
        numbers = [row[0] for name in ("a", "b") for row in subject.state()[name]]
        assert sorted(numbers) == list(range(len(numbers)))


def test_a_migration_of_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TidelogError, match="TL1312"):
        DurableSubject(REACH, tmp_path, migrate=True)


def test_a_migration_to_the_same_program_changes_nothing(tmp_path: Path) -> None:
    stored(tmp_path)
    with DurableSubject(REACH, tmp_path, migrate=True) as subject:
        assert subject.engine.epoch == 1
