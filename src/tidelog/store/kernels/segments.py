"""Indexes: for each key, the entries (other columns) of its rows, contiguous and in row order.

The key table is open addressing; a slot is (key, offset, length, capacity, previous length, stamp). A key is packed
like an identity (see `identity`), or (hash tag, a row that has it) when it does not fit. When the packed keys are few
enough the hash is the key itself (multiplier 1): a plain array. What is always true: entries are appended in row
order, so that a view is a prefix or a suffix of a segment; `previous` is the length before the rows of iteration
`stamp`. A first build counts, then fills exactly (CSR); later appends double a full segment and recycle the old one.
Cost: two cache misses per appended row, prefetched; one for the slot and one per segment in a lookup.
"""

from __future__ import annotations

from tidelog.store.kernels.first_build import count_direct, fill_first, is_direct, lay_out
from tidelog.store.kernels.identity import mix
from tidelog.store.kernels.raw import inlined, kernel, ld32, ld64, ldw, lshr, prefetch, st32, st64, stw
from tidelog.store.layout import (
    DONE,
    GOLDEN,
    GROW_ARENA,
    GROW_KEYS,
    MISFIT_KEY,
    PACKED,
    R_DELTA_START,
    R_DELTA_STOP,
    R_ROWS,
    R_STRIDE,
    R_TICK,
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
    X_FREE,
    X_KEYS,
    X_LIMIT,
    X_MODE,
    X_MULTIPLIER,
    X_NEED,
    X_NKEY,
    X_NVALUE,
    X_ORDER,
    X_PACK,
    X_RELATION,
    X_SHIFT,
    X_SLOTS,
    X_TABLE,
    X_UPTO,
    X_USED,
    X_VALUES,
)

BLOCK = 256  # rows hashed before they are looked up


@inlined
def spread(key: int, multiplier: int, shift: int) -> int:
    """The slot of a key; multiplier 1 means the key itself."""
    if multiplier == 1:
        return key
    return lshr(mix(key), shift)


@inlined
def same_key(rows: int, stride: int, wide: int, a: int, b: int, nkey: int, keys: int) -> bool:
    for j in range(nkey):
        at = ld64(keys + j * 8) << (2 + wide)
        if ldw(rows + a * stride + at, wide) != ldw(rows + b * stride + at, wide):
            return False
    return True


@kernel
def locate_rows(x: int, first: int, m: int, slots: int) -> int:
    """Addresses of the key slots of m rows (made when absent) into `slots`; a status. Rows go by X_ORDER if set."""
    r = ld64(x + X_RELATION)
    wide, rows = ld64(r + R_WIDE), ld64(r + R_ROWS)
    stride = ld64(r + R_STRIDE) << (2 + wide)
    nkey, keys, pack, mode = ld64(x + X_NKEY), ld64(x + X_KEYS), ld64(x + X_PACK), ld64(x + X_MODE)
    table, bits = ld64(x + X_TABLE), ld64(x + X_BITS)
    multiplier, shift, mask = ld64(x + X_MULTIPLIER), ld64(x + X_SHIFT), (1 << bits) - 1
    used, order = ld64(x + X_USED), ld64(x + X_ORDER)
    if used + m > ld64(x + X_LIMIT) and multiplier != 1:
        return GROW_KEYS
    bad = 0
    for i in range(m):
        row = first + i
        if order:
            row = ld64(order + row * 8)
        address = rows + row * stride
        key = 0
        if mode == PACKED:
            for j in range(nkey):
                v = ldw(address + (ld64(keys + j * 8) << (2 + wide)), wide) - ld64(pack + j * 24)
                bad |= lshr(v, ld64(pack + j * 24 + 8))
                key |= v << ld64(pack + j * 24 + 16)
        else:
            for j in range(nkey):
                key = (key ^ ldw(address + (ld64(keys + j * 8) << (2 + wide)), wide)) * GOLDEN
                key ^= lshr(key, 29)
            key = key * GOLDEN
        st64(slots + i * 8, key)
    if bad:
        return MISFIT_KEY
    if mode == PACKED:
        for i in range(m):
            prefetch(table + spread(ld64(slots + i * 8), multiplier, shift) * S_BYTES)
        for i in range(m):
            key = ld64(slots + i * 8)
            s = spread(key, multiplier, shift)
            while True:
                e = ld64(table + s * S_BYTES)
                if e == key | TOP:
                    break
                if e == 0:
                    st64(table + s * S_BYTES, key | TOP)
                    used += 1
                    break
                s = (s + 1) & mask
            st64(slots + i * 8, table + s * S_BYTES)
    else:
        for i in range(m):
            prefetch(table + lshr(ld64(slots + i * 8), shift) * S_BYTES)
        for i in range(m):
            h = ld64(slots + i * 8)
            tag = ((h & 0x7FFFFFFF) << 32) | TOP
            s = lshr(h, shift)
            row = first + i
            if order:
                row = ld64(order + row * 8)
            while True:
                e = ld64(table + s * S_BYTES)
                if e == 0:
                    st64(table + s * S_BYTES, tag | row)
                    used += 1
                    break
                if lshr(e ^ tag, 32) == 0 and same_key(rows, stride, wide, e & 0xFFFFFFFF, row, nkey, keys):
                    break
                s = (s + 1) & mask
            st64(slots + i * 8, table + s * S_BYTES)
    st64(x + X_USED, used)
    return DONE


