"""Equivalences by their classes, and the components they come from."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle import closure
from strategies.budget import examples
from tidelog.plan.steps import Emit, Match, Probe, Scan, Slot, View
from tidelog.store import Database, Equivalence, pair_changes
from tidelog.store.components import components

ELEMENTS = st.one_of(st.integers(-3, 12), st.integers(-(2**63), 2**63 - 1))
PAIRS = st.lists(st.tuples(ELEMENTS, ELEMENTS), max_size=20)


def equivalence(pairs: list[tuple[int, int]]) -> Equivalence:
    database = Database()
    database.create("same", 2).insert(np.array(pairs, np.int64).reshape(-1, 2))
    return database.complete_equivalence("same")


@examples(100)
@given(PAIRS)
def test_it_has_the_pairs_of_the_closure(pairs: list[tuple[int, int]]) -> None:
    same, wanted = equivalence(pairs), closure(set(pairs))
    rows = list(map(tuple, same.rows().tolist()))
    assert len(rows) == len(set(rows)) == same.count
    assert set(rows) == wanted
    asked = [(x, y) for x in (0, 1, 2**40, *(a for a, _ in pairs)) for y in (0, 7, *(b for _, b in pairs))]
    assert same.contains(asked).tolist() == [pair in wanted for pair in asked]


@examples(100)
@given(PAIRS)
def test_components_are_numbered_from_zero(pairs: list[tuple[int, int]]) -> None:
    elements, numbers = components(np.array(pairs, np.int64).reshape(-1, 2))
    assert elements.tolist() == sorted({x for pair in pairs for x in pair})
    assert set(numbers.tolist()) == set(range(len(set(numbers.tolist()))))


@pytest.mark.parametrize("order", ["ascending", "descending", "shuffled", "star"])
def test_long_chains_are_one_component(order: str) -> None:
    n = 20_000
    places = np.arange(n)
    pairs = {
        "ascending": np.column_stack((places[:-1], places[1:])),
        "descending": np.column_stack((places[1:], places[:-1]))[::-1],
        "shuffled": np.column_stack((p := np.random.default_rng(3).permutation(n), np.roll(p, 1))),
        "star": np.column_stack((places[:-1], np.full(n - 1, n - 1))),
    }[order]
    _, numbers = components(pairs)
    assert not numbers.any()


def test_a_plan_that_knows_nothing_of_classes_sees_the_pairs() -> None:
    same = equivalence([(1, 2), (3, 3)])
    found = same.database.create("found", 2)
    steps = [
        Scan(Match("same", View.ALL, (), ((0, 0),))),
        Probe(Match("same", View.ALL, ((1, Slot(0)),), ((0, 1),))),
        Emit("found", (Slot(0), Slot(1))),
    ]
    same.database.pipeline(steps).run()
    assert set(map(tuple, found.rows().tolist())) == {(1, 1), (1, 2), (2, 1), (2, 2), (3, 3)}


PARTITIONS = st.dictionaries(ELEMENTS, st.integers(0, 4), max_size=12)


def pairs_of(partition: dict[int, int]) -> set[tuple[int, int]]:
    return {(x, y) for x in partition for y in partition if partition[x] == partition[y]}


def columns(partition: dict[int, int]) -> tuple[np.ndarray, np.ndarray]:
    return np.array(list(partition), np.int64), np.array(list(partition.values()), np.int64)


@examples(200)
@given(PARTITIONS, PARTITIONS, st.integers(0, 40), st.integers(0, 40))
def test_changed_pairs_are_those_of_one_side_only(
    before: dict[int, int], after: dict[int, int], start: int, stop: int
) -> None:
    for found, wanted in zip(
        pair_changes(columns(before), columns(after)),
        (pairs_of(after) - pairs_of(before), pairs_of(before) - pairs_of(after)),
        strict=True,
    ):
        rows = np.asarray(found).tolist()
        assert len(rows) == len(found) == len(wanted)
        assert set(map(tuple, rows)) == wanted
        assert found[start:stop].tolist() == rows[start:stop]
        assert [row for batch in found.batches(3) for row in batch.tolist()] == rows
