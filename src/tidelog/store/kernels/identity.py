"""Identity: is this tuple known? Insert a chunk of tuples, given as columns, into a relation.

Three tables, all open addressing with linear probing, slot chosen by the high bits of the hash:
- packed: the columns, each less its lower limit, side by side in 63 bits: one cache line per derivation;
- bitmap: the packed key without its six low bits, and a word with one bit for each of the 64 tuples that share it;
- tagged: 31 bits of hash and the row number; equal tags are settled by comparing the row.
- numbered, blocked: like packed and bitmap, and they lead to the row: for relations with state, where an insertion
  counts its derivation if the tuple is one of the running iteration.
What is always true: a slot is zero or has its top bit set; at least one slot is free; every row is in the table once.
A chunk is hashed and its lines prefetched before any is probed. A chunk that does not fit (a value outside the packed
ranges, or of the narrow width; a full table) changes nothing and is reported.
"""

from __future__ import annotations

from tidelog.store.blocks import (
    BitmapSlot,
    Columns,
    Halves,
    NumberedSlot,
    PackedColumn,
    RelationBlock,
    RowsSlot,
    Words,
    offset,
)
from tidelog.store.codes import (
    GOLDEN,
    MOST_DERIVATIONS,
    NEVER,
    TOP,
)
from tidelog.store.kernels.access import address
from tidelog.store.kernels.raw import compare_and_swap, fetch_add, fetch_or, inlined, kernel, ldw, lshr, prefetch, stw

COUNT, USED, LOCK = (offset(RelationBlock, field) for field in ("count", "used", "lock"))
KEY, BITS = (offset(BitmapSlot, field) for field in ("key", "bits"))


@inlined
def mix(key: int) -> int:
    """Hash of a packed key; the high bits are the good ones."""
    h = key * GOLDEN
    return (h ^ lshr(h, 32)) * GOLDEN


@kernel
def pack_columns(columns: Columns, arity: int, pack: PackedColumn, m: int, keys: Words) -> int:
    """Packed keys of m tuples. Nonzero: some misfit."""
    bad = 0
    if arity == 0:
        for i in range(m):
            keys[i] = 0
    for c in range(arity):
        column = columns[c]
        low, bits, shift = pack[c].low, pack[c].bits, pack[c].shift
        if c == 0:
            for i in range(m):
                v = column[i] - low
                bad |= lshr(v, bits)
                keys[i] = v << shift
        else:
            for i in range(m):
                v = column[i] - low
                bad |= lshr(v, bits)
                keys[i] |= v << shift
    return bad


@kernel
def hash_columns(columns: Columns, arity: int, m: int, keys: Words) -> None:
    """Hashes of m tuples of any values."""
    for i in range(m):
        keys[i] = 0
    for c in range(arity):
        column = columns[c]
        for i in range(m):
            h = (keys[i] ^ column[i]) * GOLDEN
            keys[i] = h ^ lshr(h, 29)
    for i in range(m):
        keys[i] = keys[i] * GOLDEN


@kernel
def narrow_enough(columns: Columns, arity: int, m: int) -> bool:
    """Whether every value is a 32-bit one."""
    bad = 0
    for c in range(arity):
        column = columns[c]
        for i in range(m):
            bad |= lshr(column[i] + 0x80000000, 32)
    return bad == 0


@inlined
def row_equals(address: int, wide: int, columns: Columns, arity: int, i: int) -> bool:
    for c in range(arity):  # noqa: SIM110 (numba has no generator expressions)
        if ldw(address + (c << (2 + wide)), wide) != columns[c][i]:
            return False
    return True


@kernel
def append_rows(r: RelationBlock, columns: Columns, chosen: Words, m: int, n: int) -> None:
    """Write the chosen tuples of a chunk as rows n, n + 1, ...; without `chosen`, all."""
    wide, arity = r.wide, r.arity
    stride = r.stride << (2 + wide)
    base = r.rows + n * stride
    for c in range(arity):
        column = columns[c]
        at = base + (c << (2 + wide))
        if not chosen:
            for k in range(m):
                stw(at + k * stride, column[k], wide)
        else:
            for k in range(m):
                stw(at + k * stride, column[chosen[k]], wide)


@kernel
def insert_packed(table: Words, bits: int, keys: Words, m: int, slots: Words, chosen: Words) -> int:
    """Insert m packed keys; lists the new ones in `chosen` and gives their number."""
    shift, mask = 64 - bits, (1 << bits) - 1
    for i in range(m):
        s = lshr(mix(keys[i]), shift)
        slots[i] = s
        prefetch(table + s)
    k = 0
    for i in range(m):
        key = keys[i] | TOP
        s = slots[i]
        while True:
            e = table[s]
            if e == key:
                break
            if e == 0:
                table[s] = key
                chosen[k] = i
                k += 1
                break
            s = (s + 1) & mask
    return k


