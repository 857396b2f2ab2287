"""What a body only asks for, whether something is there, is no matter of how many ways there are to answer it."""

from __future__ import annotations

from typing import Any

import pytest
from running import run

from strategies.subject import Subject
from tidelog.epochs.engine import STRATEGIES
from tidelog.epochs.one_store import OneStore

STATEFUL = ("update", "elastic", "update-paper", "counting")
DECLARED = """
.decl e(x: number, y: number)
.input e
.decl f(x: number, y: number)
.input f
.decl a(x: number)
.input a
.decl p(x: number)
"""
SEVEN = "p(x) :- e(x, _), e(x, _), e(x, _), e(x, _), e(x, _), e(x, _), e(x, _)."
QUESTIONS = {
    "the same atom": SEVEN,
    "variables that occur once": "p(x) :- e(x, a), e(x, b), e(x, c), e(x, d), f(x, g), f(x, h), f(i, x).",
    "different atoms": "p(x) :- a(x), e(x, _), e(_, x), f(x, _), f(_, x).",
    "conditions": "p(x) :- a(x), e(x, u), u > 3, f(x, v), v != 5, e(w, x), w < 900, f(z, x), z >= 0.",
    "nothing to do with the rest": "p(x) :- a(x), e(_, _), f(u, v), u < v, e(w, z), f(z, _), e(1, _).",
    "joins on their own": "p(x) :- a(x), e(x, u), a(u), e(x, v), f(v, 0), f(x, w), a(w), f(x, z), e(z, 0).",
    "equal joins": "p(x) :- e(x, u), a(u), e(x, v), a(v), e(x, w), a(w), e(x, z), a(z).",
    "cross product": ".decl q(x: number, y: number, z: number) q(x, y, z) :- e(x, _), e(y, _), e(z, _), x < 3, y < 3,"
    " z < 3.",
    "recursion": "p(x) :- a(x), e(x, 1). p(x) :- a(x), p(_), e(x, y), p(y), f(u, v), p(u), a(v), f(x, _).",
}
RECORDS = (
    ".type R = [n: number, m: number] .decl r(x: number, s: R) r(x, [x, y]) :- e(x, y)."
    " r(x, s) :- r(x, _), r(_, s), x < 3, r(x, [_, y]), a(y). p(x) :- r(x, _), r(_, [x, _]), r(x, [u, _]), f(u, _)."
)


def hub(size: int) -> dict[str, set[Any]]:
    """Few nodes with very many neighbours."""
    return {
        "e": {(x, y) for x in range(3) for y in range(size)} | {(y, 1) for y in range(size)},
        "f": {(x, y) for x in range(2) for y in range(size)} | {(y, 0) for y in range(size)},
        "a": {(x,) for x in range(size)},
    }


@pytest.mark.parametrize("strategy", STATEFUL)
def test_derivations_that_differ_in_a_wildcard_are_counted_once(strategy: str) -> None:
    facts = {"e": {(1, y) for y in range(30)}, "f": set(), "a": set()}
    subject = Subject(DECLARED + SEVEN, strategy)
    assert subject.bootstrap(facts).derivations == 30
    report = subject.update({"e": {(1, 0)}}, {"e": {(1, 30), (2, 0)}})
    assert report.derivations < 100
    assert {row: entry.count for row, entry in subject.state()["p"].items() if entry} == {(1,): 30, (2,): 1}


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_work_grows_with_the_facts_and_not_with_their_combinations(strategy: str, question: str) -> None:
    if strategy == "batch" and question in ("cross product", "conditions"):
        pytest.skip("batch goes through all tuples of atoms that bind variables, be it for a condition")
    facts, text = hub(400), DECLARED + QUESTIONS[question]
    subject = Subject(text, strategy, switch=10.0)
    total = sum(map(len, facts.values()))
    assert subject.bootstrap(facts).derivations < 10 * total
    changed = {"e": {(0, 7), (5, 1)}, "f": {(1, 9)}, "a": {(11,)}}
    deleted = subject.update(changed, {})
    inserted = subject.update({}, changed)
    if strategy in ("update", "elastic"):
        assert max(deleted.derivations, inserted.derivations) < total * 3


@pytest.mark.parametrize("question", [*QUESTIONS.values(), RECORDS])
@pytest.mark.parametrize("strategy", STATEFUL)
def test_every_strategy_finds_what_batch_finds(strategy: str, question: str) -> None:
    facts, text = hub(4), DECLARED + question
    subject = Subject(text, strategy)
    subject.bootstrap(facts)
    for delete, insert in (
        ({"e": {(0, 1), (1, 1)}}, {"a": {(7,)}}),
        ({"a": facts["a"]}, {}),
        ({}, {"a": {(0,), (1,)}}),
    ):
        subject.update(delete, insert)
        facts = {name: (rows - delete.get(name, set())) | insert.get(name, set()) for name, rows in facts.items()}
        wanted = Subject(text, "batch")
        wanted.bootstrap(facts)
        found = subject.state()
        for name, rows in wanted.state().items():
            assert set(found[name]) == set(rows), name


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_what_evaluation_makes_for_itself_is_in_no_report(strategy: str) -> None:
    subject = Subject(DECLARED + QUESTIONS["recursion"] + QUESTIONS["nothing to do with the rest"], strategy)
    first = subject.bootstrap(hub(5))
    second = subject.update({"e": {(0, 1), (1, 1), (2, 1)}}, {"a": {(9,)}})
    for report in (first, second):
        assert {*report.inserted, *report.deleted} <= {"e", "f", "a", "p"}
    if isinstance(subject.engine.holder, OneStore):
        assert any("@" in name for name in subject.store.state.program.kinds)


@pytest.mark.parametrize("strategy", STATEFUL)
def test_derivations_of_rules_that_come_from_one_clause_are_told_apart(strategy: str) -> None:
    """Both `r@(1)` and the part for `r(_, 1)` come from the second rule, and match the same tuple."""
    text = DECLARED + (
        ".decl r(x: number, y: number)\n.input r\nr(x, y) :- e(x, y).\nr(x, x) :- a(x), r(_, 1), r(_, x), r(x, _).\n"
    )
    facts = {"e": {(2, 3), (3, 2), (4, 1)}, "f": set(), "a": {(2,), (3,)}, "r": {(5, 1)}}
    subject, fresh = Subject(text, strategy), Subject(text, strategy)
    subject.bootstrap(facts)
    subject.update({"r": {(5, 1)}}, {"e": {(5, 5)}})
    fresh.bootstrap(facts | {"e": facts["e"] | {(5, 5)}, "r": set()})
    assert subject.state() == fresh.state()


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_nothing_is_computed_for_tuples_that_the_rule_does_not_reach(strategy: str) -> None:
    text = DECLARED + "p(x) :- a(x), e(x, u), 10 / u > 1, f(x, v), 10 / v > 1, f(_, w), 10 % w = 0."
    subject = Subject(text, strategy)
    subject.bootstrap({"e": {(1, 2), (2, 0)}, "f": {(1, 5)}, "a": {(1,)}})
    assert set(subject.state()["p"]) == {(1,)}


def test_a_part_that_nothing_else_depends_on_is_joined_once_in_batch() -> None:
    facts = hub(300)
    found = run(DECLARED + QUESTIONS["nothing to do with the rest"], facts)
    assert found["p"] == facts["a"]
    found = run(DECLARED + "p(x) :- a(x), e(y, z), f(z, y), z = 500.", facts)
    assert found["p"] == set()
