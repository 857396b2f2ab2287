"""Indexes: for each key, the entries (other columns) of its rows, contiguous and in row order.

The key table is open addressing; a slot is (key, offset, length, capacity, previous length, stamp). A key is packed
like an identity (see `identity`), or (hash tag, a row that has it) when it does not fit. When the packed keys are few
enough the hash is the key itself (multiplier 1): a plain array. What is always true: entries are appended in row
order, so that a view is a prefix or a suffix of a segment; `previous` is the length before the rows of iteration
`stamp`. A first build counts, then fills exactly (CSR); later appends double a full segment and recycle the old one.
Cost: two cache misses per appended row, prefetched; one for the slot and one per segment in a lookup.
"""

from __future__ import annotations

from tidelog.store.blocks import IndexBlock, IndexSlot, PackedColumn, Words, size
from tidelog.store.codes import DONE, GOLDEN, GROW_ARENA, GROW_KEYS, MISFIT_KEY, PACKED, ROW, TOP
from tidelog.store.kernels.access import address
from tidelog.store.kernels.first_build import count_direct, fill_first, is_direct, lay_out
from tidelog.store.kernels.identity import mix
from tidelog.store.kernels.raw import inlined, kernel, ldw, lshr, prefetch, stw

BLOCK = 256  # rows hashed before they are looked up
SLOT_BYTES = size(IndexSlot)


@inlined
def spread(key: int, multiplier: int, shift: int) -> int:
    """The slot of a key; multiplier 1 means the key itself."""
    if multiplier == 1:
        return key
    return lshr(mix(key), shift)


@inlined
def same_key(rows: int, stride: int, wide: int, a: int, b: int, nkey: int, keys: Words) -> bool:
    for j in range(nkey):
        at = keys[j] << (2 + wide)
        if ldw(rows + a * stride + at, wide) != ldw(rows + b * stride + at, wide):
            return False
    return True


@kernel
def locate_rows(x: IndexBlock, first: int, m: int, slots: Words) -> int:
    """Addresses of the key slots of m rows (made when absent) into `slots`; a status. Rows go by `order` if set."""
    r = x.relation
    wide, rows = r.wide, r.rows
    stride = r.stride << (2 + wide)
    nkey, keys, pack, mode = x.nkey, x.keys, x.pack, x.mode
    table, bits = x.table, x.bits
    multiplier, shift, mask = x.multiplier, x.shift, (1 << bits) - 1
    used, order = x.used, x.order
    if used + m > x.limit and multiplier != 1:
        return GROW_KEYS
    bad = 0
    for i in range(m):
        row = first + i
        if order:
            row = order[row]
        at = rows + row * stride
        key = 0
        if mode == PACKED:
            for j in range(nkey):
                v = ldw(at + (keys[j] << (2 + wide)), wide) - pack[j].low
                bad |= lshr(v, pack[j].bits)
                key |= v << pack[j].shift
        else:
            for j in range(nkey):
                key = (key ^ ldw(at + (keys[j] << (2 + wide)), wide)) * GOLDEN
                key ^= lshr(key, 29)
            key = key * GOLDEN
        slots[i] = key
    if bad:
        return MISFIT_KEY
    if mode == PACKED:
        for i in range(m):
            prefetch(table[spread(slots[i], multiplier, shift)])
        for i in range(m):
            key = slots[i]
            s = spread(key, multiplier, shift)
            while True:
                e = table[s].key
                if e == key | TOP:
                    break
                if e == 0:
                    table[s].key = key | TOP
                    used += 1
                    break
                s = (s + 1) & mask
            slots[i] = address(table[s])
    else:
        for i in range(m):
            prefetch(table[lshr(slots[i], shift)])
        for i in range(m):
            h = slots[i]
            tag = ((h & 0x7FFFFFFF) << 32) | TOP
            s = lshr(h, shift)
            row = first + i
            if order:
                row = order[row]
            while True:
                e = table[s].key
                if e == 0:
                    table[s].key = tag | row
                    used += 1
                    break
                if lshr(e ^ tag, 32) == 0 and same_key(rows, stride, wide, e & 0xFFFFFFFF, row, nkey, keys):
                    break
                s = (s + 1) & mask
            slots[i] = address(table[s])
    x.used = used
    return DONE


@inlined
def size_class(capacity: int) -> int:
    k = 0
    while (1 << k) < capacity:
        k += 1
    return k


@kernel
def enlarge(x: IndexBlock, slot: IndexSlot, wide: int) -> int:
    """Give a full segment room for more; a status (GROW_ARENA with as many words as it needs)."""
    nvalue, length, old = x.nvalue, slot.length, slot.offset
    k = size_class(length + (length >> 1) + 1)
    arena = x.arena
    head = x.free[k]
    if head > 0:
        at = head - 1
        x.free[k] = ldw(arena + (at << (2 + wide)), wide)
    else:
        at = x.arena_used
        if at + (nvalue << k) > x.arena_capacity:
            x.need = nvalue << k
            return GROW_ARENA
        x.arena_used = at + (nvalue << k)
    for w in range(length * nvalue):
        stw(arena + ((at + w) << (2 + wide)), ldw(arena + ((old + w) << (2 + wide)), wide), wide)
    capacity = slot.capacity
    if capacity > 0 and old < 0x7FFFFFFE:
        k = size_class(capacity)
        if (1 << k) > capacity:
            k -= 1
        stw(arena + (old << (2 + wide)), x.free[k], wide)
        x.free[k] = old + 1
    slot.offset = at
    slot.capacity = 1 << size_class(length + (length >> 1) + 1)
    return DONE


