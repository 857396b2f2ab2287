"""Two relations of one name, before and after an evaluation anew: which rows do they share?

Where both have bitmaps of 64 tuples, packed alike, those are compared: a look-up per bitmap, and some nanoseconds for
each tuple that only one of them has. Elsewhere rows are. Evaluations that are much alike find their tuples in much the
same order, so the row behind the last match is tried first, which streams through both relations and hashes nothing;
only the rows that differ from it are looked up, a chunk of them at a time. Cost: a comparison per row where the order
is kept, at most a look-up per row.
"""

from __future__ import annotations

from tidelog.store.kernels.identity import mix
from tidelog.store.kernels.membership import find_rows, iteration_before
from tidelog.store.kernels.raw import inlined, kernel, ld32, ld64, ldw, lshr, st64
from tidelog.store.layout import (
    B_BITS,
    B_LIST,
    NEVER,
    R_ARITY,
    R_BITS,
    R_COUNT,
    R_NUMBERS,
    R_ROWS,
    R_STRIDE,
    R_TABLE,
    R_WIDE,
    TOP,
)


@inlined
def same_tuple(left: int, left_wide: int, right: int, right_wide: int, arity: int) -> bool:
    """Whether the rows at two addresses are equal, whatever their widths."""
    for c in range(arity):
        if ldw(left + (c << (2 + left_wide)), left_wide) != ldw(right + (c << (2 + right_wide)), right_wide):
            return False
    return True


@inlined
def mark(bits: int, row: int) -> None:
    at = bits + (row >> 6) * 8
    st64(at, ld64(at) | (1 << (row & 63)))


@kernel
def look_up(old: int, new: int, listed: int, m: int, capacity: int) -> int:
    """Find the m listed rows of the old relation in the new one; the address of the answers (see find_rows).

    Behind the list, which has room for `capacity` rows, are words for the answers, keys, column addresses, columns.
    """
    arity, wide, rows = ld64(old + R_ARITY), ld64(old + R_WIDE), ld64(old + R_ROWS)
    stride = ld64(old + R_STRIDE) << (2 + wide)
    found, keys, columns = listed + capacity * 8, listed + capacity * 16, listed + capacity * 24
    values = columns + arity * 8
    for c in range(arity):
        column = values + c * capacity * 8
        st64(columns + c * 8, column)
        for j in range(m):
            st64(column + j * 8, ldw(rows + ld64(listed + j * 8) * stride + (c << (2 + wide)), wide))
    find_rows(new, columns, m, keys, found)
    return found


@kernel
def match_rows(old: int, new: int, first: int, last: int, seen: int, work: int) -> int:
    """Go through rows [first, last) of the old relation, those that were there before the running update: mark in the
    bits `seen` which rows of the new one hold the same tuples; list the others behind the first word of `work`.

    Gives their number. The first word is the row that is tried next; `work` has 1 + arity + (3 + arity) * rows words.
    No row of the new relation is dead.
    """
    arity, cursor, count = ld64(old + R_ARITY), ld64(work), ld64(new + R_COUNT)
    wide, rows, stride = ld64(old + R_WIDE), ld64(old + R_ROWS), ld64(old + R_STRIDE) << (2 + ld64(old + R_WIDE))
    to, target, step = ld64(new + R_WIDE), ld64(new + R_ROWS), ld64(new + R_STRIDE) << (2 + ld64(new + R_WIDE))
    listed, m, behind = work + 8, 0, 0
    for row in range(first, last):
        if iteration_before(old, row) != NEVER:
            if cursor < count and same_tuple(rows + row * stride, wide, target + cursor * step, to, arity):
                mark(seen, cursor)
                cursor += 1
                behind = m
            else:
                st64(listed + m * 8, row)
                m += 1
    found, gone = look_up(old, new, listed, m, last - first), 0
    for j in range(m):
        row = ld64(found + j * 8)
        if row >= 0:
            mark(seen, row)
            if j >= behind:  # nothing has matched since: the order goes on here
                cursor = row + 1
        else:
            st64(listed + gone * 8, ld64(listed + j * 8))
            gone += 1
    st64(work, cursor)
    return gone


@inlined
def tuples_in_block(r: int, block: int) -> int:
    """The bitmap of a block (its key with TOP) in a relation; 0 if it has none of its tuples."""
    table, bits = ld64(r + R_TABLE), ld64(r + R_BITS)
    s = lshr(mix(block & ~TOP), 64 - bits)
    while True:
        slot = table + s * 32
        if ld64(slot) == block:
            return ld64(slot + B_BITS)
        if ld64(slot) == 0:
            return 0
        s = (s + 1) & ((1 << bits) - 1)


@kernel
def mark_missing(a: int, b: int, missing: int) -> None:
    """Mark in bits the rows of a relation that were there before the running update and that another has no row for.
    Both have tables of blocks that are packed alike, so that their slots are in much the same order."""
    table, lists = ld64(a + R_TABLE), ld64(a + R_NUMBERS)
    for s in range(1 << ld64(a + R_BITS)):
        slot = table + s * 32
        block = ld64(slot)
        if block != 0:
            rest = ld64(slot + B_BITS) & ~tuples_in_block(b, block)
            if rest != 0:
                numbers = lists + ld32(slot + B_LIST) * 256
                for j in range(64):
                    if lshr(rest, j) & 1:
                        row = ld32(numbers + j * 4)
                        if iteration_before(a, row) != NEVER:
                            mark(missing, row)


@kernel
def mark_returned(old: int, new: int, first: int, last: int, returned: int, work: int) -> None:
    """Mark in bits the rows of the new relation whose tuples have rows in [first, last) of the old one, but were not
    there before the running update. `work` has arity + (3 + arity) * rows words."""
    m = 0
    for row in range(first, last):
        if iteration_before(old, row) == NEVER:
            st64(work + m * 8, row)
            m += 1
    if m > 0:
        found = look_up(old, new, work, m, last - first)
        for j in range(m):
            row = ld64(found + j * 8)
            if row >= 0:
                mark(returned, row)