@inlined
def size_class(capacity: int) -> int:
    k = 0
    while (1 << k) < capacity:
        k += 1
    return k


@kernel
def enlarge(x: int, slot: int, wide: int) -> int:
    """Give a full segment room for more; a status (GROW_ARENA with X_NEED words)."""
    nvalue, length, old = ld64(x + X_NVALUE), ld32(slot + S_LENGTH), ld64(slot + S_OFFSET)
    k = size_class(length + (length >> 1) + 1)
    arena = ld64(x + X_ARENA)
    head = ld64(x + X_FREE + k * 8)
    if head > 0:
        at = head - 1
        st64(x + X_FREE + k * 8, ldw(arena + (at << (2 + wide)), wide))
    else:
        at = ld64(x + X_ARENA_USED)
        if at + (nvalue << k) > ld64(x + X_ARENA_CAPACITY):
            st64(x + X_NEED, nvalue << k)
            return GROW_ARENA
        st64(x + X_ARENA_USED, at + (nvalue << k))
    for w in range(length * nvalue):
        stw(arena + ((at + w) << (2 + wide)), ldw(arena + ((old + w) << (2 + wide)), wide), wide)
    capacity = ld32(slot + S_CAPACITY)
    if capacity > 0 and old < 0x7FFFFFFE:
        k = size_class(capacity)
        if (1 << k) > capacity:
            k -= 1
        stw(arena + (old << (2 + wide)), ld64(x + X_FREE + k * 8), wide)
        st64(x + X_FREE + k * 8, old + 1)
    st64(slot + S_OFFSET, at)
    st32(slot + S_CAPACITY, 1 << size_class(length + (length >> 1) + 1))
    return DONE


@kernel
def append_range(x: int, stop: int, stamp: int, scratch: int) -> int:
    """Append rows [X_UPTO, stop) as those of iteration `stamp`; a status."""
    r = ld64(x + X_RELATION)
    wide, rows, order = ld64(r + R_WIDE), ld64(r + R_ROWS), ld64(x + X_ORDER)
    stride = ld64(r + R_STRIDE) << (2 + wide)
    nvalue, values = ld64(x + X_NVALUE), ld64(x + X_VALUES)
    upto = ld64(x + X_UPTO)
    while upto < stop:
        m = min(stop - upto, BLOCK)
        status = locate_rows(x, upto, m, scratch)
        if status != DONE:
            return status
        arena = ld64(x + X_ARENA)
        if nvalue:
            for i in range(m):
                slot = ld64(scratch + i * 8)
                prefetch(arena + ((ld64(slot + S_OFFSET) + ld32(slot + S_LENGTH) * nvalue) << (2 + wide)))
        for i in range(m):
            slot = ld64(scratch + i * 8)
            length = ld32(slot + S_LENGTH)
            if nvalue:
                if length == ld32(slot + S_CAPACITY):
                    status = enlarge(x, slot, wide)
                    if status != DONE:
                        st64(x + X_UPTO, upto + i)
                        return status
                row = upto + i
                if order:
                    row = ld64(order + row * 8)
                entry = arena + ((ld64(slot + S_OFFSET) + length * nvalue) << (2 + wide))
                for j in range(nvalue):
                    c = ld64(values + j * 8)
                    v = row
                    if c != ROW:
                        v = ldw(rows + row * stride + (c << (2 + wide)), wide)
                    stw(entry + (j << (2 + wide)), v, wide)
            if ld32(slot + S_STAMP) != stamp:
                st32(slot + S_STAMP, stamp)
                st32(slot + S_PREVIOUS, length)
            st32(slot + S_LENGTH, length + 1)
        upto += m
        st64(x + X_UPTO, upto)
    return DONE


