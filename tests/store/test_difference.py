"""What a relation that was evaluated anew has more and less than the one before it, whatever the order of its rows."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from tidelog.store import Database, Relation
from tidelog.store import difference as module
from tidelog.store.codes import BLOCKED
from tidelog.store.difference import difference

SHARED, GONE, NEW = [(i, i % 7) for i in range(300)], [(i, 8) for i in range(40)], [(i, 9) for i in range(50)]
FAR = 2**40


def relation(database: Database, name: str, rows: list[tuple[int, ...]]) -> Relation:
    made = database.create(name, 2, stateful=True)
    made.insert(np.array(rows, np.int64))
    made.settle()
    return made


def tuples(found: Relation, numbers: np.ndarray) -> set[tuple[int, ...]]:
    assert len(set(numbers.tolist())) == len(numbers)
    return set(map(tuple, found.rows()[numbers].tolist()))


@pytest.mark.parametrize("order", ["kept", "reversed", "shuffled", "new ones between"])
@pytest.mark.parametrize("wide", ["neither", "old", "new"])
def test_a_difference_does_not_depend_on_order_or_width(order: str, wide: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PIECE", 64)
    before, after = SHARED[:150] + GONE + SHARED[150:], SHARED + NEW
    if order == "reversed":
        after = after[::-1]
    elif order == "shuffled":
        Random(1).shuffle(after)
    elif order == "new ones between":
        after = [row for pair in zip(NEW, SHARED, strict=False) for row in pair] + SHARED[len(NEW) :]
    gone = GONE + [(FAR, -FAR)] * (wide == "old")
    came = NEW + [(FAR, FAR)] * (wide == "new")
    database = Database()
    old = relation(database, "old", before + gone[len(GONE) :])
    new = relation(database, "new", after + came[len(NEW) :])
    inserted, deleted = difference(new, old)
    assert tuples(new, inserted) == set(came)
    assert tuples(old, deleted) == set(gone)


def test_rows_that_were_dead_before_the_update_are_in_no_difference() -> None:
    database = Database()
    old, new = relation(database, "old", SHARED), relation(database, "new", SHARED[:-2])
    old.append_absent(np.array(NEW))
    inserted, deleted = difference(new, old)
    assert len(inserted) == 0
    assert tuples(old, deleted) == set(SHARED[-2:])


@pytest.mark.parametrize("alike", [True, False], ids=["packed alike", "packed otherwise"])
def test_relations_whose_tuples_lie_close_together_are_compared_block_by_block(
    alike: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PIECE", 64)
    numbers = Random(2)
    everything = [(1000 * x, y) for x in range(64) for y in range(128)]
    before, after = set(numbers.sample(everything, 6000)), set(numbers.sample(everything, 6000))
    if not alike:
        after |= {(-5, y) for y in range(60)}
    database = Database(bitmaps_from=64)
    old = relation(database, "old", numbers.sample(sorted(before), len(before)))
    old.append_absent(np.array(numbers.sample(sorted(set(everything) - before), 900)))
    new = relation(database, "new", sorted(after))
    assert old.mode == new.mode == BLOCKED
    assert new.has_blocks_like(old) == alike
    inserted, deleted = difference(new, old)
    assert tuples(new, inserted) == after - before
    assert tuples(old, deleted) == before - after
    assert (np.diff(inserted) > 0).all()
    assert (np.diff(deleted) > 0).all()


def test_the_difference_from_an_empty_relation_is_everything() -> None:
    database = Database()
    old, new = database.create("old", 2, stateful=True), relation(database, "new", SHARED)
    assert [tuples(new, n) for n in difference(new, old)] == [set(SHARED), set()]
    assert len(difference(old, new)[1]) == len(SHARED)