@kernel
def insert_packed_shared(table: Words, bits: int, keys: Words, m: int, slots: Words, chosen: Words) -> int:
    """insert_packed while other threads do the same."""
    shift, mask = 64 - bits, (1 << bits) - 1
    for i in range(m):
        s = lshr(mix(keys[i]), shift)
        slots[i] = s
        prefetch(table + s)
    k = 0
    for i in range(m):
        key = keys[i] | TOP
        s = slots[i]
        while True:
            e = table[s]
            if e == 0:
                e = compare_and_swap(table + s, 0, key)
                if e == 0:
                    chosen[k] = i
                    k += 1
                    break
            if e == key:
                break
            s = (s + 1) & mask
    return k


@kernel
def insert_bitmap(
    table: BitmapSlot, bits: int, keys: Words, m: int, slots: Words, chosen: Words, r: RelationBlock
) -> int:
    """insert_packed for a table of bitmaps; counts the new ones."""
    shift, mask = 64 - bits, (1 << bits) - 1
    for i in range(m):
        s = lshr(mix(lshr(keys[i], 6)), shift)
        slots[i] = s
        prefetch(table[s])
    k, added = 0, 0
    for i in range(m):
        key = keys[i]
        block, bit = lshr(key, 6) | TOP, 1 << (key & 63)
        s = slots[i]
        while True:
            e = table[s].key
            if e == block:
                break
            if e == 0:
                table[s].key = block
                added += 1
                break
            s = (s + 1) & mask
        word = table[s].bits
        if word & bit == 0:
            table[s].bits = word | bit
            chosen[k] = i
            k += 1
    r.used += added
    return k


@kernel
def insert_bitmap_shared(
    table: BitmapSlot, bits: int, keys: Words, m: int, slots: Words, chosen: Words, r: RelationBlock
) -> int:
    """insert_bitmap while other threads do the same."""
    shift, mask = 64 - bits, (1 << bits) - 1
    for i in range(m):
        s = lshr(mix(lshr(keys[i], 6)), shift)
        slots[i] = s
        prefetch(table[s])
    k, added = 0, 0
    for i in range(m):
        key = keys[i]
        block, bit = lshr(key, 6) | TOP, 1 << (key & 63)
        s = slots[i]
        while True:
            e = table[s].key
            if e == 0:
                e = compare_and_swap(address(table[s]) + KEY, 0, block)
                if e == 0:
                    added += 1
                    break
            if e == block:
                break
            s = (s + 1) & mask
        if table[s].bits & bit == 0 and fetch_or(address(table[s]) + BITS, bit) & bit == 0:
            chosen[k] = i
            k += 1
    fetch_add(address(r) + USED, added)
    return k


@inlined
def count_again(r: RelationBlock, derived: Halves, row: int) -> None:
    """One derivation more in the same iteration, so long as they can be counted; `derived` has one less of each."""
    count = derived[row]
    if count < MOST_DERIVATIONS - 1:
        derived[row] = count + 1
    else:
        r.overflow = 1


@kernel
def insert_tagged(r: RelationBlock, columns: Columns, keys: Words, m: int, chosen: Words, numbers: Words) -> int:
    """Insert m tuples whose hashes are in `keys`, writing the new rows; `numbers` (if not 0) receives row numbers."""
    table, bits = Words(r.table), r.bits
    wide, arity, n = r.wide, r.arity, r.count
    stride = r.stride << (2 + wide)
    rows = r.rows
    shift, mask = 64 - bits, (1 << bits) - 1
    counted, iteration, stop = r.stateful, r.iteration, r.delta_stop
    for i in range(m):
        prefetch(table + lshr(keys[i], shift))
    for i in range(m):
        e = table[lshr(keys[i], shift)]
        prefetch(rows + (e & 0xFFFFFFFF) * stride)
    k = 0
    for i in range(m):
        h = keys[i]
        tag = ((h & 0x7FFFFFFF) << 32) | TOP
        s = lshr(h, shift)
        while True:
            e = table[s]
            if e == 0:
                for c in range(arity):
                    stw(rows + n * stride + (c << (2 + wide)), columns[c][i], wide)
                table[s] = tag | n
                if counted:
                    r.now[n] = iteration
                if numbers:
                    numbers[i] = n
                chosen[k] = i
                n += 1
                k += 1
                break
            if lshr(e ^ tag, 32) == 0:
                q = e & 0xFFFFFFFF
                if row_equals(rows + q * stride, wide, columns, arity, i):
                    if counted and q >= stop and 0 < iteration < NEVER:
                        count_again(r, r.derived, q)
                    if numbers:
                        numbers[i] = q
                    break
            s = (s + 1) & mask
    r.count = n
    return k


