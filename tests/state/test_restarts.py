"""A restart between two epochs makes no difference: same tuples, iterations and counts as without it."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from state.running import DurableSubject
from strategies.budget import examples, note_seed
from strategies.epochs import Facts, History, histories
from strategies.programs import Features
from strategies.subject import Subject
from tidelog.epochs.one_store import OneStore
from tidelog.epochs.report import EpochReport
from tidelog.errors import TidelogError
from tidelog.state import compaction

JOINS = Features(types=("number", "symbol"), aggregates=False, special=False, derived_inputs=True)
KINDS = {"everything": Features(derived_inputs=True), "joins": JOINS}


def net(before: Facts, after: Facts) -> tuple[Facts, Facts]:
    gone, come = {n: before[n] - after[n] for n in before}, {n: after[n] - before[n] for n in before}
    return {n: rows for n, rows in gone.items() if rows}, {n: rows for n, rows in come.items() if rows}


WAYS: dict[str, dict[str, Any]] = {
    "as usual": {},
    "strata anew": {"switch": 0.0, "switching": "stratum"},
    "programs anew": {"switch": 0.0, "switching": "program"},
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_history_with_restarts_is_the_history_without(kind: str, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if way != "as usual":
        monkeypatch.setattr(OneStore, "least_budget", 10)  # updates are given up at all sorts of places
    monkeypatch.setattr(compaction, "MOST", 2)
    monkeypatch.setattr(compaction, "WORTHWHILE", 5)

    @examples(60, len(WAYS) * len(KINDS))
    @given(histories(KINDS[kind]))
    def agrees(history: History) -> None:
        note_seed(history)
        try:
            steady = Subject(history.example.text, "elastic", **WAYS[way])
        except TidelogError:
            return
        with tempfile.TemporaryDirectory() as folder:
            compare(history, steady, Path(folder), WAYS[way])

    agrees()


def compare(history: History, steady: Subject, folder: Path, way: dict[str, Any]) -> None:
    before: Facts = {}
    for facts in history.facts():
        with DurableSubject(history.example.text, folder, **way) as restarted:
            wanted, found = (outcome(subject, before, facts) for subject in (steady, restarted))
            if isinstance(wanted, tuple) or isinstance(found, tuple):
                assert found == wanted
                return
            assert found.epoch == wanted.epoch
            assert way or found.strategy == wanted.strategy  # where a budget ends depends on the join order
            assert told(restarted, found.inserted) == told(steady, wanted.inserted)
            assert told(restarted, found.deleted) == told(steady, wanted.deleted)
            same_state(restarted, steady)
            efforts = restarted.store.state.efforts
        with DurableSubject(history.example.text, folder, **way) as reopened:
            same_state(reopened, steady)
            assert reopened.store.state.efforts == efforts
            assert reopened.store.state.counters == steady.store.state.counters
        before = facts


def outcome(subject: Subject, before: Facts, facts: Facts) -> EpochReport | tuple[str, ...]:
    """What an epoch reports, or the codes of its errors."""
    try:
        return subject.update(*net(before, facts)) if before else subject.bootstrap(facts)
    except TidelogError as problem:
        return problem.codes


def told(subject: Subject, side: dict[str, np.ndarray]) -> dict[str, set[Any]]:
    return {name: set(subject.values(name, rows)) for name, rows in side.items()}


def same_state(found: Subject, wanted: Subject) -> None:
    assert found.state() == wanted.state()
    for name in wanted.store.state.given:
        assert set(found.values(name, found.engine.facts(name))) == set(wanted.values(name, wanted.engine.facts(name)))
    auxiliaries = wanted.store.state.program.auxiliaries
    assert {n: found.engine.count(n) for n in auxiliaries} == {n: wanted.engine.count(n) for n in auxiliaries}


def test_a_tuple_that_is_only_found_earlier_is_found_earlier_after_a_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The stratum is evaluated anew; none of its tuples comes or goes, but one moves to another iteration."""
    monkeypatch.setattr(OneStore, "least_budget", 10)
    text = (
        ".decl e(a: number, b: number)\n.input e\n.decl p(a: number, b: number)\n"
        "p(0, x) :- p(x, _).\np(x, x) :- e(x, _), e(y, _), x = y.\n"
    )
    with DurableSubject(text, tmp_path, switch=0.0) as subject:
        subject.bootstrap({"e": {(1, 0)}})
        assert subject.state()["p"][0, 0].iteration == 3
        subject.update({}, {"e": {(0, 0)}})
        wanted = subject.state()
        assert wanted["p"][0, 0].iteration == 1
    with DurableSubject(text, tmp_path, switch=0.0) as subject:
        assert subject.state() == wanted
