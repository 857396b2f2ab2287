"""Epochs of the elastic engine: when it switches, what it reports, and that nothing of an abandoned update remains."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from evaluate.recomputation import compare
from reach import REACH
from strategies.budget import examples
from strategies.epochs import History, histories
from strategies.programs import Features
from strategies.subject import Subject
from tidelog.epochs.holder import Forgetful
from tidelog.epochs.one_store import OneStore
from tidelog.errors import TidelogError
from tidelog.evaluate.limits import Limits
from tidelog.evaluate.state import FEW_DEAD

REACH_AND_MORE = (
    REACH
    + """
.decl far(x: number, n: number)
far(x, n) :- path(x, _), n = count : { path(x, _) }.
.decl lonely(x: number)
lonely(x) :- edge(_, x), !edge(x, _).
"""
)


def chain(length: int) -> set[tuple[int, int]]:
    return {(i, i + 1) for i in range(length)}


@pytest.mark.parametrize("switching", ["stratum", "program"])
@pytest.mark.parametrize("allowed", [0, 30])
def test_an_abandoned_update_leaves_nothing_behind(
    switching: str, allowed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With hardly any budget, updates are abandoned at all sorts of places."""
    monkeypatch.setattr(OneStore, "least_budget", allowed)

    @examples(60)
    @given(histories(Features(derived_inputs=True)))
    def agrees(history: History) -> None:
        compare(history, "elastic", switch=0.0, switching=switching)

    agrees()


def same_state(subject: Subject, facts: dict[str, set[Any]]) -> None:
    fresh = Subject(REACH_AND_MORE)
    fresh.bootstrap(facts)
    assert subject.state() == fresh.state()


def test_a_small_change_is_an_update_and_says_what_it_did() -> None:
    subject = Subject(REACH_AND_MORE, "elastic")
    edges = chain(50)
    subject.bootstrap({"edge": edges})
    report = subject.update({"edge": {(0, 1)}}, {"edge": set()})
    assert report.strategy == "update"
    assert len(report.deleted["path"]) == 50
    assert {tuple(row) for row in report.deleted["far"].tolist()} == {(0, 50)}
    assert 0 < report.derivations <= (report.budget or 0)
    assert report.strata[0].relations == ("path",)
    same_state(subject, {"edge": edges - {(0, 1)}})


def test_a_stratum_that_nothing_reaches_is_not_visited() -> None:
    text = (
        REACH_AND_MORE + ".decl other(x: number)\n.input other\n.decl double(x: number)\ndouble(2 * x) :- other(x).\n"
    )
    subject = Subject(text, "elastic")
    subject.bootstrap({"edge": chain(5), "other": {(1,)}})
    report = subject.update({}, {"other": {(2,)}})
    assert [s.relations for s in report.strata] == [("double",)]


@pytest.mark.parametrize("switching", ["stratum", "program"])
def test_a_large_change_starts_over(switching: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OneStore, "least_budget", 100)
    subject = Subject(REACH_AND_MORE, "elastic", switch=0.1, switching=switching)
    edges = chain(60)
    subject.bootstrap({"edge": edges})
    report = subject.update({"edge": {(30, 31)}}, {})
    assert report.strategy in ("bootstrap", "mixed")
    assert "more than 0.1 of" in report.why
    assert len(report.deleted["path"]) == 31 * 30
    same_state(subject, {"edge": edges - {(30, 31)}})


def test_a_budget_in_seconds() -> None:
    subject = Subject(REACH_AND_MORE, "elastic", budget="seconds", switch=0.0)
    subject.bootstrap({"edge": chain(40)})
    report = subject.update({"edge": {(20, 21)}}, {})
    assert report.strategy != "update"
    same_state(subject, {"edge": chain(40) - {(20, 21)}})


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (".decl p(x: number, y: number) eqrel\np(x, y) :- e(x, y).\np(x, z) :- p(x, y), e(y, z).\n", "an eqrel"),
        (".decl p(x: number, y: number) choice-domain x\np(x, y) :- e(x, y).\n", "a choice-domain"),
        (
            ".decl p(x: number, y: number)\np(x, y) :- e(x, y).\np(x, y) <= p(z, w) :- x < z, y < w.\n",
            "a partial order",
        ),
        (".decl p(x: number, y: number)\np(x, $) :- e(x, _).\n", "autoinc()"),
    ],
)
def test_strata_that_no_update_can_follow_say_so(text: str, reason: str) -> None:
    subject = Subject(".decl e(x: number, y: number)\n.input e\n" + text, "elastic")
    facts = {(1, 2), (1, 3), (2, 4)}
    subject.bootstrap({"e": facts})
    report = subject.update({"e": {(1, 3)}}, {"e": {(5, 6)}})
    assert reason in report.why
    fresh = Subject(".decl e(x: number, y: number)\n.input e\n" + text)
    fresh.bootstrap({"e": facts - {(1, 3)} | {(5, 6)}})
    assert set(subject.state()["p"]) == set(fresh.state()["p"])