@inlined
def write_row(at: int, columns: Columns, i: int, arity: int, wide: int) -> None:
    """Write tuple i of a chunk as a row."""
    for c in range(arity):
        stw(at + (c << (2 + wide)), columns[c][i], wide)


@kernel
def insert_numbered(r: RelationBlock, columns: Columns, keys: Words, m: int, numbers: Words) -> None:
    """Insert m tuples with packed keys; `numbers` (if not 0) receives row numbers."""
    table, bits, n = NumberedSlot(r.table), r.bits, r.count
    shift, mask, before = 64 - bits, (1 << bits) - 1, n
    wide, arity, rows, iteration = r.wide, r.arity, r.rows, r.iteration
    stride, now, derived = r.stride << (2 + wide), r.now, r.derived
    stop = r.delta_stop if 0 < iteration < NEVER else NEVER  # from here on, a derivation counts
    for i in range(m):
        prefetch(table[lshr(mix(keys[i]), shift)])
    for i in range(m):
        key = keys[i]
        s = lshr(mix(key), shift)
        key |= TOP
        row = -1
        while True:
            e = table[s].key
            if e == key:
                row = ~table[s].row
                if row >= stop:
                    count_again(r, derived, row)
                break
            if e == 0:
                row = n
                table[s].key = key
                table[s].row = ~row
                write_row(rows + row * stride, columns, i, arity, wide)
                now[row] = iteration
                n += 1
                break
            s = (s + 1) & mask
        if numbers:
            numbers[i] = row
    r.count = n
    r.used += n - before


@inlined
def empty_list(r: RelationBlock, number: int) -> int:
    """This list of 64 rows, which none of them has yet; its number."""
    lists = Words(address(r.numbers)) + number * 32
    for j in range(32):
        lists[j] = 0
    return number


@inlined
def seek_block(r: RelationBlock, table: RowsSlot, block: int, s: int, mask: int) -> RowsSlot:
    """The slot of a block (its key with TOP), looked for from slot s on; made if there is none."""
    while True:
        slot = table[s]
        e = slot.key
        if e == block:
            return slot
        if e == 0:
            slot.key = block
            slot.list = ~empty_list(r, r.used)
            r.used += 1
            return slot
        s = (s + 1) & mask


@kernel
def insert_blocked(r: RelationBlock, columns: Columns, keys: Words, m: int, slots: Words, numbers: Words) -> None:
    """insert_numbered for a table of bitmaps with row numbers. `slots` is scratch."""
    table, bits, n, lists = RowsSlot(r.table), r.bits, r.count, r.numbers
    wide, arity, rows, iteration = r.wide, r.arity, r.rows, r.iteration
    stride, now, derived = r.stride << (2 + wide), r.now, r.derived
    shift, mask, counting = 64 - bits, (1 << bits) - 1, 0 < iteration < NEVER
    for i in range(m):
        prefetch(table[lshr(mix(lshr(keys[i], 6)), shift)])
    for i in range(m):
        key = keys[i]
        slot = seek_block(r, table, lshr(key, 6) | TOP, lshr(mix(lshr(key, 6)), shift), mask)
        slots[i] = slot
        prefetch(lists + (~slot.list * 64 + (key & 63)))
    for i in range(m):
        key, slot = keys[i], RowsSlot(slots[i])
        bit = 1 << (key & 63)
        word = slot.bits
        row = n
        if word & bit == 0:
            slot.bits = word | bit
            if slot.stamp == iteration:
                slot.fresh |= bit
            else:
                slot.stamp = iteration
                slot.fresh = bit
            lists[~slot.list * 64 + (key & 63)] = ~row
            write_row(rows + row * stride, columns, i, arity, wide)
            now[row] = iteration
            n += 1
        elif counting and slot.fresh & bit and slot.stamp == iteration:
            row = ~lists[~slot.list * 64 + (key & 63)]
            count_again(r, derived, row)
        elif numbers:
            row = ~lists[~slot.list * 64 + (key & 63)]
        if numbers:
            numbers[i] = row
    r.count = n