@kernel
def count_rows(x: int, stop: int, scratch: int) -> int:
    """First build: count the entries of every key in its capacity, and note the slots of the rows; a status."""
    counted, table, slots = ld64(x + X_COUNTED), ld64(x + X_TABLE), ld64(x + X_SLOTS)
    while counted < stop:
        m = min(stop - counted, BLOCK)
        status = locate_rows(x, counted, m, scratch)
        if status != DONE:
            return status
        for i in range(m):
            slot = ld64(scratch + i * 8)
            st32(slot + S_CAPACITY, ld32(slot + S_CAPACITY) + 1)
            if slots:
                st32(slots + (counted + i) * 4, lshr(slot - table, 5))
        counted += m
        st64(x + X_COUNTED, counted)
    return DONE


@kernel
def update_index(x: int, scratch: int) -> int:
    """Bring an index up to its relation's delta_stop; a status. Scratch: BLOCK words."""
    r = ld64(x + X_RELATION)
    start, stop, tick = ld64(r + R_DELTA_START), ld64(r + R_DELTA_STOP), ld64(r + R_TICK)
    upto = ld64(x + X_UPTO)
    if upto >= stop:
        return DONE
    if upto == 0 and ld64(x + X_ARENA_USED) == 0 and ld64(x + X_NVALUE) and stop > 16:
        status = count_direct(x, stop) if is_direct(x) else count_rows(x, stop, scratch)
        if status == DONE:
            status = lay_out(x, stop)
        if status != DONE:
            return status
        if is_direct(x) or ld64(x + X_SLOTS):
            upto = start if start > 0 else stop
            fill_first(x, upto, tick - 1 if start > 0 else tick)
    if upto < start:
        status = append_range(x, start, tick - 1, scratch)
        if status != DONE:
            return status
    return append_range(x, stop, tick, scratch)


@kernel
def rehash_index(old: int, old_bits: int, old_pack: int, x: int) -> None:
    """Move every slot of an old key table into the present one, whose keys may be packed otherwise."""
    table, bits, mode = ld64(x + X_TABLE), ld64(x + X_BITS), ld64(x + X_MODE)
    multiplier, shift, mask, pack = ld64(x + X_MULTIPLIER), ld64(x + X_SHIFT), (1 << bits) - 1, ld64(x + X_PACK)
    r = ld64(x + X_RELATION)
    wide, rows = ld64(r + R_WIDE), ld64(r + R_ROWS)
    stride = ld64(r + R_STRIDE) << (2 + wide)
    nkey, keys = ld64(x + X_NKEY), ld64(x + X_KEYS)
    for i in range(1 << old_bits):
        slot = old + i * S_BYTES
        e = ld64(slot)
        if e != 0:
            key = 0
            if mode == PACKED:
                for j in range(nkey):
                    v = lshr(e & ~TOP, ld64(old_pack + j * 24 + 16)) & ((1 << ld64(old_pack + j * 24 + 8)) - 1)
                    v += ld64(old_pack + j * 24) - ld64(pack + j * 24)
                    key |= v << ld64(pack + j * 24 + 16)
                s = spread(key, multiplier, shift)
                e = key | TOP
            else:
                address = rows + (e & 0xFFFFFFFF) * stride
                for j in range(nkey):
                    key = (key ^ ldw(address + (ld64(keys + j * 8) << (2 + wide)), wide)) * GOLDEN
                    key ^= lshr(key, 29)
                s = lshr(key * GOLDEN, shift)
            while ld64(table + s * S_BYTES) != 0:
                s = (s + 1) & mask
            st64(table + s * S_BYTES, e)
            for w in range(1, 4):
                st64(table + s * S_BYTES + w * 8, ld64(slot + w * 8))