def test_numbers_of_the_counter_are_those_of_a_fresh_start() -> None:
    text = """
    .decl e(x: number)
    .input e
    .decl f(x: number)
    .input f
    .decl p(x: number, n: number)
    p(x, $) :- e(x).
    .decl q(x: number, n: number)
    q(x, $) :- f(x).
    """
    subject = Subject(text, "elastic")
    subject.bootstrap({"e": {(1,), (2,)}, "f": {(7,)}})
    subject.update({"e": {(1,)}}, {})
    fresh = Subject(text)
    fresh.bootstrap({"e": {(2,)}, "f": {(7,)}})
    assert set(subject.state()["q"]) == set(fresh.state()["q"])


def test_relations_with_many_dead_rows_are_compacted() -> None:
    text = ".decl e(x: number, y: number)\n.input e\n.decl p(x: number)\np(x) :- e(x, y), e(y, x).\n"
    subject = Subject(text)
    many = {(i, i % 7) for i in range(3 * FEW_DEAD)}
    subject.bootstrap({"e": many})
    rows = subject.database["e"].count
    few = {row for row in many if row[0] < 20}
    subject.update({"e": many - few}, {})
    assert subject.database["e"].count == len(few) < rows
    subject.update({}, {"e": {(1, 5), (5, 1)}})
    fresh = Subject(text)
    fresh.bootstrap({"e": few | {(1, 5), (5, 1)}})
    assert subject.state() == fresh.state()


def test_a_failure_leaves_the_last_epoch() -> None:
    text = """
    .decl top(x: number)
    .input top
    .decl n(x: number)
    n(0) :- top(_).
    n(x + 1) :- n(x), top(t), x < t.
    """
    subject = Subject(text, "elastic", limits=Limits(max_iterations=50))
    subject.bootstrap({"top": {(10,)}})
    before = subject.state()
    with pytest.raises(TidelogError, match="50 iterations"):
        subject.update({}, {"top": {(1000,)}})
    assert subject.state() == before
    subject.update({}, {"top": {(20,)}})
    assert len(subject.state()["n"]) == 21


class FullDisk(Forgetful):
    """Keeps no epoch."""

    def keep(self, *_: object) -> None:
        raise OSError("no space left")


@pytest.mark.parametrize("switching", ["stratum", "program"])
def test_a_stratum_evaluated_anew_in_vain_can_be_updated_again(switching: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its indexes went when it was replaced; they are built again."""
    subject = Subject(REACH_AND_MORE, "elastic", switching=switching)
    edges = chain(60)
    subject.bootstrap({"edge": edges})
    subject.update({"edge": {(3, 4)}}, {"edge": set()})
    engine = subject.engine
    before = subject.state()
    with monkeypatch.context() as patched:
        patched.setattr(OneStore, "least_budget", 10)
        patched.setattr(engine, "policy", replace(engine.policy, switch=0.0))
        patched.setattr(engine, "keeper", FullDisk())
        with pytest.raises(OSError, match="no space"):
            subject.update({"edge": {(30, 31)}}, {"edge": {(3, 4)}})
    assert subject.state() == before
    report = subject.update({"edge": {(10, 11)}}, {"edge": {(3, 4)}})
    assert report.strategy == "update"
    same_state(subject, {"edge": edges - {(10, 11)}})


def test_division_by_zero_in_an_update_names_the_rule() -> None:
    text = ".decl e(x: number)\n.input e\n.decl p(x: number)\np(6 / x) :- e(x).\n"
    subject = Subject(text, "elastic")
    subject.bootstrap({"e": {(1,), (2,)}})
    with pytest.raises(TidelogError, match="division by zero"):
        subject.update({}, {"e": {(0,)}})
    assert set(subject.state()["p"]) == {(6,), (3,)}


def test_the_rows_of_a_report_stay_as_they_are() -> None:
    subject = Subject(REACH_AND_MORE)
    first = subject.bootstrap({"edge": chain(3)})
    told = np.array(first.inserted["path"])
    subject.update({"edge": {(0, 1)}}, {"edge": {(7, 8)}})
    assert (first.inserted["path"] == told).all()


def test_a_derivation_with_two_ranges_is_named_alike_by_every_plan() -> None:
    text = """
    .decl e(x: number)
    .input e
    .decl f(x: number)
    .input f
    .decl p(x: number)
    p(x) :- e(x), f(y), v = range(0, y), w = range(0, 3), v + w >= 0.
    """
    subject = Subject(text)
    subject.bootstrap({"e": {(1,)}, "f": set()})
    subject.update({}, {"e": {(2,)}, "f": {(2,)}})  # found from e(2) and from f(2)
    assert {row: entry.count for row, entry in subject.state()["p"].items()} == {(1,): 6, (2,): 6}
