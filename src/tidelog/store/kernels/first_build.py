"""The first build of an index: count the rows of each key, lay the segments out, fill them, each in one pass.

Where the key table is a plain array (keys of one narrow column that lie close together), nothing is hashed and nothing
is compared. Elsewhere the count has noted in which slot each row's key is, so that nothing is looked up twice. What is
always true: afterwards the index is as `append_range` would have built it. Cost: some 10 ns per row, and a look-up more
where keys are hashed.
"""

from __future__ import annotations

from tidelog.store.kernels.raw import inlined, kernel, ld32, ld64, ldw, lshr, prefetch, st32, st64, stw
from tidelog.store.layout import (
    DONE,
    GROW_ARENA,
    MISFIT_KEY,
    PACKED,
    R_ROWS,
    R_STRIDE,
    R_WIDE,
    ROW,
    S_BYTES,
    S_CAPACITY,
    S_LENGTH,
    S_OFFSET,
    S_PREVIOUS,
    S_STAMP,
    TOP,
    X_ARENA,
    X_ARENA_CAPACITY,
    X_ARENA_USED,
    X_BITS,
    X_COUNTED,
    X_KEYS,
    X_MODE,
    X_MULTIPLIER,
    X_NEED,
    X_NKEY,
    X_NVALUE,
    X_ORDER,
    X_PACK,
    X_RELATION,
    X_SLOTS,
    X_TABLE,
    X_UPTO,
    X_USED,
    X_VALUES,
)

AHEAD = 24  # rows whose slots are fetched in advance; their segments are fetched half as far ahead


@inlined
def is_direct(x: int) -> bool:
    """Whether the key table is a plain array."""
    plain = ld64(x + X_MODE) == PACKED and ld64(x + X_MULTIPLIER) == 1 and ld64(x + X_NKEY) == 1
    return plain and ld64(x + X_ORDER) == 0 and ld64(ld64(x + X_RELATION) + R_WIDE) == 0


@kernel
def count_direct(x: int, stop: int) -> int:
    """Count the entries of every key in its capacity; a status."""
    r, table, pack = ld64(x + X_RELATION), ld64(x + X_TABLE), ld64(x + X_PACK)
    stride, low, width = ld64(r + R_STRIDE) * 4, ld64(pack), ld64(pack + 8)
    keys = ld64(r + R_ROWS) + ld64(ld64(x + X_KEYS)) * 4
    counted, bad = ld64(x + X_COUNTED), 0
    for row in range(counted, stop):
        bad |= lshr(ld32(keys + row * stride) - low, width)
    if bad:
        return MISFIT_KEY
    for row in range(counted, stop):
        prefetch(table + (ld32(keys + min(row + AHEAD, stop - 1) * stride) - low) * S_BYTES)
        key = ld32(keys + row * stride) - low
        slot = table + key * S_BYTES
        st64(slot, key | TOP)
        st32(slot + S_CAPACITY, ld32(slot + S_CAPACITY) + 1)
    st64(x + X_COUNTED, stop)
    return DONE


@kernel
def lay_out(x: int, stop: int) -> int:
    """Give every key a segment for as many entries as were counted; a status."""
    nvalue = ld64(x + X_NVALUE)
    if stop * nvalue > ld64(x + X_ARENA_CAPACITY):
        st64(x + X_NEED, stop * nvalue)
        return GROW_ARENA
    at, used = 0, 0
    table = ld64(x + X_TABLE)
    for s in range(1 << ld64(x + X_BITS)):
        slot = table + s * S_BYTES
        if ld64(slot):
            st64(slot + S_OFFSET, at)
            at += ld32(slot + S_CAPACITY) * nvalue
            used += 1
    st64(x + X_ARENA_USED, at)
    st64(x + X_USED, used)
    return DONE


@inlined
def slot_of(row: int, table: int, keys: int, step: int, low: int) -> int:
    """The slot of a row: that of its key, or of the number that was noted for it."""
    return table + (ld32(keys + row * step) - low) * S_BYTES


@kernel
def fill_first(x: int, stop: int, stamp: int) -> None:
    """Enter rows [0, stop) into segments that have been laid out, as those of iteration `stamp`."""
    r, table, arena = ld64(x + X_RELATION), ld64(x + X_TABLE), ld64(x + X_ARENA)
    wide, rows, nvalue, values = ld64(r + R_WIDE), ld64(r + R_ROWS), ld64(x + X_NVALUE), ld64(x + X_VALUES)
    stride = ld64(r + R_STRIDE) << (2 + wide)
    keys, step, low = ld64(x + X_SLOTS), 4, 0
    if is_direct(x):
        keys, step, low = rows + ld64(ld64(x + X_KEYS)) * 4, stride, ld64(ld64(x + X_PACK))
    for row in range(stop):
        prefetch(slot_of(min(row + AHEAD, stop - 1), table, keys, step, low))
        soon = slot_of(min(row + AHEAD // 2, stop - 1), table, keys, step, low)
        prefetch(arena + ((ld64(soon + S_OFFSET) + ld32(soon + S_LENGTH) * nvalue) << (2 + wide)))
        slot = slot_of(row, table, keys, step, low)
        length = ld32(slot + S_LENGTH)
        entry = arena + ((ld64(slot + S_OFFSET) + length * nvalue) << (2 + wide))
        for j in range(nvalue):
            column = ld64(values + j * 8)
            v = row
            if column != ROW:
                v = ldw(rows + row * stride + (column << (2 + wide)), wide)
            stw(entry + (j << (2 + wide)), v, wide)
        st32(slot + S_LENGTH, length + 1)
    for s in range(1 << ld64(x + X_BITS)):
        slot = table + s * S_BYTES
        if ld32(slot + S_LENGTH):
            st32(slot + S_STAMP, stamp)
            st32(slot + S_PREVIOUS, 0)
    st64(x + X_UPTO, stop)
