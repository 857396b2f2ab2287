"""An index has, for each key, the entries of its rows in their order, however it was built."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tidelog.store import Database, Relation
from tidelog.store.blocks import IndexSlot
from tidelog.store.codes import ROW
from tidelog.store.index import LOOKED_UP_TWICE, Index

MANY = LOOKED_UP_TWICE + 40_000
KEYS = {
    "close together": lambda n: n % 1000,
    "spread out": lambda n: n % 1000 * 1_000_003,
    "wide": lambda n: n % 1000 * 2**40,
    "more than expected": lambda n: n // 2 * 1_000_003,
}


def rows_of(kind: str, count: int) -> Any:
    numbers = np.random.default_rng(7).permutation(count).astype(np.int64)
    return np.column_stack((KEYS[kind](numbers), numbers, numbers % 3))


def segments(index: Index) -> dict[bytes, tuple[int, int]]:
    """The entries of each segment, as bytes, and its previous length and stamp."""
    slots = index._table.view(np.dtype(IndexSlot))
    found = {}
    width = max(len(index.values), 1)
    for slot in slots[slots["key"] != 0]:
        entries = index._arena.data[slot["offset"] : slot["offset"] + slot["length"] * width, 0].astype(np.int64)
        found[entries.tobytes()] = int(slot["previous"]), int(slot["stamp"])
    return found


def expected(relation: Relation, index: Index, delta_start: int) -> dict[bytes, int]:
    """The entries of each key, in the order of the rows, and how many of them are old."""
    rows = relation.rows().astype(np.int64)
    numbered = np.column_stack((rows, np.arange(len(rows))))
    values = numbered[:, [3 if c == ROW else c for c in index.values]]
    _, keys = np.unique(rows[:, list(index.columns)], axis=0, return_inverse=True)
    order = np.argsort(keys.reshape(-1), kind="stable")
    ends = np.flatnonzero(np.diff(keys.reshape(-1)[order])) + 1
    return {values[part].tobytes(): int((part < delta_start).sum()) for part in np.split(order, ends)}


@pytest.mark.parametrize("columns", [(0,), (0, 2)], ids=str)
@pytest.mark.parametrize(("kind", "count"), [("spread out", 1000), *((kind, MANY) for kind in KEYS)])
@pytest.mark.parametrize("stateful", [True, False], ids=["state", "no state"])
@pytest.mark.parametrize("parts", ["all old", "all new", "old and new", "in two steps"])
def test_an_index_groups_the_rows_by_their_keys(
    columns: tuple[int, ...], kind: str, count: int, stateful: bool, parts: str
) -> None:
    database = Database()
    relation = database.create("r", 3, stateful=stateful)
    index = relation.index(columns, set() if stateful else {1})
    rows = rows_of(kind, count)
    old = {"all old": count, "all new": 0}.get(parts, count // 2)
    if old:
        relation.insert(rows[:old])
        relation.settle()
    if parts == "in two steps":
        database.update(index)
    if old < count:
        relation.insert(rows[old:])
        relation.advance()
    database.update(index)
    found, wanted = segments(index), expected(relation, index, old)
    assert found.keys() == wanted.keys()
    for entries, before in wanted.items():
        previous, stamp = found[entries]
        size = len(entries) // 8 // len(index.values)
        if before < size:
            assert (previous, stamp) == (before, relation.tick)
        else:
            assert stamp != relation.tick


@pytest.mark.parametrize("steps", [1, 3], ids=["built at once", "extended"])
@pytest.mark.parametrize("low", [0, -500, 2**40], ids=["from 0", "from -500", "wide"])
def test_a_relation_gives_its_rows_by_a_column_that_has_an_index(steps: int, low: int) -> None:
    database = Database()
    relation = database.create("r", 3, stateful=True)
    indexes = [relation.index(columns, set()) for columns in ((0, 1), (1,), (0,), (1, 2))]
    numbers = np.random.default_rng(3).permutation(30_000).astype(np.int64)
    rows = np.column_stack((numbers, numbers % 700 + low, numbers % 5))
    for part in np.array_split(rows, steps):
        relation.insert(part)
        relation.settle()
        for index in indexes:
            database.update(index)
    if low == 2**40:  # not in reach of a plain array
        assert relation.key_order() is None
    else:
        order = relation.key_order()  # by column 1, which most indexes have
        assert (order == np.argsort(rows[:, 1], kind="stable")).all()
    relation.insert(rows[:1] + 10**6)
    relation.settle()
    assert relation.key_order() is None, "the indexes do not have all rows"


def test_limits_are_those_of_all_rows() -> None:
    relation = Database().create("r", 2)
    relation.insert(np.array([[5, -7], [9, 3]]))
    assert (relation.limits(0, 1), relation.limits(0, 2), relation.limits(1, 2)) == ((5, 5), (5, 9), (-7, 3))
    relation.insert(np.array([[4, 2**40]]))
    assert (relation.limits(0, 3), relation.limits(1, 3)) == ((4, 9), (-7, 2**40))
    relation.clear()
    relation.insert(np.array([[1, 1]]))
    assert relation.limits(1, 1) == (1, 1)
