"""Membership: which tuples of a chunk does a relation know?

Cost: like an insertion that inserts nothing. Other threads may be inserting: a tuple that they add meanwhile may or
may not be seen.
"""

from __future__ import annotations

from tidelog.store.kernels.identity import hash_columns, mix, pack_columns, row_equals
from tidelog.store.kernels.raw import inlined, kernel, ld32, ld64, lshr, prefetch, st64
from tidelog.store.layout import (
    AFTER,
    ALL,
    B_LIST,
    BEFORE_NOW,
    BLOCKED,
    DELTA,
    NEVER,
    NOW,
    NUMBERED,
    OLD,
    PACKED,
    R_ARITY,
    R_BEFORE,
    R_BITS,
    R_COUNT,
    R_DELTA_START,
    R_DELTA_STOP,
    R_MODE,
    R_NOW,
    R_NUMBERS,
    R_PACK,
    R_ROWS,
    R_STRIDE,
    R_TABLE,
    R_WIDE,
    TAGGED,
    TOP,
)


@kernel
def fits_columns(columns: int, arity: int, pack: int, m: int, keys: int, chosen: int) -> int:
    """Like pack_columns, for a lookup: lists in `chosen` which tuples fit at all, and gives their number."""
    bad = pack_columns(columns, arity, pack, m, keys)
    if bad == 0:
        for i in range(m):
            st64(chosen + i * 8, i)
        return m
    k = 0
    for i in range(m):
        bad = 0
        for c in range(arity):
            v = ld64(ld64(columns + c * 8) + i * 8) - ld64(pack + c * 24)
            bad |= lshr(v, ld64(pack + c * 24 + 8))
        if bad == 0:
            st64(chosen + k * 8, i)
            st64(keys + k * 8, ld64(keys + i * 8))
            k += 1
    return k


@kernel
def seek_numbers(r: int, columns: int, m: int, keys: int, found: int) -> None:
    """found[i] := where the row number of tuple i stands, or -1, in a table of packed keys, or of blocks of them."""
    arity, table, bits, pack = ld64(r + R_ARITY), ld64(r + R_TABLE), ld64(r + R_BITS), ld64(r + R_PACK)
    blocked, lists = ld64(r + R_MODE) == BLOCKED, ld64(r + R_NUMBERS)
    shift, mask = 64 - bits, (1 << bits) - 1
    low = 6 if blocked else 0
    size = 32 if blocked else 16
    for i in range(m):
        key, bad = 0, 0
        for c in range(arity):
            v = ld64(ld64(columns + c * 8) + i * 8) - ld64(pack + c * 24)
            bad |= lshr(v, ld64(pack + c * 24 + 8))
            key |= v << ld64(pack + c * 24 + 16)
        if bad:
            key = -1
        else:
            prefetch(table + lshr(mix(lshr(key, low)), shift) * size)
        st64(keys + i * 8, key)
    for i in range(m):
        key = ld64(keys + i * 8)
        st64(found + i * 8, -1)
        if key >= 0:
            wanted, s = lshr(key, low) | TOP, lshr(mix(lshr(key, low)), shift)
            while True:
                slot = table + s * size
                e = ld64(slot)
                if e == wanted:
                    if not blocked:
                        st64(found + i * 8, slot + 8)
                    elif lshr(ld64(slot + 8), key & 63) & 1:
                        st64(found + i * 8, lists + (ld32(slot + B_LIST) * 64 + (key & 63)) * 4)
                    break
                if e == 0:
                    break
                s = (s + 1) & mask


@kernel
def find_numbered(r: int, columns: int, m: int, keys: int, found: int) -> None:
    """find_rows in a table of packed keys, or of blocks of them."""
    seek_numbers(r, columns, m, keys, found)
    blocked = ld64(r + R_MODE) == BLOCKED
    if blocked:
        for i in range(m):
            if ld64(found + i * 8) >= 0:
                prefetch(ld64(found + i * 8))
    for i in range(m):
        at = ld64(found + i * 8)
        if at >= 0:
            st64(found + i * 8, ld32(at) if blocked else ld64(at))