@kernel
def append_range(x: IndexBlock, stop: int, stamp: int, scratch: Words) -> int:
    """Append rows [upto, stop) as those of iteration `stamp`; a status."""
    r = x.relation
    wide, rows, order = r.wide, r.rows, x.order
    stride = r.stride << (2 + wide)
    nvalue, values = x.nvalue, x.values
    upto = x.upto
    while upto < stop:
        m = min(stop - upto, BLOCK)
        status = locate_rows(x, upto, m, scratch)
        if status != DONE:
            return status
        arena = x.arena
        if nvalue:
            for i in range(m):
                slot = IndexSlot(scratch[i])
                prefetch(arena + ((slot.offset + slot.length * nvalue) << (2 + wide)))
        for i in range(m):
            slot = IndexSlot(scratch[i])
            length = slot.length
            if nvalue:
                if length == slot.capacity:
                    status = enlarge(x, slot, wide)
                    if status != DONE:
                        x.upto = upto + i
                        return status
                row = upto + i
                if order:
                    row = order[row]
                entry = arena + ((slot.offset + length * nvalue) << (2 + wide))
                for j in range(nvalue):
                    c = values[j]
                    v = row
                    if c != ROW:
                        v = ldw(rows + row * stride + (c << (2 + wide)), wide)
                    stw(entry + (j << (2 + wide)), v, wide)
            if slot.stamp != stamp:
                slot.stamp = stamp
                slot.previous = length
            slot.length = length + 1
        upto += m
        x.upto = upto
    return DONE


@kernel
def count_rows(x: IndexBlock, stop: int, scratch: Words) -> int:
    """First build: count the entries of every key in its capacity, and note the slots of the rows; a status."""
    counted, table, slots = x.counted, x.table, x.slots
    while counted < stop:
        m = min(stop - counted, BLOCK)
        status = locate_rows(x, counted, m, scratch)
        if status != DONE:
            return status
        for i in range(m):
            IndexSlot(scratch[i]).capacity += 1
            if slots:
                slots[counted + i] = (scratch[i] - address(table)) // SLOT_BYTES
        counted += m
        x.counted = counted
    return DONE


@kernel
def update_index(x: IndexBlock, scratch: Words) -> int:
    """Bring an index up to its relation's delta_stop; a status. Scratch: BLOCK words."""
    r = x.relation
    start, stop, tick = r.delta_start, r.delta_stop, r.tick
    upto = x.upto
    if upto >= stop:
        return DONE
    if upto == 0 and x.arena_used == 0 and x.nvalue and stop > 16:
        status = count_direct(x, stop) if is_direct(x) else count_rows(x, stop, scratch)
        if status == DONE:
            status = lay_out(x, stop)
        if status != DONE:
            return status
        if is_direct(x) or x.slots:
            upto = start if start > 0 else stop
            fill_first(x, upto, tick - 1 if start > 0 else tick)
    if upto < start:
        status = append_range(x, start, tick - 1, scratch)
        if status != DONE:
            return status
    return append_range(x, stop, tick, scratch)


@kernel
def rehash_index(old: IndexSlot, old_bits: int, old_pack: PackedColumn, x: IndexBlock) -> None:
    """Move every slot of an old key table into the present one, whose keys may be packed otherwise."""
    table, bits, mode = x.table, x.bits, x.mode
    multiplier, shift, mask, pack = x.multiplier, x.shift, (1 << bits) - 1, x.pack
    r = x.relation
    wide, rows = r.wide, r.rows
    stride = r.stride << (2 + wide)
    nkey, keys = x.nkey, x.keys
    for i in range(1 << old_bits):
        slot = old[i]
        e = slot.key
        if e != 0:
            key = 0
            if mode == PACKED:
                for j in range(nkey):
                    v = lshr(e & ~TOP, old_pack[j].shift) & ((1 << old_pack[j].bits) - 1)
                    v += old_pack[j].low - pack[j].low
                    key |= v << pack[j].shift
                s = spread(key, multiplier, shift)
                e = key | TOP
            else:
                at = rows + (e & 0xFFFFFFFF) * stride
                for j in range(nkey):
                    key = (key ^ ldw(at + (keys[j] << (2 + wide)), wide)) * GOLDEN
                    key ^= lshr(key, 29)
                s = lshr(key * GOLDEN, shift)
            while table[s].key != 0:
                s = (s + 1) & mask
            moved = table[s]
            moved.key, moved.offset, moved.length = e, slot.offset, slot.length
            moved.capacity, moved.previous, moved.stamp = slot.capacity, slot.previous, slot.stamp
