"""Building an identity table anew: a larger one, another packing, another kind.

Cost: a larger table of the same kind streams through both tables (slots are taken from the high bits of the hash, so
their order is kept); otherwise one insertion per row.
"""

from __future__ import annotations

from tidelog.store.blocks import BitmapSlot, NumberedSlot, RelationBlock, RowsSlot, Words
from tidelog.store.codes import BITMAP, BLOCKED, DONE, GOLDEN, GROW_IDENTITY, NUMBERED, PACKED, TAGGED, TOP
from tidelog.store.kernels.identity import insert_bitmap, insert_packed, mix, seek_block
from tidelog.store.kernels.raw import kernel, ldw, lshr, prefetch

BLOCK = 256


@kernel
def rehash_identity(old: Words, old_bits: int, r: RelationBlock) -> None:
    """Move the slots of a smaller table of packed keys or blocks into the present one of the same kind."""
    table, bits, mode = Words(r.table), r.bits, r.mode
    shift, mask = 64 - bits, (1 << bits) - 1
    size = 1  # words of a slot
    if mode in (BITMAP, NUMBERED):
        size = 2
    elif mode == BLOCKED:
        size = 4
    for i in range(1 << old_bits):
        e = old[i * size]
        if e != 0:
            s = lshr(mix(e & ~TOP), shift)
            while table[s * size] != 0:
                s = (s + 1) & mask
            for word in range(size):
                table[s * size + word] = old[i * size + word]


@kernel
def number_rows(r: RelationBlock, keys: Words, m: int, first: int) -> None:
    """Enter m distinct packed keys, those of the rows from `first` on."""
    table, bits = NumberedSlot(r.table), r.bits
    shift, mask = 64 - bits, (1 << bits) - 1
    for i in range(m):
        prefetch(table[lshr(mix(keys[i]), shift)])
    for i in range(m):
        s = lshr(mix(keys[i]), shift)
        while table[s].key != 0:
            s = (s + 1) & mask
        table[s].key = keys[i] | TOP
        table[s].row = ~(first + i)


@kernel
def block_rows(r: RelationBlock, keys: Words, m: int, first: int) -> None:
    """number_rows for a table of blocks."""
    table, bits, lists = RowsSlot(r.table), r.bits, r.numbers
    shift, mask, iteration, stop = 64 - bits, (1 << bits) - 1, r.iteration, r.delta_stop
    block, slot = -1, table
    for i in range(m):
        key = keys[i]
        if lshr(key, 6) != block:  # rows often come in the order of their keys
            block = lshr(key, 6)
            slot = seek_block(r, table, block | TOP, lshr(mix(block), shift), mask)
        bit = 1 << (key & 63)
        slot.bits |= bit
        lists[~slot.list * 64 + (key & 63)] = ~(first + i)
        if first + i >= stop:
            slot.stamp = iteration
            slot.fresh |= bit


@kernel
def rebuild_identity(r: RelationBlock, scratch: Words) -> int:
    """Fill an empty table with all rows, which are distinct; DONE, or GROW_IDENTITY if it is too small for them.

    Only a bitmap table can be too small: how many blocks it will have is an estimate. Scratch: 3 * BLOCK words.
    """
    table, bits, mode = Words(r.table), r.bits, r.mode
    wide, rows, arity, n = r.wide, r.rows, r.arity, r.count
    stride, pack = r.stride << (2 + wide), r.pack
    shift, mask = 64 - bits, (1 << bits) - 1
    first = r.first
    while first < n:
        m = min(n - first, BLOCK)
        for i in range(m):
            address = rows + (first + i) * stride
            key = 0
            if mode != TAGGED:
                for c in range(arity):
                    key |= (ldw(address + (c << (2 + wide)), wide) - pack[c].low) << pack[c].shift
            else:
                for c in range(arity):
                    key = (key ^ ldw(address + (c << (2 + wide)), wide)) * GOLDEN
                    key ^= lshr(key, 29)
                key = key * GOLDEN
            scratch[i] = key
        if mode == PACKED:
            insert_packed(table, bits, scratch, m, scratch + BLOCK, scratch + 2 * BLOCK)
        elif mode == NUMBERED:
            number_rows(r, scratch, m, first)
        elif mode == BLOCKED:
            if r.used + BLOCK > min(r.limit, r.number_capacity):
                return GROW_IDENTITY
            block_rows(r, scratch, m, first)
        elif mode == BITMAP:
            if r.used + BLOCK > r.limit:
                return GROW_IDENTITY
            insert_bitmap(BitmapSlot(r.table), bits, scratch, m, scratch + BLOCK, scratch + 2 * BLOCK, r)
        else:
            for i in range(m):
                prefetch(table + lshr(scratch[i], shift))
            for i in range(m):
                h = scratch[i]
                s = lshr(h, shift)
                while table[s] != 0:
                    s = (s + 1) & mask
                table[s] = ((h & 0x7FFFFFFF) << 32) | TOP | (first + i)
        first += m
    if mode not in (BITMAP, BLOCKED):
        r.used = n
    return DONE


@kernel
def sample_blocks(r: RelationBlock, column: int, table: Words, bits: int) -> int:
    """Tuples per bitmap block, times 256, if `column` were the lowest: from about 1/64 of all blocks."""
    wide, rows, arity, n = r.wide, r.rows, r.arity, r.count
    stride, mask = r.stride << (2 + wide), (1 << bits) - 1
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
            while table[s] != 0 and table[s] != h:
                s = (s + 1) & mask
            if table[s] == 0:
                table[s] = h
                blocks += 1
                if blocks > limit:
                    break
    if blocks == 0:
        return 0
    return (tuples << 8) // blocks
