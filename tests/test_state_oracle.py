"""The oracle of states agrees with the oracle of sets, and with states worked out by hand."""

from __future__ import annotations

from hypothesis import given

import oracle
from reach import REACH
from state_oracle import Entry, state
from strategies.budget import examples, note_seed
from strategies.engine import checked_program
from strategies.epochs import Epoch, History, histories
from tidelog.errors import TidelogError


@examples(200)
@given(histories())
def test_states_have_the_tuples_that_the_oracle_finds(history: History) -> None:
    note_seed(history)
    try:
        checked = checked_program(history.example.text)
    except TidelogError:
        return
    for facts in history.facts():
        found = state(checked, facts)
        assert {name: set(rows) for name, rows in found.items()} == oracle.evaluate(checked, facts)
        for name, rows in found.items():
            given_facts = {row for row, entry in rows.items() if entry.iteration == 0}
            assert given_facts >= facts.get(name, set())
            assert all(entry == Entry(0, 1) or entry >= Entry(1, 1) for entry in rows.values())


def test_a_tuple_has_the_iteration_of_its_shortest_derivation_and_counts_those() -> None:
    edges = {(1, 2), (2, 4), (1, 3), (3, 4), (4, 5), (2, 5)}
    found = state(checked_program(REACH), {"edge": edges})
    assert set(found["edge"].values()) == {Entry(0, 1)}
    assert found["path"] == {
        **dict.fromkeys(edges, Entry(1, 1)),
        (1, 4): Entry(2, 2),
        (1, 5): Entry(2, 1),  # over 2; over 4 it is longer
        (3, 5): Entry(2, 1),
    }


def test_facts_given_for_a_derived_relation_are_level_zero_whatever_derives_them() -> None:
    text = REACH + ".input path\n"
    found = state(checked_program(text), {"edge": {(1, 2), (2, 3)}, "path": {(1, 2), (7, 1)}})
    assert found["path"] == {
        (1, 2): Entry(0, 1),
        (7, 1): Entry(0, 1),
        (2, 3): Entry(1, 1),
        (1, 3): Entry(1, 1),
        (7, 2): Entry(1, 1),
        (7, 3): Entry(2, 1),
    }


def test_every_tuple_that_a_wildcard_matches_is_a_derivation() -> None:
    text = ".decl e(x: number, y: number)\n.input e\n.decl p(x: number)\np(x) :- e(x, _), !e(_, x).\np(1).\n"
    found = state(checked_program(text), {"e": {(1, 2), (1, 3), (3, 4)}})
    assert found["p"] == {(1,): Entry(1, 3)}


def test_every_number_of_a_range_is_a_derivation() -> None:
    text = ".decl e(x: number)\n.input e\n.decl p(x: number)\np(x) :- e(x), y = range(0, 3), y < 2.\n"
    assert state(checked_program(text), {"e": {(1,)}})["p"] == {(1,): Entry(1, 2)}


def test_aggregates_are_functions() -> None:
    text = """
    .decl e(x: number, y: number)
    .input e
    .decl p(x: number, n: number)
    p(x, n) :- e(x, _), n = count : { e(x, y), y > 2 }.
    """
    found = state(checked_program(text), {"e": {(1, 2), (1, 3), (4, 4)}})
    assert found["p"] == {(1, 1): Entry(1, 2), (4, 1): Entry(1, 1)}


def test_an_epoch_deletes_before_it_inserts() -> None:
    epoch = Epoch(delete={"e": {(1,), (2,)}}, insert={"e": {(2,), (3,)}})
    assert epoch.after({"e": {(1,), (2,), (4,)}, "f": {(1,)}}) == {"e": {(2,), (3,), (4,)}, "f": {(1,)}}
