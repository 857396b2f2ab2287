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

from tidelog.store.kernels.raw import (
    compare_and_swap,
    fetch_add,
    fetch_or,
    inlined,
    kernel,
    ld32,
    ld64,
    ldw,
    lshr,
    prefetch,
    st32,
    st64,
    stw,
)
from tidelog.store.layout import (
    B_BITS,
    B_FRESH,
    B_LIST,
    B_STAMP,
    BAG,
    BLOCKED,
    DONE,
    GOLDEN,
    GROW_IDENTITY,
    GROW_ROWS,
    MISFIT,
    NEVER,
    NUMBERED,
    PACKED,
    R_ARITY,
    R_BITS,
    R_CAPACITY,
    R_COUNT,
    R_DELTA_STOP,
    R_DERIVED,
    R_ITERATION,
    R_LIMIT,
    R_LOCK,
    R_MODE,
    R_NOW,
    R_NUMBER_CAPACITY,
    R_NUMBERS,
    R_OVERFLOW,
    R_PACK,
    R_ROWS,
    R_STATE,
    R_STRIDE,
    R_TABLE,
    R_USED,
    R_WIDE,
    TAGGED,
    TOP,
)


@inlined
def mix(key: int) -> int:
    """Hash of a packed key; the high bits are the good ones."""
    h = key * GOLDEN
    return (h ^ lshr(h, 32)) * GOLDEN


@kernel
def pack_columns(columns: int, arity: int, pack: int, m: int, keys: int) -> int:
    """Packed keys of m tuples; `columns` lists column addresses, `pack` (lowest, bits, shift). Nonzero: some misfit."""
    bad = 0
    if arity == 0:
        for i in range(m):
            st64(keys + i * 8, 0)
    for c in range(arity):
        column = ld64(columns + c * 8)
        low, bits, shift = ld64(pack + c * 24), ld64(pack + c * 24 + 8), ld64(pack + c * 24 + 16)
        if c == 0:
            for i in range(m):
                v = ld64(column + i * 8) - low
                bad |= lshr(v, bits)
                st64(keys + i * 8, v << shift)
        else:
            for i in range(m):
                v = ld64(column + i * 8) - low
                bad |= lshr(v, bits)
                st64(keys + i * 8, ld64(keys + i * 8) | (v << shift))
    return bad


@kernel
def hash_columns(columns: int, arity: int, m: int, keys: int) -> None:
    """Hashes of m tuples of any values."""
    for i in range(m):
        st64(keys + i * 8, 0)
    for c in range(arity):
        column = ld64(columns + c * 8)
        for i in range(m):
            h = (ld64(keys + i * 8) ^ ld64(column + i * 8)) * GOLDEN
            st64(keys + i * 8, h ^ lshr(h, 29))
    for i in range(m):
        st64(keys + i * 8, ld64(keys + i * 8) * GOLDEN)


@kernel
def narrow_enough(columns: int, arity: int, m: int) -> bool:
    """Whether every value is a 32-bit one."""
    bad = 0
    for c in range(arity):
        column = ld64(columns + c * 8)
        for i in range(m):
            bad |= lshr(ld64(column + i * 8) + 0x80000000, 32)
    return bad == 0


@inlined
def row_equals(address: int, wide: int, columns: int, arity: int, i: int) -> bool:
    for c in range(arity):  # noqa: SIM110 (numba has no generator expressions)
        if ldw(address + (c << (2 + wide)), wide) != ld64(ld64(columns + c * 8) + i * 8):
            return False
    return True


@kernel
def append_rows(r: int, columns: int, chosen: int, m: int, n: int) -> None:
    """Write the chosen tuples of a chunk as rows n, n + 1, ...; chosen 0 means all."""
    wide, arity = ld64(r + R_WIDE), ld64(r + R_ARITY)
    stride = ld64(r + R_STRIDE) << (2 + wide)
    base = ld64(r + R_ROWS) + n * stride
    for c in range(arity):
        column = ld64(columns + c * 8)
        at = base + (c << (2 + wide))
        if chosen == 0:
            for k in range(m):
                stw(at + k * stride, ld64(column + k * 8), wide)
        else:
            for k in range(m):
                stw(at + k * stride, ld64(column + ld64(chosen + k * 8) * 8), wide)


