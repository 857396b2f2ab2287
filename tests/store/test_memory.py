"""Recycled memory: nobody sees what another still holds, and tables begin with zeros."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tidelog.store import memory
from tidelog.store.memory import HUGE, Growable, recycle, release_spare, zeros

WORDS = HUGE // 8


@pytest.fixture(autouse=True)
def _nothing_spare() -> Iterator[None]:
    release_spare()
    yield
    release_spare()


def grown(rows: int) -> Growable:
    made = Growable(2, False, 16)
    made.grow(0, rows)
    return made


def test_a_recycled_table_is_used_again_and_is_zero() -> None:
    table = zeros(WORDS)
    place = memory.address(table)
    table.fill(7)
    recycle(table)
    del table
    again = zeros(WORDS)
    assert memory.address(again) == place
    assert not again.any()


def test_rows_that_someone_holds_stay_as_they_are() -> None:
    rows = grown(HUGE // 8)
    rows.data[:3] = [[1, 2], [3, 4], [5, 6]]
    held = rows.data[:3]
    rows.recycle()
    del rows
    other = grown(HUGE // 8)
    other.data[:3] = 9
    assert held.tolist() == [[1, 2], [3, 4], [5, 6]]
    del held
    assert memory.address(grown(HUGE // 8).data) != memory.address(other.data)


def test_much_larger_memory_is_not_spent_on_few_rows() -> None:
    large = grown(32 * HUGE // 8)
    place = memory.address(large.data)
    large.recycle()
    del large
    few = grown(HUGE // 8)
    assert memory.address(few.data) != place
    few.data[:2] = 5
    few.grow(2, 16 * HUGE // 8)
    assert (memory.address(few.data), few.data[:2].tolist()) == (place, [[5, 5], [5, 5]])


def test_released_memory_is_not_used_again() -> None:
    table = zeros(WORDS)
    recycle(table)
    release_spare()
    del table
    assert not any(memory._spare_tables.values())
