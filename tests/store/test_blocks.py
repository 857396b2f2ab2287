"""Blocks: Python and kernels see the same fields in the same places."""

from array import array
from ctypes import addressof
from inspect import get_annotations

import numpy as np
import pytest
from numba import njit

from tidelog.store import blocks
from tidelog.store.assembly import Link, assemble
from tidelog.store.blocks import (
    Bucket,
    Columns,
    Halves,
    IndexBlock,
    IndexSlot,
    Level,
    PlanBlock,
    RelationBlock,
    ScanLevel,
    Waiting,
    Words,
    words_at,
)
from tidelog.store.kernels import access
from tidelog.store.memory import address

ALL = [
    b for b in vars(blocks).values() if isinstance(b, type) and issubclass(b, blocks.Block) and b is not blocks.Block
]


@njit
def change(a: int, column: int, slots: int) -> int:
    r, words = RelationBlock(a), Words(column)
    r.count += 5
    r.left[1].count = 7
    r.lost.rows = words
    words[2] = -1
    slot = IndexSlot(slots)[1]
    slot.length, slot.offset = -3, 1 << 40
    return slot.length + r.left.count


@njit
def look_through(x: int, columns: int) -> int:
    index, chunk = IndexBlock(x), Columns(columns)
    index.free[31] = 9
    found = 0
    if index.order:
        found += 1000
    if not index.values:
        found += 100
    return found + index.relation.arity * 10 + chunk[1][2]


@njit
def fill(at: int) -> None:
    waiting = Waiting(Halves(at) + 3)
    waiting.next, waiting.number, waiting.row, waiting.more = 1, 2, -4, 5
    Bucket(at)[9].first = 8


def test_a_kernel_changes_what_python_reads_and_nothing_else() -> None:
    assert access.BlockAt(RelationBlock).block is RelationBlock
    relation = RelationBlock(count=3, arity=2, lock=-6)
    relation.left.count = 4
    column, slots = np.zeros(4, np.int64), (IndexSlot * 3)()
    assert change(addressof(relation), address(column), addressof(slots)) == 1
    assert (relation.count, relation.came.count, relation.left.count, relation.lost.count) == (8, 7, 4, 0)
    assert (relation.arity, relation.lock, relation.lost.rows) == (2, -6, address(column))
    assert column.tolist() == [0, 0, -1, 0]
    assert [(s.length, s.offset, s.capacity) for s in slots] == [(0, 0, 0), (-3, 1 << 40, 0), (0, 0, 0)]


def test_a_kernel_looks_through_addresses() -> None:
    relation = RelationBlock(arity=3)
    chunk = np.arange(6).reshape(2, 3)
    pointers = np.array([address(chunk), address(chunk) + 24])
    index = IndexBlock(relation=addressof(relation), order=address(chunk))
    assert look_through(addressof(index), address(pointers)) == 1000 + 100 + 30 + 5
    assert list(index.free) == [0] * 31 + [9]


def test_numbers_of_32_bits_and_blocks_side_by_side_lie_where_they_are_declared() -> None:
    memory = np.zeros(64, np.int64)
    fill(address(memory))
    assert memory.view(np.int32)[3:8].tolist() == [1, 2, -4, 5, 0]
    assert (memory[9 * 2], np.count_nonzero(memory)) == (8, 4)


@pytest.mark.parametrize("block", ALL, ids=lambda block: block.__name__)
def test_fields_lie_side_by_side_each_at_a_multiple_of_its_size(block: type[blocks.Block]) -> None:
    end = sum(getattr(block, name).size for base in block.__mro__ for name, _ in base.__dict__.get("_fields_", ()))
    assert blocks.size(block) == end
    for base in block.__mro__:
        for name, kind in base.__dict__.get("_fields_", ()):
            assert getattr(block, name).offset % np.dtype(kind).alignment == 0


def test_every_field_has_a_type_that_kernels_know() -> None:
    for block in ALL:
        for name, annotation in get_annotations(block).items():
            assert access.field_type(annotation) is not None, name


def test_assembled_blocks_lead_to_each_other_and_live_as_long_as_the_first() -> None:
    plan, unit, scan, addresses = PlanBlock(nlevel=2), Level(kind=5), ScanLevel(stop=77), array("q", [0, 0])
    links = [Link(plan, "levels", addresses), Link(addresses, 0, unit), Link(addresses, 1, scan)]
    placed = assemble(plan, [addresses, unit, scan], links)
    del plan, unit, scan, addresses, links
    first, second = words_at(placed.levels, placed.nlevel)
    assert (Level.from_address(first).kind, ScanLevel.from_address(second).stop) == (5, 77)
