"""Looking keys up in an index: the segments of a chunk of keys, cut to a view.

All slots of a chunk are hashed and prefetched before the first is read, and so are the segments. What is always true:
the length of a key that is not there is 0. Cost: two cache misses per key, overlapping those of the other keys.
"""

from __future__ import annotations

from tidelog.store.kernels.identity import hash_columns
from tidelog.store.kernels.membership import fits_columns
from tidelog.store.kernels.raw import inlined, kernel, ld32, ld64, ldw, lshr, prefetch, st64
from tidelog.store.kernels.segments import spread
from tidelog.store.layout import (
    DELTA,
    OLD,
    PACKED,
    R_DELTA_START,
    R_ROWS,
    R_STRIDE,
    R_TICK,
    R_WIDE,
    S_BYTES,
    S_LENGTH,
    S_OFFSET,
    S_PREVIOUS,
    S_STAMP,
    TOP,
    X_ARENA,
    X_BITS,
    X_KEYS,
    X_MODE,
    X_MULTIPLIER,
    X_NKEY,
    X_NVALUE,
    X_PACK,
    X_RELATION,
    X_SHIFT,
    X_TABLE,
)


@inlined
def cut(slot: int, view: int, nvalue: int, tick: int, from_start: bool, offset_at: int, length_at: int) -> int:
    """Write the part of a segment that a view sees; gives the offset of its first entry, or -1 if there is none."""
    offset, length = ld64(slot + S_OFFSET), ld32(slot + S_LENGTH)
    if view in (OLD, DELTA):
        previous = 0 if from_start else length
        if not from_start and ld32(slot + S_STAMP) == tick:
            previous = ld32(slot + S_PREVIOUS)
        if view == OLD:
            length = previous
        else:
            offset += previous * nvalue
            length -= previous
    st64(offset_at, offset)
    st64(length_at, length)
    return offset if length > 0 else -1


@inlined
def seek(table: int, key: int, multiplier: int, shift: int, mask: int) -> int:
    """The slot of a packed key, or 0."""
    s = spread(key, multiplier, shift)
    while True:
        slot = table + s * S_BYTES
        e = ld64(slot)
        if e == key | TOP:
            return slot
        if e == 0:
            return 0
        s = (s + 1) & mask


@kernel
def find_by_column(x: int, view: int, column: int, m: int, keys: int, offsets: int, lengths: int) -> None:
    """find_segments for a packed key of one column, the usual case."""
    r, pack, table, bits = ld64(x + X_RELATION), ld64(x + X_PACK), ld64(x + X_TABLE), ld64(x + X_BITS)
    multiplier, shift, mask = ld64(x + X_MULTIPLIER), ld64(x + X_SHIFT), (1 << bits) - 1
    nvalue, tick, from_start = ld64(x + X_NVALUE), ld64(r + R_TICK), ld64(r + R_DELTA_START) == 0
    wide, arena, low, width = ld64(r + R_WIDE), ld64(x + X_ARENA), ld64(pack), ld64(pack + 8)
    for i in range(m):
        key = ld64(column + i * 8) - low
        if lshr(key, width) != 0:
            key = -1
        else:
            prefetch(table + spread(key, multiplier, shift) * S_BYTES)
        st64(keys + i * 8, key)
    for i in range(m):
        key = ld64(keys + i * 8)
        slot = 0
        if key >= 0:
            slot = seek(table, key, multiplier, shift, mask)
        if slot == 0:
            st64(lengths + i * 8, 0)
        else:
            offset = cut(slot, view, nvalue, tick, from_start, offsets + i * 8, lengths + i * 8)
            if offset >= 0:
                prefetch(arena + (offset << (2 + wide)))


@kernel
def find_segments(x: int, view: int, columns: int, m: int, keys: int, chosen: int, offsets: int, lengths: int) -> None:
    """offsets[i], lengths[i] := the segment (in words, in entries) that key i has in a view; keys, chosen: scratch."""
    mode, nkey = ld64(x + X_MODE), ld64(x + X_NKEY)
    if mode == PACKED and nkey == 1:
        find_by_column(x, view, ld64(columns), m, keys, offsets, lengths)
        return
    r, table, bits = ld64(x + X_RELATION), ld64(x + X_TABLE), ld64(x + X_BITS)
    multiplier, shift, mask = ld64(x + X_MULTIPLIER), ld64(x + X_SHIFT), (1 << bits) - 1
    nvalue, tick, from_start = ld64(x + X_NVALUE), ld64(r + R_TICK), ld64(r + R_DELTA_START) == 0
    wide, arena = ld64(r + R_WIDE), ld64(x + X_ARENA)
    k = m
    if mode == PACKED:
        k = fits_columns(columns, nkey, ld64(x + X_PACK), m, keys, chosen)
        if k < m:
            for i in range(m):
                st64(lengths + i * 8, 0)
        for j in range(k):
            prefetch(table + spread(ld64(keys + j * 8), multiplier, shift) * S_BYTES)
    else:
        hash_columns(columns, nkey, m, keys)
        for j in range(k):
            st64(chosen + j * 8, j)
            prefetch(table + lshr(ld64(keys + j * 8), shift) * S_BYTES)
    for j in range(k):
        key, i = ld64(keys + j * 8), ld64(chosen + j * 8)
        if mode == PACKED:
            slot = seek(table, key, multiplier, shift, mask)
        else:
            slot = seek_tagged(x, key, columns, i)
        if slot == 0:
            st64(lengths + i * 8, 0)
        else:
            offset = cut(slot, view, nvalue, tick, from_start, offsets + i * 8, lengths + i * 8)
            if offset >= 0:
                prefetch(arena + (offset << (2 + wide)))


@kernel
def seek_tagged(x: int, key: int, columns: int, i: int) -> int:
    """The slot whose representative row has the key of binding i, or 0; `key` is its hash."""
    r, table, bits = ld64(x + X_RELATION), ld64(x + X_TABLE), ld64(x + X_BITS)
    wide, rows, nkey, keys = ld64(r + R_WIDE), ld64(r + R_ROWS), ld64(x + X_NKEY), ld64(x + X_KEYS)
    stride, mask = ld64(r + R_STRIDE) << (2 + wide), (1 << bits) - 1
    tag = ((key & 0x7FFFFFFF) << 32) | TOP
    s = lshr(key, ld64(x + X_SHIFT))
    while True:
        slot = table + s * S_BYTES
        e = ld64(slot)
        if e == 0:
            return 0
        if lshr(e ^ tag, 32) == 0:
            address = rows + (e & 0xFFFFFFFF) * stride
            found = True
            for c in range(nkey):
                if ldw(address + (ld64(keys + c * 8) << (2 + wide)), wide) != ld64(ld64(columns + c * 8) + i * 8):
                    found = False
                    break
            if found:
                return slot
        s = (s + 1) & mask