@kernel
def insert_packed(table: int, bits: int, keys: int, m: int, slots: int, chosen: int) -> int:
    """Insert m packed keys; lists the new ones in `chosen` and gives their number."""
    shift, mask = 64 - bits, (1 << bits) - 1
    for i in range(m):
        s = lshr(mix(ld64(keys + i * 8)), shift)
        st64(slots + i * 8, s)
        prefetch(table + s * 8)
    k = 0
    for i in range(m):
        key = ld64(keys + i * 8) | TOP
        s = ld64(slots + i * 8)
        while True:
            e = ld64(table + s * 8)
            if e == key:
                break
            if e == 0:
                st64(table + s * 8, key)
                st64(chosen + k * 8, i)
                k += 1
                break
            s = (s + 1) & mask
    return k


@kernel
def insert_packed_shared(table: int, bits: int, keys: int, m: int, slots: int, chosen: int) -> int:
    """insert_packed while other threads do the same."""
    shift, mask = 64 - bits, (1 << bits) - 1
    for i in range(m):
        s = lshr(mix(ld64(keys + i * 8)), shift)
        st64(slots + i * 8, s)
        prefetch(table + s * 8)
    k = 0
    for i in range(m):
        key = ld64(keys + i * 8) | TOP
        s = ld64(slots + i * 8)
        while True:
            e = ld64(table + s * 8)
            if e == 0:
                e = compare_and_swap(table + s * 8, 0, key)
                if e == 0:
                    st64(chosen + k * 8, i)
                    k += 1
                    break
            if e == key:
                break
            s = (s + 1) & mask
    return k


@kernel
def insert_bitmap(table: int, bits: int, keys: int, m: int, slots: int, chosen: int, blocks: int) -> int:
    """Insert m packed keys into a bitmap table; adds the number of new blocks at `blocks`."""
    shift, mask = 64 - bits, (1 << bits) - 1
    for i in range(m):
        s = lshr(mix(lshr(ld64(keys + i * 8), 6)), shift)
        st64(slots + i * 8, s)
        prefetch(table + s * 16)
    k, added = 0, 0
    for i in range(m):
        key = ld64(keys + i * 8)
        block, bit = lshr(key, 6) | TOP, 1 << (key & 63)
        s = ld64(slots + i * 8)
        while True:
            e = ld64(table + s * 16)
            if e == block:
                break
            if e == 0:
                st64(table + s * 16, block)
                added += 1
                break
            s = (s + 1) & mask
        word = ld64(table + s * 16 + 8)
        if word & bit == 0:
            st64(table + s * 16 + 8, word | bit)
            st64(chosen + k * 8, i)
            k += 1
    st64(blocks, ld64(blocks) + added)
    return k


@kernel
def insert_bitmap_shared(table: int, bits: int, keys: int, m: int, slots: int, chosen: int, blocks: int) -> int:
    """insert_bitmap while other threads do the same."""
    shift, mask = 64 - bits, (1 << bits) - 1
    for i in range(m):
        s = lshr(mix(lshr(ld64(keys + i * 8), 6)), shift)
        st64(slots + i * 8, s)
        prefetch(table + s * 16)
    k, added = 0, 0
    for i in range(m):
        key = ld64(keys + i * 8)
        block, bit = lshr(key, 6) | TOP, 1 << (key & 63)
        s = ld64(slots + i * 8)
        while True:
            e = ld64(table + s * 16)
            if e == 0:
                e = compare_and_swap(table + s * 16, 0, block)
                if e == 0:
                    added += 1
                    break
            if e == block:
                break
            s = (s + 1) & mask
        if ld64(table + s * 16 + 8) & bit == 0 and fetch_or(table + s * 16 + 8, bit) & bit == 0:
            st64(chosen + k * 8, i)
            k += 1
    fetch_add(blocks, added)
    return k


@inlined
def count_again(r: int, at: int) -> None:
    """One derivation more in the same iteration."""
    count = ld32(at)
    if count < NEVER:
        st32(at, count + 1)
    else:
        st64(r + R_OVERFLOW, 1)


