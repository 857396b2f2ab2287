"""Choice domains: decided in batches, as if tuples came one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies.budget import examples
from tidelog.evaluate.special import ChoiceGate
from tidelog.store import Database

Row = tuple[int, int, int]
BATCHES = st.lists(st.lists(st.tuples(*[st.integers(-2, 9)] * 3), max_size=25), max_size=3)


def one_by_one(rows: list[Row], keys: list[tuple[int, ...]]) -> list[Row]:
    """The definition: a tuple stays if none before it that stays has one of its keys."""
    stay: list[Row] = []
    for row in rows:
        if not any(all(row[c] == other[c] for c in key) for key in keys for other in stay):
            stay.append(row)
    return stay


@pytest.mark.parametrize("keys", [[(0,)], [(0,), (1,)], [(2, 0)], [(0, 1), (2,)], [(0,), (1,), (2,)]], ids=str)
@examples(100)
@given(batches=BATCHES)
def test_the_first_tuple_with_all_its_keys_free_stays(keys: list[tuple[int, ...]], batches: list[list[Row]]) -> None:
    relation = Database().create("r", 3)
    choice = ChoiceGate(relation, keys)
    for batch in batches:
        choice.accept(np.array(batch, np.int64).reshape(-1, 3))
    assert list(map(tuple, relation.rows().tolist())) == one_by_one([row for batch in batches for row in batch], keys)


def test_tuples_that_were_there_keep_their_keys() -> None:
    relation = Database().create("r", 2)
    relation.insert([(1, 5)])
    ChoiceGate(relation, [(0,)]).accept(np.array([(1, 6), (2, 7), (2, 8)]))
    assert relation.rows().tolist() == [[1, 5], [2, 7]]


def test_a_long_chain_of_conflicts_is_decided_in_order() -> None:
    relation = Database().create("r", 2)
    ChoiceGate(relation, [(0,), (1,)]).accept(np.array([(i // 2, (i + 1) // 2) for i in range(1001)]))
    assert relation.rows().tolist() == [[i, i] for i in range(501)]
