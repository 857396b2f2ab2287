"""Insertion into tables that lead to rows while other threads do the same: for Bootstrap, which counts derivations.

A thread that is the first to enter a tuple makes its row when it knows how many rows its chunk makes, so that threads
meet at the relation's count once per chunk. Until then the row number in the table is 0. Who derives the tuple then
comes back to it after having made its own rows: so nobody waits for somebody who waits.

What is always true: `bits` of a slot gets a bit after `fresh` has it, and `fresh` after `stamp` is the iteration; so a
tuple whose bit is seen without being fresh is of an earlier iteration, and needs no more than that look. A row's
number is published when the row and its iteration are written. Counts are the sums that one thread would have found.
"""

from __future__ import annotations

from tidelog.store.blocks import Columns, Halves, NumberedSlot, RelationBlock, RowsSlot, Words, offset
from tidelog.store.codes import MOST_DERIVATIONS, NEVER, TOP
from tidelog.store.kernels.access import address
from tidelog.store.kernels.identity import COUNT, USED, empty_list, mix, write_row
from tidelog.store.kernels.raw import (
    compare_and_swap,
    compare_and_swap_half,
    fetch_add,
    fetch_or,
    inlined,
    kernel,
    load_acquire,
    load_acquire_half,
    lshr,
    prefetch,
)

ROW = offset(NumberedSlot, "row")
BITS, LIST, STAMP, FRESH = (offset(RowsSlot, field) for field in ("bits", "list", "stamp", "fresh"))
BUSY = -1
"""The stamp of a slot whose fresh bits a thread is about to clear."""


@inlined
def count_shared(r: RelationBlock, derived: Halves, row: int) -> None:
    """One derivation more in the same iteration, so long as they can be counted; `derived` has one less of each."""
    at = address(derived + row)
    while True:
        count = load_acquire_half(at)
        if count >= MOST_DERIVATIONS - 1:
            r.overflow = 1
            return
        if compare_and_swap_half(at, count, count + 1) == count:
            return


@kernel
def make_rows(r: RelationBlock, columns: Columns, chosen: Words, k: int, numbers: Words) -> int:
    """Rows for k chosen tuples of a chunk, in the running iteration; the number of the first."""
    wide, arity, iteration, now = r.wide, r.arity, r.iteration, r.now
    stride = r.stride << (2 + wide)
    n = fetch_add(address(r) + COUNT, k)
    at = r.rows + n * stride
    for j in range(k):
        write_row(at + j * stride, columns, chosen[j], arity, wide)
        now[n + j] = iteration
        if numbers:
            numbers[chosen[j]] = n + j
    return n


@kernel
def insert_numbered_shared(
    r: RelationBlock, columns: Columns, keys: Words, m: int, slots: Words, chosen: Words, numbers: Words
) -> None:
    """insert_numbered while other threads do the same. `slots` and `chosen` are scratch, and `keys` becomes it."""
    table, bits = NumberedSlot(r.table), r.bits
    shift, mask, derived = 64 - bits, (1 << bits) - 1, r.derived
    stop = r.delta_stop if 0 < r.iteration < NEVER else NEVER  # from here on, a derivation counts
    for i in range(m):
        prefetch(table[lshr(mix(keys[i]), shift)])
    k, waiting = 0, 0
    for i in range(m):
        key = keys[i]
        s = lshr(mix(key), shift)
        key |= TOP
        while True:
            slot = table[s]
            e = load_acquire(address(slot))
            if e == 0:
                e = compare_and_swap(address(slot), 0, key)
                if e == 0:
                    slots[k] = address(slot) + ROW
                    chosen[k] = i
                    k += 1
                    break
            if e == key:
                row = ~load_acquire(address(slot) + ROW)
                if row < 0:  # somebody is making it
                    waiting += 1
                    slots[m - waiting] = address(slot) + ROW
                    keys[waiting - 1] = i
                else:
                    if row >= stop:
                        count_shared(r, derived, row)
                    if numbers:
                        numbers[i] = row
                break
            s = (s + 1) & mask
    fetch_add(address(r) + USED, k)
    n = make_rows(r, columns, chosen, k, numbers)
    for j in range(k):
        fetch_add(slots[j], ~(n + j))
    for j in range(waiting):
        at, row = slots[m - 1 - j], -1
        while row < 0:
            row = ~load_acquire(at)
        if row >= stop:
            count_shared(r, derived, row)
        if numbers:
            numbers[keys[j]] = row