@kernel
def insert_tagged(r: int, columns: int, keys: int, m: int, chosen: int, numbers: int) -> int:
    """Insert m tuples whose hashes are in `keys`, writing the new rows; `numbers` (if not 0) receives row numbers."""
    table, bits = ld64(r + R_TABLE), ld64(r + R_BITS)
    wide, arity, n = ld64(r + R_WIDE), ld64(r + R_ARITY), ld64(r + R_COUNT)
    stride = ld64(r + R_STRIDE) << (2 + wide)
    rows = ld64(r + R_ROWS)
    shift, mask = 64 - bits, (1 << bits) - 1
    counted, iteration, stop = ld64(r + R_STATE), ld64(r + R_ITERATION), ld64(r + R_DELTA_STOP)
    for i in range(m):
        prefetch(table + lshr(ld64(keys + i * 8), shift) * 8)
    for i in range(m):
        e = ld64(table + lshr(ld64(keys + i * 8), shift) * 8)
        prefetch(rows + (e & 0xFFFFFFFF) * stride)
    k = 0
    for i in range(m):
        h = ld64(keys + i * 8)
        tag = ((h & 0x7FFFFFFF) << 32) | TOP
        s = lshr(h, shift)
        while True:
            e = ld64(table + s * 8)
            if e == 0:
                for c in range(arity):
                    stw(rows + n * stride + (c << (2 + wide)), ld64(ld64(columns + c * 8) + i * 8), wide)
                st64(table + s * 8, tag | n)
                if counted:
                    st32(ld64(r + R_NOW) + n * 4, iteration)
                if numbers:
                    st64(numbers + i * 8, n)
                st64(chosen + k * 8, i)
                n += 1
                k += 1
                break
            if lshr(e ^ tag, 32) == 0:
                q = e & 0xFFFFFFFF
                if row_equals(rows + q * stride, wide, columns, arity, i):
                    if counted and q >= stop and 0 < iteration < NEVER:
                        count_again(r, ld64(r + R_DERIVED) + q * 4)
                    if numbers:
                        st64(numbers + i * 8, q)
                    break
            s = (s + 1) & mask
    st64(r + R_COUNT, n)
    return k


@inlined
def write_row(at: int, columns: int, i: int, arity: int, wide: int) -> None:
    """Write tuple i of a chunk as a row."""
    for c in range(arity):
        stw(at + (c << (2 + wide)), ld64(ld64(columns + c * 8) + i * 8), wide)


@kernel
def insert_numbered(r: int, columns: int, keys: int, m: int, numbers: int) -> None:
    """Insert m tuples with packed keys; `numbers` (if not 0) receives row numbers."""
    table, bits, n = ld64(r + R_TABLE), ld64(r + R_BITS), ld64(r + R_COUNT)
    shift, mask, before = 64 - bits, (1 << bits) - 1, n
    wide, arity, rows, iteration = ld64(r + R_WIDE), ld64(r + R_ARITY), ld64(r + R_ROWS), ld64(r + R_ITERATION)
    stride, now, derived = ld64(r + R_STRIDE) << (2 + wide), ld64(r + R_NOW), ld64(r + R_DERIVED)
    stop = ld64(r + R_DELTA_STOP) if 0 < iteration < NEVER else NEVER  # from here on, a derivation counts
    for i in range(m):
        prefetch(table + lshr(mix(ld64(keys + i * 8)), shift) * 16)
    for i in range(m):
        key = ld64(keys + i * 8)
        s = lshr(mix(key), shift)
        key |= TOP
        row = -1
        while True:
            e = ld64(table + s * 16)
            if e == key:
                row = ld64(table + s * 16 + 8)
                if row >= stop:
                    count_again(r, derived + row * 4)
                break
            if e == 0:
                row = n
                st64(table + s * 16, key)
                st64(table + s * 16 + 8, row)
                write_row(rows + row * stride, columns, i, arity, wide)
                st32(now + row * 4, iteration)
                n += 1
                break
            s = (s + 1) & mask
        if numbers:
            st64(numbers + i * 8, row)
    st64(r + R_COUNT, n)
    st64(r + R_USED, ld64(r + R_USED) + n - before)


@inlined
def seek_block(r: int, table: int, block: int, s: int, mask: int) -> int:
    """The slot of a block (its key with TOP), looked for from slot s on; made if there is none."""
    while True:
        slot = table + s * 32
        e = ld64(slot)
        if e == block:
            return slot
        if e == 0:
            st64(slot, block)
            st32(slot + B_LIST, ld64(r + R_USED))
            st64(r + R_USED, ld64(r + R_USED) + 1)
            return slot
        s = (s + 1) & mask