@kernel
def find_rows(r: int, columns: int, m: int, keys: int, found: int) -> None:
    """found[i] := the row of tuple i, or -1, where the table leads to rows; `keys` is scratch."""
    if ld64(r + R_MODE) != TAGGED:
        find_numbered(r, columns, m, keys, found)
        return
    arity, table, bits = ld64(r + R_ARITY), ld64(r + R_TABLE), ld64(r + R_BITS)
    shift, mask = 64 - bits, (1 << bits) - 1
    wide, rows = ld64(r + R_WIDE), ld64(r + R_ROWS)
    stride = ld64(r + R_STRIDE) << (2 + wide)
    hash_columns(columns, arity, m, keys)
    for i in range(m):
        prefetch(table + lshr(ld64(keys + i * 8), shift) * 8)
    for i in range(m):
        h = ld64(keys + i * 8)
        tag = ((h & 0x7FFFFFFF) << 32) | TOP
        s = lshr(h, shift)
        e = ld64(table + s * 8)
        st64(found + i * 8, -1)
        while e != 0:
            if lshr(e ^ tag, 32) == 0 and row_equals(rows + (e & 0xFFFFFFFF) * stride, wide, columns, arity, i):
                st64(found + i * 8, e & 0xFFFFFFFF)
                break
            s = (s + 1) & mask
            e = ld64(table + s * 8)


@inlined
def iteration_now(r: int, row: int) -> int:
    """The iteration of a row, or NEVER."""
    return ld32(ld64(r + R_NOW) + row * 4)


@inlined
def iteration_before(r: int, row: int) -> int:
    """The iteration of a row in the state before the running update, or NEVER."""
    before = ld32(ld64(r + R_BEFORE) + row * 4)
    return iteration_now(r, row) if before == 0 else ~before


@kernel
def iteration_in(r: int, row: int, which: int) -> int:
    """The iteration of a row in one of the two states."""
    return iteration_now(r, row) if which == NOW else iteration_before(r, row)


@kernel
def visible(r: int, row: int, view: int) -> bool:
    """Whether a view has a row of a relation with state."""
    if view == ALL:
        return row < ld64(r + R_DELTA_STOP)
    if view == OLD:
        return row < ld64(r + R_DELTA_START)
    if view == DELTA:
        return ld64(r + R_DELTA_START) <= row < ld64(r + R_DELTA_STOP)
    return iteration_in(r, row, NOW if view == AFTER else BEFORE_NOW) != NEVER


@kernel
def find_members(r: int, columns: int, m: int, keys: int, chosen: int, found: int) -> None:
    """found[i] := 1 when tuple i is in the relation, else 0; `keys` and `chosen` are scratch."""
    for i in range(m):
        st64(found + i * 8, 0)
    mode, arity, table, bits = ld64(r + R_MODE), ld64(r + R_ARITY), ld64(r + R_TABLE), ld64(r + R_BITS)
    shift, mask = 64 - bits, (1 << bits) - 1
    if ld64(r + R_COUNT) == 0:
        return
    if mode in (TAGGED, NUMBERED, BLOCKED):
        if mode == TAGGED:
            find_rows(r, columns, m, keys, found)
        else:
            seek_numbers(r, columns, m, keys, found)
        for i in range(m):
            st64(found + i * 8, int(ld64(found + i * 8) >= 0))
        return
    k = fits_columns(columns, arity, ld64(r + R_PACK), m, keys, chosen)
    if mode == PACKED:
        for j in range(k):
            prefetch(table + lshr(mix(ld64(keys + j * 8)), shift) * 8)
        for j in range(k):
            key = ld64(keys + j * 8)
            s = lshr(mix(key), shift)
            e = ld64(table + s * 8)
            while e != 0:
                if e == key | TOP:
                    st64(found + ld64(chosen + j * 8) * 8, 1)
                    break
                s = (s + 1) & mask
                e = ld64(table + s * 8)
    else:
        for j in range(k):
            prefetch(table + lshr(mix(lshr(ld64(keys + j * 8), 6)), shift) * 16)
        for j in range(k):
            key = ld64(keys + j * 8)
            block = lshr(key, 6)
            s = lshr(mix(block), shift)
            e = ld64(table + s * 16)
            while e != 0:
                if e == block | TOP:
                    st64(found + ld64(chosen + j * 8) * 8, lshr(ld64(table + s * 16 + 8), key & 63) & 1)
                    break
                s = (s + 1) & mask
                e = ld64(table + s * 16)
