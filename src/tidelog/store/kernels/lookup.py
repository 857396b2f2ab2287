"""Looking keys up in an index: the segments of a chunk of keys, cut to a view.

All slots of a chunk are hashed and prefetched before the first is read, and so are the segments. What is always true:
the length of a key that is not there is 0. Cost: two cache misses per key, overlapping those of the other keys.
"""

from __future__ import annotations

from tidelog.store.blocks import Columns, IndexBlock, IndexSlot, Words
from tidelog.store.codes import DELTA, OLD, PACKED, TOP
from tidelog.store.kernels.identity import hash_columns
from tidelog.store.kernels.membership import fits_columns
from tidelog.store.kernels.raw import inlined, kernel, ldw, lshr, prefetch
from tidelog.store.kernels.segments import spread


@inlined
def cut(
    slot: IndexSlot, view: int, nvalue: int, tick: int, from_start: bool, offsets: Words, lengths: Words, i: int
) -> int:
    """Write the part of a segment that a view sees; gives the offset of its first entry, or -1 if there is none."""
    offset, length = slot.offset, slot.length
    if view in (OLD, DELTA):
        previous = 0 if from_start else length
        if not from_start and slot.stamp == tick:
            previous = slot.previous
        if view == OLD:
            length = previous
        else:
            offset += previous * nvalue
            length -= previous
    offsets[i], lengths[i] = offset, length
    return offset if length > 0 else -1


@inlined
def seek(table: IndexSlot, key: int, multiplier: int, shift: int, mask: int) -> IndexSlot:
    """The slot of a packed key, or none."""
    s = spread(key, multiplier, shift)
    while True:
        slot = table[s]
        e = slot.key
        if e == key | TOP:
            return slot
        if e == 0:
            return IndexSlot(0)
        s = (s + 1) & mask


@kernel
def find_by_column(
    x: IndexBlock, view: int, column: Words, m: int, keys: Words, offsets: Words, lengths: Words
) -> None:
    """find_segments for a packed key of one column, the usual case."""
    r, table, bits = x.relation, x.table, x.bits
    multiplier, shift, mask = x.multiplier, x.shift, (1 << bits) - 1
    nvalue, tick, from_start = x.nvalue, r.tick, r.delta_start == 0
    wide, arena, low, width = r.wide, x.arena, x.pack.low, x.pack.bits
    for i in range(m):
        key = column[i] - low
        if lshr(key, width) != 0:
            key = -1
        else:
            prefetch(table[spread(key, multiplier, shift)])
        keys[i] = key
    for i in range(m):
        key = keys[i]
        slot = IndexSlot(0)
        if key >= 0:
            slot = seek(table, key, multiplier, shift, mask)
        if not slot:
            lengths[i] = 0
        else:
            offset = cut(slot, view, nvalue, tick, from_start, offsets, lengths, i)
            if offset >= 0:
                prefetch(arena + (offset << (2 + wide)))


@kernel
def find_segments(
    x: IndexBlock, view: int, columns: Columns, m: int, keys: Words, chosen: Words, offsets: Words, lengths: Words
) -> None:
    """offsets[i], lengths[i] := the segment (in words, in entries) that key i has in a view; keys, chosen: scratch."""
    mode, nkey = x.mode, x.nkey
    if mode == PACKED and nkey == 1:
        find_by_column(x, view, columns[0], m, keys, offsets, lengths)
        return
    r, table, bits = x.relation, x.table, x.bits
    multiplier, shift, mask = x.multiplier, x.shift, (1 << bits) - 1
    nvalue, tick, from_start = x.nvalue, r.tick, r.delta_start == 0
    wide, arena = r.wide, x.arena
    k = m
    if mode == PACKED:
        k = fits_columns(columns, nkey, x.pack, m, keys, chosen)
        if k < m:
            for i in range(m):
                lengths[i] = 0
        for j in range(k):
            prefetch(table[spread(keys[j], multiplier, shift)])
    else:
        hash_columns(columns, nkey, m, keys)
        for j in range(k):
            chosen[j] = j
            prefetch(table[lshr(keys[j], shift)])
    for j in range(k):
        key, i = keys[j], chosen[j]
        if mode == PACKED:
            slot = seek(table, key, multiplier, shift, mask)
        else:
            slot = seek_tagged(x, key, columns, i)
        if not slot:
            lengths[i] = 0
        else:
            offset = cut(slot, view, nvalue, tick, from_start, offsets, lengths, i)
            if offset >= 0:
                prefetch(arena + (offset << (2 + wide)))


@kernel
def seek_tagged(x: IndexBlock, key: int, columns: Columns, i: int) -> IndexSlot:
    """The slot whose representative row has the key of binding i, or none; `key` is its hash."""
    r, table, bits = x.relation, x.table, x.bits
    wide, rows, nkey, keys = r.wide, r.rows, x.nkey, x.keys
    stride, mask = r.stride << (2 + wide), (1 << bits) - 1
    tag = ((key & 0x7FFFFFFF) << 32) | TOP
    s = lshr(key, x.shift)
    while True:
        slot = table[s]
        e = slot.key
        if e == 0:
            return IndexSlot(0)
        if lshr(e ^ tag, 32) == 0:
            address = rows + (e & 0xFFFFFFFF) * stride
            found = True
            for c in range(nkey):
                if ldw(address + (keys[c] << (2 + wide)), wide) != columns[c][i]:
                    found = False
                    break
            if found:
                return slot
        s = (s + 1) & mask
