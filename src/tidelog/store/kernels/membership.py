"""Membership: which tuples of a chunk does a relation know?

Cost: like an insertion that inserts nothing. Other threads may be inserting: a tuple that they add meanwhile may or
may not be seen.
"""

from __future__ import annotations

from tidelog.store.blocks import BitmapSlot, Columns, Halves, PackedColumn, RelationBlock, RowsSlot, Words
from tidelog.store.codes import (
    AFTER,
    ALL,
    BEFORE,
    BLOCKED,
    BOTH,
    EITHER,
    NEVER,
    NUMBERED,
    OLD,
    PACKED,
    TAGGED,
    TOP,
)
from tidelog.store.kernels.identity import hash_columns, mix, pack_columns, row_equals
from tidelog.store.kernels.raw import inlined, kernel, lshr, prefetch


@kernel
def fits_columns(columns: Columns, arity: int, pack: PackedColumn, m: int, keys: Words, chosen: Words) -> int:
    """Like pack_columns, for a lookup: lists in `chosen` which tuples fit at all, and gives their number."""
    bad = pack_columns(columns, arity, pack, m, keys)
    if bad == 0:
        for i in range(m):
            chosen[i] = i
        return m
    k = 0
    for i in range(m):
        bad = 0
        for c in range(arity):
            bad |= lshr(columns[c][i] - pack[c].low, pack[c].bits)
        if bad == 0:
            chosen[k] = i
            keys[k] = keys[i]
            k += 1
    return k


@kernel
def seek_numbers(r: RelationBlock, columns: Columns, m: int, keys: Words, found: Words) -> None:
    """found[i] := where the row number of tuple i stands, or -1, in a table of packed keys, or of blocks of them."""
    arity, table, bits, pack = r.arity, r.table, r.bits, r.pack
    blocked, lists = r.mode == BLOCKED, r.numbers
    shift, mask = 64 - bits, (1 << bits) - 1
    low = 6 if blocked else 0
    size = 32 if blocked else 16
    for i in range(m):
        key, bad = 0, 0
        for c in range(arity):
            v = columns[c][i] - pack[c].low
            bad |= lshr(v, pack[c].bits)
            key |= v << pack[c].shift
        if bad:
            key = -1
        else:
            prefetch(table + lshr(mix(lshr(key, low)), shift) * size)
        keys[i] = key
    for i in range(m):
        key = keys[i]
        found[i] = -1
        if key >= 0:
            wanted, s = lshr(key, low) | TOP, lshr(mix(lshr(key, low)), shift)
            while True:
                slot = RowsSlot(table + s * size)
                e = slot.key
                if e == wanted:
                    if not blocked:
                        found[i] = table + s * size + 8
                    elif lshr(slot.bits, key & 63) & 1:
                        found[i] = lists + (~slot.list * 64 + (key & 63))
                    break
                if e == 0:
                    break
                s = (s + 1) & mask


@kernel
def find_numbered(r: RelationBlock, columns: Columns, m: int, keys: Words, found: Words) -> None:
    """find_rows in a table of packed keys, or of blocks of them."""
    seek_numbers(r, columns, m, keys, found)
    blocked = r.mode == BLOCKED
    if blocked:
        for i in range(m):
            if found[i] >= 0:
                prefetch(found[i])
    for i in range(m):
        at = found[i]
        if at >= 0:
            found[i] = ~(Halves(at)[0] if blocked else Words(at)[0])  # -1: another thread is making it


@kernel
def find_rows(r: RelationBlock, columns: Columns, m: int, keys: Words, found: Words) -> None:
    """found[i] := the row of tuple i, or -1, where the table leads to rows; `keys` is scratch."""
    if r.mode != TAGGED:
        find_numbered(r, columns, m, keys, found)
        return
    arity, table, bits = r.arity, Words(r.table), r.bits
    shift, mask = 64 - bits, (1 << bits) - 1
    wide, rows = r.wide, r.rows
    stride = r.stride << (2 + wide)
    hash_columns(columns, arity, m, keys)
    for i in range(m):
        prefetch(table + lshr(keys[i], shift))
    for i in range(m):
        h = keys[i]
        tag = ((h & 0x7FFFFFFF) << 32) | TOP
        s = lshr(h, shift)
        e = table[s]
        found[i] = -1
        while e != 0:
            if lshr(e ^ tag, 32) == 0 and row_equals(rows + (e & 0xFFFFFFFF) * stride, wide, columns, arity, i):
                found[i] = e & 0xFFFFFFFF
                break
            s = (s + 1) & mask
            e = table[s]


