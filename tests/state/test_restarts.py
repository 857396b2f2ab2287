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
from tidelog.errors import TidelogError
from tidelog.evaluate.engine import EpochReport

JOINS = Features(types=("number", "symbol"), aggregates=False, special=False, derived_inputs=True)
KINDS = {"everything": Features(derived_inputs=True), "joins": JOINS}


def net(before: Facts, after: Facts) -> tuple[Facts, Facts]:
    gone, come = {n: before[n] - after[n] for n in before}, {n: after[n] - before[n] for n in before}
    return {n: rows for n, rows in gone.items() if rows}, {n: rows for n, rows in come.items() if rows}


@pytest.mark.parametrize("kind", KINDS)
def test_a_history_with_restarts_is_the_history_without(kind: str) -> None:
    @examples(25)
    @given(histories(KINDS[kind]))
    def agrees(history: History) -> None:
        note_seed(history)
        try:
            steady = Subject(history.example.text, "elastic")
        except TidelogError:
            return
        with tempfile.TemporaryDirectory() as folder:
            compare(history, steady, Path(folder))

    agrees()


def compare(history: History, steady: Subject, folder: Path) -> None:
    before: Facts = {}
    for facts in history.facts():
        with DurableSubject(history.example.text, folder) as restarted:
            wanted, found = (outcome(subject, before, facts) for subject in (steady, restarted))
            if isinstance(wanted, tuple) or isinstance(found, tuple):
                assert found == wanted
                return
            assert (found.epoch, found.strategy) == (wanted.epoch, wanted.strategy)
            assert told(restarted, found.inserted) == told(steady, wanted.inserted)
            assert told(restarted, found.deleted) == told(steady, wanted.deleted)
            same_state(restarted, steady)
        with DurableSubject(history.example.text, folder) as reopened:
            same_state(reopened, steady)
            assert reopened.elastic.efforts == steady.engine.efforts  # type: ignore[attr-defined]
            assert reopened.elastic.state.counters == steady.engine.state.counters  # type: ignore[attr-defined]
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
    for name in wanted.engine.state.given:  # type: ignore[attr-defined]
        assert set(found.values(name, found.engine.facts(name))) == set(wanted.values(name, wanted.engine.facts(name)))
    auxiliaries = wanted.engine.state.program.auxiliaries  # type: ignore[attr-defined]
    assert {n: found.engine.count(n) for n in auxiliaries} == {n: wanted.engine.count(n) for n in auxiliaries}
