"""Insertion of a chunk of tuples into a relation, whatever its identity table is.

What is always true: a chunk that does not fit (a value outside the packed ranges, or of the narrow width; a full table)
changes nothing and is reported. Several threads may insert into one relation at a time; nobody else changes it then.
"""

from __future__ import annotations

from tidelog.store.blocks import BitmapSlot, Columns, RelationBlock, Words
from tidelog.store.codes import BAG, BLOCKED, DONE, GROW_IDENTITY, GROW_ROWS, MISFIT, NUMBERED, PACKED, TAGGED
from tidelog.store.kernels.access import address
from tidelog.store.kernels.identity import (
    COUNT,
    LOCK,
    USED,
    append_rows,
    hash_columns,
    insert_bitmap,
    insert_bitmap_shared,
    insert_blocked,
    insert_numbered,
    insert_packed,
    insert_packed_shared,
    insert_tagged,
    narrow_enough,
    pack_columns,
)
from tidelog.store.kernels.raw import compare_and_swap, fetch_add, kernel
from tidelog.store.kernels.shared_rows import insert_blocked_shared, insert_numbered_shared


@kernel
def insert_chunk(
    r: RelationBlock, columns: Columns, m: int, keys: Words, slots: Words, chosen: Words, numbers: Words, shared: int
) -> int:
    """Insert a chunk of m tuples; a status. New rows are appended. `numbers` needs a table that leads to rows.

    `shared` is how many tuples other threads may be inserting meanwhile.
    """
    mode, arity = r.mode, r.arity
    if r.count + m + shared > r.capacity:
        return GROW_ROWS
    if mode == BAG:
        if r.wide == 0 and not narrow_enough(columns, arity, m):
            return MISFIT
        n = fetch_add(address(r) + COUNT, m)
        append_rows(r, columns, Words(0), m, n)
        return DONE
    if r.used + m + shared > r.limit:
        return GROW_IDENTITY
    if mode == TAGGED:
        if r.wide == 0 and not narrow_enough(columns, arity, m):
            return MISFIT
        hash_columns(columns, arity, m, keys)
        if shared:
            while compare_and_swap(address(r) + LOCK, 0, 1) != 0:
                pass
        k = insert_tagged(r, columns, keys, m, chosen, numbers)
        r.used += k
        if shared:
            compare_and_swap(address(r) + LOCK, 1, 0)
        return DONE
    if pack_columns(columns, arity, r.pack, m, keys) != 0:
        return MISFIT
    if mode == NUMBERED:
        if shared:
            insert_numbered_shared(r, columns, keys, m, slots, chosen, numbers)
        else:
            insert_numbered(r, columns, keys, m, numbers)
        return DONE
    if mode == BLOCKED:
        if r.used + m + shared > r.number_capacity:
            return GROW_IDENTITY
        if shared:
            insert_blocked_shared(r, columns, keys, m, slots, chosen, numbers)
            return DONE
        insert_blocked(r, columns, keys, m, slots, numbers)
        return DONE
    table, bits = Words(r.table), r.bits
    if shared:
        if mode == PACKED:
            k = insert_packed_shared(table, bits, keys, m, slots, chosen)
            fetch_add(address(r) + USED, k)
        else:
            k = insert_bitmap_shared(BitmapSlot(r.table), bits, keys, m, slots, chosen, r)
        append_rows(r, columns, chosen, k, fetch_add(address(r) + COUNT, k))
    else:
        n = r.count
        if mode == PACKED:
            k = insert_packed(table, bits, keys, m, slots, chosen)
            r.used += k
        else:
            k = insert_bitmap(BitmapSlot(r.table), bits, keys, m, slots, chosen, r)
        append_rows(r, columns, chosen, k, n)
        r.count = n + k
    return DONE
