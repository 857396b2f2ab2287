"""Building an identity table anew: a larger one, another packing, another kind.

Cost: a larger table of the same kind streams through both tables (slots are taken from the high bits of the hash, so
their order is kept); otherwise one insertion per row.
"""

from __future__ import annotations

from tidelog.store.kernels.identity import insert_bitmap, insert_packed, mix, seek_block
from tidelog.store.kernels.raw import kernel, ld32, ld64, ldw, lshr, prefetch, st32, st64
from tidelog.store.layout import (
    B_BITS,
    B_FRESH,
    B_LIST,
    B_STAMP,
    BITMAP,
    BLOCKED,
    DONE,
    GOLDEN,
    GROW_IDENTITY,
    NUMBERED,
    PACKED,
    R_ARITY,
    R_BITS,
    R_COUNT,
    R_DELTA_STOP,
    R_FIRST,
    R_ITERATION,
    R_LIMIT,
    R_MODE,
    R_NUMBER_CAPACITY,
    R_NUMBERS,
    R_PACK,
    R_ROWS,
    R_STRIDE,
    R_TABLE,
    R_USED,
    R_WIDE,
    TAGGED,
    TOP,
)

BLOCK = 256


@kernel
def rehash_identity(old: int, old_bits: int, r: int) -> None:
    """Move the slots of a smaller table of packed keys or blocks into the present one of the same kind."""
    table, bits, mode = ld64(r + R_TABLE), ld64(r + R_BITS), ld64(r + R_MODE)
    shift, mask = 64 - bits, (1 << bits) - 1
    size = 8
    if mode in (BITMAP, NUMBERED):
        size = 16
    elif mode == BLOCKED:
        size = 32
    for i in range(1 << old_bits):
        e = ld64(old + i * size)
        if e != 0:
            s = lshr(mix(e & ~TOP), shift)
            while ld64(table + s * size) != 0:
                s = (s + 1) & mask
            for word in range(0, size, 8):
                st64(table + s * size + word, ld64(old + i * size + word))


@kernel
def number_rows(table: int, bits: int, keys: int, m: int, first: int) -> None:
    """Enter m distinct packed keys, those of the rows from `first` on."""
    shift, mask = 64 - bits, (1 << bits) - 1
    for i in range(m):
        prefetch(table + lshr(mix(ld64(keys + i * 8)), shift) * 16)
    for i in range(m):
        s = lshr(mix(ld64(keys + i * 8)), shift)
        while ld64(table + s * 16) != 0:
            s = (s + 1) & mask
        st64(table + s * 16, ld64(keys + i * 8) | TOP)
        st64(table + s * 16 + 8, first + i)


@kernel
def block_rows(r: int, keys: int, m: int, first: int) -> None:
    """number_rows for a table of blocks."""
    table, bits, lists = ld64(r + R_TABLE), ld64(r + R_BITS), ld64(r + R_NUMBERS)
    shift, mask, iteration, stop = 64 - bits, (1 << bits) - 1, ld64(r + R_ITERATION), ld64(r + R_DELTA_STOP)
    block, slot = -1, 0
    for i in range(m):
        key = ld64(keys + i * 8)
        if lshr(key, 6) != block:  # rows often come in the order of their keys
            block = lshr(key, 6)
            slot = seek_block(r, table, block | TOP, lshr(mix(block), shift), mask)
        bit = 1 << (key & 63)
        st64(slot + B_BITS, ld64(slot + B_BITS) | bit)
        st32(lists + (ld32(slot + B_LIST) * 64 + (key & 63)) * 4, first + i)
        if first + i >= stop:
            st32(slot + B_STAMP, iteration)
            st64(slot + B_FRESH, ld64(slot + B_FRESH) | bit)


@kernel
def rebuild_identity(r: int, scratch: int) -> int:
    """Fill an empty table with all rows, which are distinct; DONE, or GROW_IDENTITY if it is too small for them.

    Only a bitmap table can be too small: how many blocks it will have is an estimate. Scratch: 3 * BLOCK words.
    """
    table, bits, mode = ld64(r + R_TABLE), ld64(r + R_BITS), ld64(r + R_MODE)
    wide, rows, arity, n = ld64(r + R_WIDE), ld64(r + R_ROWS), ld64(r + R_ARITY), ld64(r + R_COUNT)
    stride, pack = ld64(r + R_STRIDE) << (2 + wide), ld64(r + R_PACK)
    shift, mask = 64 - bits, (1 << bits) - 1
    first = ld64(r + R_FIRST)
    while first < n:
        m = min(n - first, BLOCK)
        for i in range(m):
            address = rows + (first + i) * stride
            key = 0
            if mode != TAGGED:
                for c in range(arity):
                    v = ldw(address + (c << (2 + wide)), wide) - ld64(pack + c * 24)
                    key |= v << ld64(pack + c * 24 + 16)
            else:
                for c in range(arity):
                    key = (key ^ ldw(address + (c << (2 + wide)), wide)) * GOLDEN
                    key ^= lshr(key, 29)
                key = key * GOLDEN
            st64(scratch + i * 8, key)
        if mode == PACKED:
            insert_packed(table, bits, scratch, m, scratch + BLOCK * 8, scratch + 2 * BLOCK * 8)
        elif mode == NUMBERED:
            number_rows(table, bits, scratch, m, first)
        elif mode == BLOCKED:
            if ld64(r + R_USED) + BLOCK > min(ld64(r + R_LIMIT), ld64(r + R_NUMBER_CAPACITY)):
                return GROW_IDENTITY
            block_rows(r, scratch, m, first)
        elif mode == BITMAP:
            if ld64(r + R_USED) + BLOCK > ld64(r + R_LIMIT):
                return GROW_IDENTITY
            insert_bitmap(table, bits, scratch, m, scratch + BLOCK * 8, scratch + 2 * BLOCK * 8, r + R_USED)
        else:
            for i in range(m):
                prefetch(table + lshr(ld64(scratch + i * 8), shift) * 8)
            for i in range(m):
                h = ld64(scratch + i * 8)
                s = lshr(h, shift)
                while ld64(table + s * 8) != 0:
                    s = (s + 1) & mask
                st64(table + s * 8, ((h & 0x7FFFFFFF) << 32) | TOP | (first + i))
        first += m
    if mode not in (BITMAP, BLOCKED):
        st64(r + R_USED, n)
    return DONE


@kernel
def sample_blocks(r: int, column: int, table: int, bits: int) -> int:
    """Tuples per bitmap block, times 256, if `column` were the lowest: from about 1/64 of all blocks."""
    wide, rows, arity, n = ld64(r + R_WIDE), ld64(r + R_ROWS), ld64(r + R_ARITY), ld64(r + R_COUNT)
    stride, mask = ld64(r + R_STRIDE) << (2 + wide), (1 << bits) - 1
    tuples, blocks, limit = 0, 0, (1 << bits) >> 1
    for i in range(n):
        h = 0
        for c in range(arity):
            v = ldw(rows + i * stride + (c << (2 + wide)), wide)
            if c == column:
                v >>= 6
            h = (h ^ v) * GOLDEN
            h ^= lshr(h, 29)
        if h & 63 == 0:
            tuples += 1
            s = lshr(h * GOLDEN, 64 - bits)
            h |= TOP
            while ld64(table + s * 8) != 0 and ld64(table + s * 8) != h:
                s = (s + 1) & mask
            if ld64(table + s * 8) == 0:
                st64(table + s * 8, h)
                blocks += 1
                if blocks > limit:
                    break
    if blocks == 0:
        return 0
    return (tuples << 8) // blocks
