"""Two relations of one name, before and after an evaluation anew: which rows do they share?

Where both have bitmaps of 64 tuples, packed alike, those are compared: a look-up per bitmap, and some nanoseconds for
each tuple that only one of them has. Elsewhere rows are. Evaluations that are much alike find their tuples in much the
same order, so the row behind the last match is tried first, which streams through both relations and hashes nothing;
only the rows that differ from it are looked up, a chunk of them at a time. Cost: a comparison per row where the order
is kept, at most a look-up per row.
"""

from __future__ import annotations

from tidelog.store.blocks import Columns, RelationBlock, RowsSlot, Words
from tidelog.store.codes import NEVER, TOP
from tidelog.store.kernels.identity import mix
from tidelog.store.kernels.membership import find_rows, iteration_before
from tidelog.store.kernels.raw import inlined, kernel, ldw, lshr


@inlined
def same_tuple(left: int, left_wide: int, right: int, right_wide: int, arity: int) -> bool:
    """Whether the rows at two addresses are equal, whatever their widths."""
    for c in range(arity):
        if ldw(left + (c << (2 + left_wide)), left_wide) != ldw(right + (c << (2 + right_wide)), right_wide):
            return False
    return True


@inlined
def mark(bits: Words, row: int) -> None:
    bits[row >> 6] |= 1 << (row & 63)


@kernel
def look_up(old: RelationBlock, new: RelationBlock, listed: Words, m: int, capacity: int) -> Words:
    """Find the m listed rows of the old relation in the new one; the answers (see find_rows).

    Behind the list, which has room for `capacity` rows, are words for the answers, keys, column addresses, columns.
    """
    arity, wide, rows = old.arity, old.wide, old.rows
    stride = old.stride << (2 + wide)
    found, keys, columns = listed + capacity, listed + 2 * capacity, Columns(listed + 3 * capacity)
    values = listed + (3 * capacity + arity)
    for c in range(arity):
        column = values + c * capacity
        columns[c] = column
        for j in range(m):
            column[j] = ldw(rows + listed[j] * stride + (c << (2 + wide)), wide)
    find_rows(new, columns, m, keys, found)
    return found


@kernel
def match_rows(old: RelationBlock, new: RelationBlock, first: int, last: int, seen: Words, work: Words) -> int:
    """Go through rows [first, last) of the old relation, those that were there before the running update: mark in the
    bits `seen` which rows of the new one hold the same tuples; list the others behind the first word of `work`.

    Gives their number. The first word is the row that is tried next; `work` has 1 + arity + (3 + arity) * rows words.
    No row of the new relation is dead.
    """
    arity, cursor, count = old.arity, work[0], new.count
    wide, rows, stride = old.wide, old.rows, old.stride << (2 + old.wide)
    to, target, step = new.wide, new.rows, new.stride << (2 + new.wide)
    listed, m, behind = work + 1, 0, 0
    for row in range(first, last):
        if iteration_before(old, row) != NEVER:
            if cursor < count and same_tuple(rows + row * stride, wide, target + cursor * step, to, arity):
                mark(seen, cursor)
                cursor += 1
                behind = m
            else:
                listed[m] = row
                m += 1
    found, gone = look_up(old, new, listed, m, last - first), 0
    for j in range(m):
        row = found[j]
        if row >= 0:
            mark(seen, row)
            if j >= behind:  # nothing has matched since: the order goes on here
                cursor = row + 1
        else:
            listed[gone] = listed[j]
            gone += 1
    work[0] = cursor
    return gone


@inlined
def tuples_in_block(r: RelationBlock, block: int) -> int:
    """The bitmap of a block (its key with TOP) in a relation; 0 if it has none of its tuples."""
    table, bits = RowsSlot(r.table), r.bits
    s = lshr(mix(block & ~TOP), 64 - bits)
    while True:
        slot = table[s]
        if slot.key == block:
            return slot.bits
        if slot.key == 0:
            return 0
        s = (s + 1) & ((1 << bits) - 1)


@kernel
def mark_missing(a: RelationBlock, b: RelationBlock, missing: Words) -> None:
    """Mark in bits the rows of a relation that were there before the running update and that another has no row for.
    Both have tables of blocks that are packed alike, so that their slots are in much the same order."""
    table, lists = RowsSlot(a.table), a.numbers
    for s in range(1 << a.bits):
        slot = table[s]
        block = slot.key
        if block != 0:
            rest = slot.bits & ~tuples_in_block(b, block)
            if rest != 0:
                numbers = lists + ~slot.list * 64
                for j in range(64):
                    if lshr(rest, j) & 1:
                        row = ~numbers[j]
                        if iteration_before(a, row) != NEVER:
                            mark(missing, row)


@kernel
def mark_returned(old: RelationBlock, new: RelationBlock, first: int, last: int, returned: Words, work: Words) -> None:
    """Mark in bits the rows of the new relation whose tuples have rows in [first, last) of the old one, but were not
    there before the running update. `work` has arity + (3 + arity) * rows words."""
    m = 0
    for row in range(first, last):
        if iteration_before(old, row) == NEVER:
            work[m] = row
            m += 1
    if m > 0:
        found = look_up(old, new, work, m, last - first)
        for j in range(m):
            row = found[j]
            if row >= 0:
                mark(returned, row)