@inlined
def iteration_now(r: RelationBlock, row: int) -> int:
    """The iteration of a row, or NEVER."""
    return r.now[row]


@inlined
def iteration_before(r: RelationBlock, row: int) -> int:
    """The iteration of a row in the state before the running update, or NEVER."""
    before = r.before[row]
    return iteration_now(r, row) if before == 0 else ~before


@inlined
def level_after(r: RelationBlock, row: int) -> int:
    """What a row contributes to the level of a derivation after the running round of an update."""
    now = iteration_now(r, row)
    return now if r.own or now == NEVER else 0


@inlined
def moved_in_round(r: RelationBlock, row: int) -> bool:
    """Whether a row of a stratum in which only the best counts moved in the running round."""
    return r.ranks[row].stamp == r.update.round


@inlined
def level_just_before(r: RelationBlock, row: int) -> int:
    """What it contributed just before the round: it follows from the row's iterations now and before the update."""
    now, before, k = iteration_now(r, row), iteration_before(r, row), r.update.bucket
    if not r.own:  # of a lower stratum: it moved in round 0, if at all
        there = before if k == 0 else now
        return there if there == NEVER else 0
    if r.ranks:
        return r.ranks[row].was if moved_in_round(r, row) else now
    if now == k and before != k:
        return before if before > k else NEVER  # found in this round
    return k if now == NEVER and before == k else now  # lost in this round, or as it was


@kernel
def visible(r: RelationBlock, row: int, view: int) -> bool:
    """Whether a view has a row of a relation with state."""
    if view == AFTER:
        return iteration_now(r, row) != NEVER
    if view == BEFORE:
        return iteration_before(r, row) != NEVER
    if view >= EITHER:
        before, after = level_just_before(r, row), level_after(r, row)
        if view == EITHER:
            return min(before, after) != NEVER
        if view == BOTH:
            return max(before, after) != NEVER
        if r.own and r.ranks and moved_in_round(r, row):
            return False
        return before == after and after != NEVER
    if view == ALL:
        return row < r.delta_stop
    if view == OLD:
        return row < r.delta_start
    return r.delta_start <= row < r.delta_stop


@kernel
def find_members(r: RelationBlock, columns: Columns, m: int, keys: Words, chosen: Words, found: Words) -> None:
    """found[i] := 1 when tuple i is in the relation, else 0; `keys` and `chosen` are scratch."""
    for i in range(m):
        found[i] = 0
    mode, arity, bits = r.mode, r.arity, r.bits
    shift, mask = 64 - bits, (1 << bits) - 1
    if r.count == 0:
        return
    if mode in (TAGGED, NUMBERED, BLOCKED):
        if mode == TAGGED:
            find_rows(r, columns, m, keys, found)
        else:
            seek_numbers(r, columns, m, keys, found)
        for i in range(m):
            found[i] = int(found[i] >= 0)
        return
    k = fits_columns(columns, arity, r.pack, m, keys, chosen)
    if mode == PACKED:
        table = Words(r.table)
        for j in range(k):
            prefetch(table + lshr(mix(keys[j]), shift))
        for j in range(k):
            key = keys[j]
            s = lshr(mix(key), shift)
            e = table[s]
            while e != 0:
                if e == key | TOP:
                    found[chosen[j]] = 1
                    break
                s = (s + 1) & mask
                e = table[s]
    else:
        maps = BitmapSlot(r.table)
        for j in range(k):
            prefetch(maps[lshr(mix(lshr(keys[j], 6)), shift)])
        for j in range(k):
            key = keys[j]
            block = lshr(key, 6)
            s = lshr(mix(block), shift)
            e = maps[s].key
            while e != 0:
                if e == block | TOP:
                    found[chosen[j]] = lshr(maps[s].bits, key & 63) & 1
                    break
                s = (s + 1) & mask
                e = maps[s].key