@inlined
def seek_block_shared(r: RelationBlock, table: RowsSlot, block: int, s: int, mask: int) -> RowsSlot:
    """seek_block while other threads do the same; its list is there."""
    while True:
        slot = table[s]
        e = load_acquire(address(slot))
        if e == 0:
            e = compare_and_swap(address(slot), 0, block)
            if e == 0:
                number = empty_list(r, fetch_add(address(r) + USED, 1))
                compare_and_swap_half(address(slot) + LIST, 0, ~number)
                return slot
        if e == block:
            while load_acquire_half(address(slot) + LIST) == 0:
                pass
            return slot
        s = (s + 1) & mask


@inlined
def freshen(slot: int, iteration: int) -> None:
    """See to it that the fresh bits of a slot are those of the running iteration."""
    while True:
        stamp = load_acquire_half(slot + STAMP)
        if stamp == iteration:
            return
        if stamp != BUSY and compare_and_swap_half(slot + STAMP, stamp, BUSY) == stamp:
            RowsSlot(slot).fresh = 0
            compare_and_swap_half(slot + STAMP, BUSY, iteration)
            return


@inlined
def enter_bit(slot: int, bit: int, iteration: int) -> int:
    """Enter a tuple by its bit: 0 if it is new, 1 if it is of the running iteration already, 2 if of an earlier one."""
    if load_acquire(slot + BITS) & bit:
        if load_acquire_half(slot + STAMP) == iteration and load_acquire(slot + FRESH) & bit:
            return 1
        return 2
    freshen(slot, iteration)
    if fetch_or(slot + FRESH, bit) & bit:
        return 1
    fetch_or(slot + BITS, bit)
    return 0


@kernel
def insert_blocked_shared(
    r: RelationBlock, columns: Columns, keys: Words, m: int, slots: Words, chosen: Words, numbers: Words
) -> None:
    """insert_numbered_shared for a table of bitmaps with row numbers."""
    table, bits, lists, derived, iteration = RowsSlot(r.table), r.bits, r.numbers, r.derived, r.iteration
    shift, mask, counting = 64 - bits, (1 << bits) - 1, 0 < iteration < NEVER
    for i in range(m):
        prefetch(table[lshr(mix(lshr(keys[i], 6)), shift)])
    for i in range(m):
        key = keys[i]
        slot = seek_block_shared(r, table, lshr(key, 6) | TOP, lshr(mix(lshr(key, 6)), shift), mask)
        slots[i] = address(slot)
        prefetch(lists + (~slot.list * 64 + (key & 63)))
    k, waiting = 0, 0
    for i in range(m):
        key, at = keys[i], slots[i]
        known = enter_bit(at, 1 << (key & 63), iteration)
        place = address(lists + (~RowsSlot(at).list * 64 + (key & 63)))
        if known == 0:
            slots[k] = place
            chosen[k] = i
            k += 1
        elif numbers or (counting and known == 1):
            row = ~load_acquire_half(place)
            if row < 0:  # somebody is making it
                keys[waiting] = place
                chosen[m - 1 - waiting] = i
                waiting += 1
            else:
                if counting and known == 1:
                    count_shared(r, derived, row)
                if numbers:
                    numbers[i] = row
    n = make_rows(r, columns, chosen, k, numbers)
    for j in range(k):
        compare_and_swap_half(slots[j], 0, ~(n + j))
    for j in range(waiting):
        row = -1
        while row < 0:
            row = ~load_acquire_half(keys[j])
        if counting:
            count_shared(r, derived, row)
        if numbers:
            numbers[chosen[m - 1 - j]] = row