@kernel
def insert_blocked(r: int, columns: int, keys: int, m: int, slots: int, numbers: int) -> None:
    """insert_numbered for a table of blocks: (key without six bits, bitmap, number of its list of rows, and the bits
    that iteration `stamp` added, so that a tuple of an earlier one is settled without a look at its row). `slots` is
    scratch."""
    table, bits, n, lists = ld64(r + R_TABLE), ld64(r + R_BITS), ld64(r + R_COUNT), ld64(r + R_NUMBERS)
    wide, arity, rows, iteration = ld64(r + R_WIDE), ld64(r + R_ARITY), ld64(r + R_ROWS), ld64(r + R_ITERATION)
    stride, now, derived = ld64(r + R_STRIDE) << (2 + wide), ld64(r + R_NOW), ld64(r + R_DERIVED)
    shift, mask, counting = 64 - bits, (1 << bits) - 1, 0 < iteration < NEVER
    for i in range(m):
        prefetch(table + lshr(mix(lshr(ld64(keys + i * 8), 6)), shift) * 32)
    for i in range(m):
        key = ld64(keys + i * 8)
        slot = seek_block(r, table, lshr(key, 6) | TOP, lshr(mix(lshr(key, 6)), shift), mask)
        st64(slots + i * 8, slot)
        prefetch(lists + (ld32(slot + B_LIST) * 64 + (key & 63)) * 4)
    for i in range(m):
        key, slot = ld64(keys + i * 8), ld64(slots + i * 8)
        bit = 1 << (key & 63)
        word = ld64(slot + B_BITS)
        row = n
        if word & bit == 0:
            st64(slot + B_BITS, word | bit)
            if ld32(slot + B_STAMP) == iteration:
                st64(slot + B_FRESH, ld64(slot + B_FRESH) | bit)
            else:
                st32(slot + B_STAMP, iteration)
                st64(slot + B_FRESH, bit)
            st32(lists + (ld32(slot + B_LIST) * 64 + (key & 63)) * 4, row)
            write_row(rows + row * stride, columns, i, arity, wide)
            st32(now + row * 4, iteration)
            n += 1
        elif counting and ld64(slot + B_FRESH) & bit and ld32(slot + B_STAMP) == iteration:
            row = ld32(lists + (ld32(slot + B_LIST) * 64 + (key & 63)) * 4)
            count_again(r, derived + row * 4)
        elif numbers:
            row = ld32(lists + (ld32(slot + B_LIST) * 64 + (key & 63)) * 4)
        if numbers:
            st64(numbers + i * 8, row)
    st64(r + R_COUNT, n)


@kernel
def insert_chunk(r: int, columns: int, m: int, keys: int, slots: int, chosen: int, numbers: int, shared: int) -> int:
    """Insert a chunk of m tuples; a status. New rows are appended. `numbers` needs a table that leads to rows.

    `shared` is how many tuples other threads may be inserting meanwhile.
    """
    mode, arity = ld64(r + R_MODE), ld64(r + R_ARITY)
    if ld64(r + R_COUNT) + m + shared > ld64(r + R_CAPACITY):
        return GROW_ROWS
    if mode == BAG:
        if ld64(r + R_WIDE) == 0 and not narrow_enough(columns, arity, m):
            return MISFIT
        n = fetch_add(r + R_COUNT, m)
        append_rows(r, columns, 0, m, n)
        return DONE
    if ld64(r + R_USED) + m + shared > ld64(r + R_LIMIT):
        return GROW_IDENTITY
    if mode == TAGGED:
        if ld64(r + R_WIDE) == 0 and not narrow_enough(columns, arity, m):
            return MISFIT
        hash_columns(columns, arity, m, keys)
        if shared:
            while compare_and_swap(r + R_LOCK, 0, 1) != 0:
                pass
        k = insert_tagged(r, columns, keys, m, chosen, numbers)
        st64(r + R_USED, ld64(r + R_USED) + k)
        if shared:
            compare_and_swap(r + R_LOCK, 1, 0)
        return DONE
    if pack_columns(columns, arity, ld64(r + R_PACK), m, keys) != 0:
        return MISFIT
    if mode == NUMBERED:
        insert_numbered(r, columns, keys, m, numbers)
        return DONE
    if mode == BLOCKED:
        if ld64(r + R_USED) + m > ld64(r + R_NUMBER_CAPACITY):
            return GROW_IDENTITY
        insert_blocked(r, columns, keys, m, slots, numbers)
        return DONE
    table, bits = ld64(r + R_TABLE), ld64(r + R_BITS)
    if shared:
        if mode == PACKED:
            k = insert_packed_shared(table, bits, keys, m, slots, chosen)
            fetch_add(r + R_USED, k)
        else:
            k = insert_bitmap_shared(table, bits, keys, m, slots, chosen, r + R_USED)
        append_rows(r, columns, chosen, k, fetch_add(r + R_COUNT, k))
    else:
        n = ld64(r + R_COUNT)
        if mode == PACKED:
            k = insert_packed(table, bits, keys, m, slots, chosen)
            st64(r + R_USED, ld64(r + R_USED) + k)
        else:
            k = insert_bitmap(table, bits, keys, m, slots, chosen, r + R_USED)
        append_rows(r, columns, chosen, k, n)
        st64(r + R_COUNT, n + k)
    return DONE
