"""The first build of an index: count the rows of each key, lay the segments out, fill them, each in one pass.

Where the key table is a plain array (keys of one narrow column that lie close together), nothing is hashed and nothing
is compared. Elsewhere the count has noted in which slot each row's key is, so that nothing is looked up twice. What is
always true: afterwards the index is as `append_range` would have built it. Cost: some 10 ns per row, and a look-up more
where keys are hashed.
"""

from __future__ import annotations

from tidelog.store.blocks import Halves, IndexBlock, IndexSlot
from tidelog.store.codes import DONE, GROW_ARENA, MISFIT_KEY, PACKED, ROW, TOP
from tidelog.store.kernels.raw import inlined, kernel, ldw, lshr, prefetch, stw

AHEAD = 24  # rows whose slots are fetched in advance; their segments are fetched half as far ahead


@inlined
def is_direct(x: IndexBlock) -> bool:
    """Whether the key table is a plain array."""
    plain = x.mode == PACKED and x.multiplier == 1 and x.nkey == 1
    return plain and not x.order and x.relation.wide == 0


@kernel
def count_direct(x: IndexBlock, stop: int) -> int:
    """Count the entries of every key in its capacity; a status."""
    r, table = x.relation, x.table
    stride, low, width = r.stride, x.pack.low, x.pack.bits
    keys = Halves(r.rows) + x.keys[0]
    counted, bad = x.counted, 0
    for row in range(counted, stop):
        bad |= lshr(keys[row * stride] - low, width)
    if bad:
        return MISFIT_KEY
    for row in range(counted, stop):
        prefetch(table[keys[min(row + AHEAD, stop - 1) * stride] - low])
        key = keys[row * stride] - low
        slot = table[key]
        slot.key = key | TOP
        slot.capacity += 1
    x.counted = stop
    return DONE


@kernel
def lay_out(x: IndexBlock, stop: int) -> int:
    """Give every key a segment for as many entries as were counted; a status."""
    nvalue = x.nvalue
    if stop * nvalue > x.arena_capacity:
        x.need = stop * nvalue
        return GROW_ARENA
    at, used = 0, 0
    table = x.table
    for s in range(1 << x.bits):
        slot = table[s]
        if slot.key:
            slot.offset = at
            at += slot.capacity * nvalue
            used += 1
    x.arena_used = at
    x.used = used
    return DONE


@inlined
def slot_of(row: int, table: IndexSlot, keys: Halves, step: int, low: int) -> IndexSlot:
    """The slot of a row: that of its key, or of the number that was noted for it."""
    return table[keys[row * step] - low]


@kernel
def fill_first(x: IndexBlock, stop: int, stamp: int) -> None:
    """Enter rows [0, stop) into segments that have been laid out, as those of iteration `stamp`."""
    r, table, arena = x.relation, x.table, x.arena
    wide, rows, nvalue, values = r.wide, r.rows, x.nvalue, x.values
    stride = r.stride << (2 + wide)
    keys, step, low = x.slots, 1, 0
    if is_direct(x):
        keys, step, low = Halves(rows) + x.keys[0], r.stride, x.pack.low
    for row in range(stop):
        prefetch(slot_of(min(row + AHEAD, stop - 1), table, keys, step, low))
        soon = slot_of(min(row + AHEAD // 2, stop - 1), table, keys, step, low)
        prefetch(arena + ((soon.offset + soon.length * nvalue) << (2 + wide)))
        slot = slot_of(row, table, keys, step, low)
        length = slot.length
        entry = arena + ((slot.offset + length * nvalue) << (2 + wide))
        for j in range(nvalue):
            column = values[j]
            v = row
            if column != ROW:
                v = ldw(rows + row * stride + (column << (2 + wide)), wide)
            stw(entry + (j << (2 + wide)), v, wide)
        slot.length = length + 1
    for s in range(1 << x.bits):
        slot = table[s]
        if slot.length:
            slot.stamp = stamp
            slot.previous = 0
    x.upto = stop
