"""Profiles: what an epoch of a session says about where its time went."""

from __future__ import annotations

from pathlib import Path

import pytest

from strategies.engine import checked_program
from tidelog import Profile, Session
from tidelog.epochs.engine import STRATEGIES
from tidelog.errors import TidelogError
from tidelog.evaluate.profile import STAGES, Recorder

PROGRAM = """
.decl edge(x: number, y: number)
.input edge
.decl path(x: number, y: number)
path(x, y) :- edge(x, y).
path(x, z) :- path(x, y), edge(y, z).
.decl reached(x: number, n: number)
reached(x, n) :- edge(x, _), n = count : { path(x, _) }.
.decl best(x: number, y: number)
best(x, y) :- path(x, y).
best(x, y) <= best(x, z) :- y < z.
"""
STEP = "path(x, z) :- path(x, y), edge(y, z)."


def figures(profile: Profile | None) -> dict[str, tuple[int, int, int]]:
    """Tuples, derivations and iterations of each task."""
    assert profile is not None
    return {t.task.text: (t.tuples, t.derivations, t.iterations) for t in profile.totals()}


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_bootstrap_tells_what_each_rule_did(strategy: str) -> None:
    with Session(PROGRAM, strategy=strategy, profile=True) as s:
        profile = s.bootstrap({"edge": [(1, 2), (2, 3), (3, 4)]}).profile
        assert profile is not None
        found = figures(profile)
        assert found["path(x, y) :- edge(x, y)."][:2] == (3, 3)
        assert found[STEP][:2] == (3, 3)
        assert {"reading the facts", "the best of best"} <= found.keys()
        assert (profile.epoch, profile.strategy) == (1, "bootstrap")
        assert {name: size.tuples for name, size in profile.relations.items() if "@" not in name} == {
            "edge": 3, "path": 6, "reached": 3, "best": 3,
        }  # fmt: skip
        assert all(size.total > 0 for size in profile.relations.values() if size.tuples)
        assert 0 < sum(total.seconds for total in profile.totals()) <= profile.seconds


def test_an_update_tells_which_derivations_it_looked_at() -> None:
    with Session(PROGRAM, strategy="update", profile=True) as s:
        s.bootstrap({"edge": [(1, 2), (2, 3), (3, 4)]})
        profile = s.update(insert={"edge": [(4, 5)]}).profile
        assert profile is not None
        found = figures(profile)
        assert found[STEP][1] >= 3  # 1 to 5, 2 to 5, 3 to 5
        assert {"update of path", "reading the facts"} <= found.keys()
        assert profile.relations["path"].tuples == 10
        assert (profile.epoch, profile.strategy) == (2, "update")


def test_deleted_tuples_are_not_counted() -> None:
    with Session(PROGRAM, profile=True) as s:
        s.bootstrap({"edge": [(1, 2), (2, 3), (3, 4)]})
        profile = s.update(delete={"edge": [(2, 3)]}).profile
        assert profile is not None
        assert profile.relations["path"].tuples == 2


def test_an_epoch_that_fails_leaves_nothing_in_the_profile_of_the_next() -> None:
    with Session(PROGRAM, profile=True) as s:
        s.bootstrap({"edge": [(1, 2)]})
        with pytest.raises(TidelogError):
            s.update(insert={"edge": [(1, "x")]})
        profile = s.update(insert={"edge": [(2, 3)]}).profile
        assert profile is not None
        assert [t.text for t in profile.tasks].count("reading the facts") == 1
        assert sum(record.task == 0 for record in profile.records) == 1


def test_without_being_asked_there_is_none() -> None:
    with Session(PROGRAM) as s:
        assert s.bootstrap({"edge": [(1, 2)]}).profile is None


def test_a_profile_is_the_same_after_it_was_written_and_read(tmp_path: Path) -> None:
    with Session(PROGRAM, profile=True) as s:
        profile = s.bootstrap({"edge": [(1, 2), (2, 3)]}).profile
    assert profile is not None
    profile.write(tmp_path / "p.json")
    assert Profile.read(tmp_path / "p.json") == profile


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{}", "is not a profile"),
        ("[]", "is not a profile"),
        ('{"format": 3}', "is not a profile"),
        ('{"format": 1}', "has format 1; this version reads format 3"),
    ],
)
def test_a_file_that_is_no_profile_is_refused(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "p.json").write_text(text)
    with pytest.raises(TidelogError, match=said):
        Profile.read(tmp_path / "p.json")


def test_no_second_is_counted_twice() -> None:
    recorder, clause = Recorder(), checked_program(PROGRAM).clauses[0]
    with recorder.epoch(), recorder.work("outer"):
        recorder.rule(0, 1, 1000.0, 2, 3)
        with recorder.work("inner"):
            pass
        with recorder.epoch():  # a part of the first
            pass
    profile = recorder.profile(1, "update", "", [clause], {})
    assert [task.text for task in profile.tasks] == ["path(x, y) :- edge(x, y).", "inner", "outer"]
    assert [round(record.seconds) for record in profile.records] == [1000, 0, 0]


@pytest.mark.parametrize("strategy", ["batch", "elastic"])
def test_stages_and_parts_of_memory_add_up(strategy: str, tmp_path: Path) -> None:
    (tmp_path / "edge.facts").write_text("".join(f"{n}\t{n + 1}\n" for n in range(2000)))
    text = PROGRAM.replace("best(x, y) :- path", "best(x, y) :- edge").replace("edge(y, z).", "edge(y, z), x < 3.")
    with Session(text, strategy=strategy, profile=True, facts=tmp_path) as s:
        profile = s.bootstrap().profile
    assert profile is not None
    stages = profile.stages()
    assert {"reading facts", "planning", "rules", "indexes"} <= stages.keys() <= set(STAGES)
    assert sum(stages.values()) == pytest.approx(profile.seconds)
    assert stages["not accounted for"] < 0.5 * profile.seconds
    assert {"reading edge", "entering the facts of edge"} <= {task.text for task in profile.tasks}
    assert {"Python and libraries", "relations"} <= profile.memory.keys()
    assert profile.memory["relations"] == sum(size.total for size in profile.relations.values())
    run = profile.with_work("writing the results", "writing", 2.0)
    assert run.seconds == profile.seconds + 2
    assert run.stages()["writing"] == 2
    assert sum(run.stages().values()) == pytest.approx(run.seconds)
