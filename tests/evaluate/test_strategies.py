"""Changes that strategies get wrong when they follow the letter of the paper, and what each must leave behind."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from state_oracle import Entry
from strategies.epochs import Facts
from strategies.subject import SWITCHES, Subject
from tidelog.errors import TidelogError
from tidelog.plan.orders.paper_terms import Switches

STATEFUL = ("update", "elastic", "update-paper", "counting")

REACH = """
.decl edge(x: number, y: number)
.input edge
.decl start(x: number)
.input start
.decl reach(x: number)
reach(x) :- start(x).
reach(y) :- reach(x), edge(x, y).
"""


def entries(subject: Subject, name: str) -> dict[Any, tuple[int, int]]:
    """Iteration and count, by the only (or the whole) value of the tuple."""
    found = {}
    for row, entry in subject.state()[name].items():
        assert isinstance(entry, Entry)
        found[row[0] if len(row) == 1 else row] = (entry.iteration, entry.count)
    return found


def chain(*nodes: int) -> set[tuple[int, int]]:
    return set(pairwise(nodes))


def begun(text: str, facts: Facts, strategy: str, **options: Any) -> Subject:
    subject = Subject(text, strategy, **options)
    subject.bootstrap(facts)
    return subject


@pytest.mark.parametrize("strategy", STATEFUL)
def test_deleting_the_only_bridge_retracts_everything_behind_it(strategy: str) -> None:
    """Line 16 ends with the first empty N_k; the old state went on."""
    subject = begun(REACH, {"edge": chain(*range(8)), "start": {(0,)}}, strategy)
    subject.update({"edge": {(2, 3)}}, {})
    assert entries(subject, "reach") == {0: (1, 1), 1: (2, 1), 2: (3, 1)}
    subject.update({}, {"edge": {(2, 3)}})
    assert entries(subject, "reach") == {n: (n + 1, 1) for n in range(8)}


@pytest.mark.parametrize("strategy", STATEFUL)
def test_what_loses_its_first_derivations_is_found_again_by_later_ones(strategy: str) -> None:
    """Line 10, third term: from tuples that are in both states."""
    edges = chain(0, 1, 9) | chain(0, 2, 3, 4, 9) | chain(0, 5, 6, 7, 9)
    subject = begun(REACH, {"edge": edges, "start": {(0,)}}, strategy)
    assert entries(subject, "reach")[9] == (3, 1)
    subject.update({"edge": {(1, 9)}}, {})
    assert entries(subject, "reach")[9] == (5, 2)


MEET = (
    REACH
    + """
.decl meet(x: number, y: number, z: number)
.input meet
reach(z) :- reach(x), reach(y), meet(x, y, z).
"""
)


@pytest.mark.parametrize("strategy", STATEFUL)
def test_a_tuple_that_is_found_earlier_does_not_count_twice_for_what_comes_later(strategy: str) -> None:
    """Line 15: what was in N_k^o, and not N_k, leaves I_k^+."""
    edges = chain(0, 1, 2, 3) | chain(0, 11, 12, 13, 14, 15)
    subject = begun(MEET, {"edge": edges, "start": {(0,)}, "meet": {(3, 15, 99)}}, strategy)
    assert entries(subject, "reach")[99] == (7, 1)
    subject.update({}, {"edge": {(0, 3)}})
    assert entries(subject, "reach")[3] == (2, 1)
    assert entries(subject, "reach")[99] == (7, 1)


NEGATED = """
.decl a(x: number)
.input a
.decl b(x: number)
.input b
.decl h(x: number)
.input h
h(x) :- a(x), !b(x).
"""


@pytest.mark.parametrize("strategy", STATEFUL)
def test_a_derivation_that_a_negated_tuple_lets_in_is_inserted_and_not_discovered_again(strategy: str) -> None:
    """Section 3.3: in the re-discovery term a negated tuple is in neither state."""
    subject = begun(NEGATED, {"a": {(1,)}, "b": {(1,)}, "h": {(1,)}}, strategy)
    assert entries(subject, "h") == {1: (0, 1)}
    subject.update({"h": {(1,)}, "b": {(1,)}}, {})
    assert entries(subject, "h") == {1: (1, 1)}


@pytest.mark.parametrize("strategy", STATEFUL)
def test_a_negated_tuple_that_comes_forbids_to_discover_again(strategy: str) -> None:
    subject = begun(NEGATED, {"a": {(1,)}, "b": set(), "h": {(1,)}}, strategy)
    subject.update({"h": {(1,)}}, {"b": {(1,)}})
    assert entries(subject, "h") == {}


@pytest.mark.parametrize("switches", SWITCHES, ids=str)
def test_the_switches_of_the_paper_change_no_result(switches: Switches) -> None:
    edges = chain(0, 1, 2, 3, 4) | chain(0, 11, 12, 13, 4)
    subject = begun(MEET, {"edge": edges, "start": {(0,)}, "meet": {(4, 3, 7)}}, "update-paper", paper=switches)
    subject.update({"edge": {(1, 2)}}, {"edge": {(13, 3)}})
    assert entries(subject, "reach") == {
        0: (1, 1), 1: (2, 1), 11: (2, 1), 12: (3, 1), 13: (4, 1), 3: (5, 1), 4: (5, 1), 7: (6, 1),
    }  # fmt: skip


@pytest.mark.parametrize("strategy", STATEFUL)
def test_an_update_that_fails_leaves_nothing_behind(strategy: str) -> None:
    text = REACH + ".decl inverse(x: number)\ninverse(10 / (x - 6)) :- reach(x)."
    edges = chain(0, 1, 9) | chain(0, 2, 3, 9)
    subject = begun(text, {"edge": edges, "start": {(0,)}}, strategy)
    before = subject.state()
    with pytest.raises(TidelogError, match="division"):
        subject.update({"edge": {(1, 9)}}, {"edge": {(9, 6)}})
    assert subject.state() == before
    subject.update({"edge": {(1, 9)}}, {})
    assert entries(subject, "reach") == {0: (1, 1), 1: (2, 1), 2: (2, 1), 3: (3, 1), 9: (4, 1)}


@pytest.mark.parametrize("strategy", STATEFUL)
def test_rows_of_tuples_that_are_gone_are_given_back(strategy: str) -> None:
    """3,000 tuples go, the relation is compacted, and updates go on."""
    many = {(n, n + 10_000) for n in range(3000)}
    edges = chain(20_000, 20_001, 20_003) | chain(20_000, 20_004, 20_005, 20_003)
    starts = {(n,) for n, _ in many}
    subject = begun(REACH, {"edge": many | edges, "start": starts | {(20_000,)}}, strategy)
    assert subject.engine.count("reach") == 6005
    subject.update({"edge": many, "start": starts}, {})
    assert entries(subject, "reach")[20_003] == (3, 1)
    subject.update({"edge": {(20_001, 20_003)}}, {"start": {(7,)}})
    assert entries(subject, "reach") == {
        20_000: (1, 1), 20_001: (2, 1), 20_004: (2, 1), 20_005: (3, 1), 20_003: (4, 1), 7: (1, 1),
    }  # fmt: skip
