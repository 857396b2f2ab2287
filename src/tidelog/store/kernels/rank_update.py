"""The loop of an update where only the best counts: settle the least rank, enter rows, tell what the moved rows bring.

In the round of rank k each head decides by the sum that has reached it: of rank k itself, one without derivations is
*lost*; of a greater rank or none, one with some is *found* at rank k. A found key gets the row of its key and value,
which is entered if it was not known; the row that it had goes. All else is as in `update.py`: every place where Python
must act is between two steps that can be gone on from.
"""

from __future__ import annotations

from tidelog.store.blocks import RankSum, RelationBlock, UpdateBlock
from tidelog.store.codes import (
    DONE,
    GOLDEN,
    GROW_LISTS,
    GROW_SUMS,
    MOST_DERIVATIONS,
    NEVER,
    PAUSE,
    PHASE_BUCKET,
    PHASE_EXTEND,
    PHASE_TELL,
)
from tidelog.store.kernels.access import address
from tidelog.store.kernels.insertion import insert_chunk
from tidelog.store.kernels.ranks import is_behind, key_state, number_of, pop_least, unranked
from tidelog.store.kernels.raw import inlined, kernel, ldw, lshr
from tidelog.store.kernels.signed_counts import derivations, push, remember, set_iteration
from tidelog.store.kernels.update import extend_indexes, tell_all


@inlined
def table_size(n: int) -> int:
    """Slots of a hash table for so many heads."""
    size = 16
    while size < 2 * n:
        size *= 2
    return size


@inlined
def sums_of(u: UpdateBlock) -> RankSum:
    """The sums of the rank at hand: behind a table that has room for all of them."""
    return RankSum(u.sums + (u.sums_capacity - 3 * (u.sums_capacity // 7)))


@kernel
def sum_offers(u: UpdateBlock) -> int:
    """Add up the counts of the rank at hand, head by head; how many heads."""
    size = table_size(u.npopped)
    table, sums, mask = u.sums, sums_of(u), size - 1
    for s in range(size):
        table[s] = 0
    n = 0
    for i in range(u.npopped):
        count = u.heap[u.nheap + i]
        head = (count.number << 32) | count.head
        s = lshr(head * GOLDEN, 20) & mask
        while table[s] != 0 and sums[table[s] - 1].head != head:
            s = (s + 1) & mask
        if table[s] == 0:
            sums[n].head, sums[n].more, sums[n].entered = head, 0, -1
            n += 1
            table[s] = n
        sums[table[s] - 1].more += count.more
    return n


# Rows of found keys


@inlined
def is_ahead_of_key(u: UpdateBlock, r: RelationBlock, key: int) -> bool:
    """Whether the rank at hand is less than that of a key, if it has one."""
    row = key_state(r, key).row - 1
    return row < 0 or is_behind(r.ranks[row].value, r.now[row], u.rank_value, u.rank_level)


@kernel
def enter_row(u: UpdateBlock, r: RelationBlock, key: int) -> int:
    """Enter the row of a key and the value at hand, if it is not known; its number is then in the last column of the
    entry. A status."""
    keys, entry, column = r.keys, u.entry, 0
    at = keys.rows + key * (keys.stride << (2 + keys.wide))
    for c in range(r.arity):
        if c == r.value_column:
            entry[c][0] = unranked(u.rank_value, r.order)
        else:
            entry[c][0] = ldw(at + (column << (2 + keys.wide)), keys.wide)
            column += 1
    n = r.arity
    status = insert_chunk(r, entry, 1, entry[n], entry[n + 1], entry[n + 2], entry[n + 3], 0)
    if status == DONE:
        row = entry[n + 3][0]
        r.ranks[row].value = u.rank_value
        r.ranks[row].key = key
    return status


@kernel
def enter_found(u: UpdateBlock) -> int:
    """Enter the rows of all keys that are about to be found; a status."""
    sums = sums_of(u)
    while u.entered < u.nsum:
        total = sums[u.entered]
        r, key = u.own[number_of(total.head)], total.head & 0xFFFFFFFF
        if r.keys and total.more > 0 and is_ahead_of_key(u, r, key):
            status = enter_row(u, r, key)
            if status != DONE:
                u.subject = address(r)
                return status
            total.entered = u.entry[r.arity + 3][0]
        u.entered += 1
    return DONE


# Settling


@inlined
def note(u: UpdateBlock, r: RelationBlock, row: int) -> None:
    """Note a row's state, so that it can be undone."""
    if not u.from_nothing:
        if r.value_log:
            r.value_log[r.log_length] = r.ranks[row].value
        remember(r, row)


@inlined
def move(u: UpdateBlock, r: RelationBlock, row: int, value: int, iteration: int, count: int) -> None:
    """Give a row another rank, or none; what it was just before is kept for this round."""
    state = r.ranks[row]
    state.was, state.was_value, state.stamp = r.now[row], state.value, u.round
    state.value = value
    r.derived[row] = count - 1
    if u.from_nothing:
        r.now[row] = iteration
    else:
        set_iteration(r, row, iteration)
    push(r.moved, row)


@inlined
def countable(r: RelationBlock, count: int) -> int:
    """The number of derivations, so far as it can be held."""
    if count > MOST_DERIVATIONS:
        r.overflow = 1
        return MOST_DERIVATIONS
    return count


@kernel
def settle_key(u: UpdateBlock, r: RelationBlock, key: int, more: int, entered: int) -> None:
    """What a key decides."""
    state = key_state(r, key)
    row, value, level = state.row - 1, u.rank_value, u.rank_level
    if row >= 0 and r.ranks[row].value == value and r.now[row] == level:
        note(u, r, row)
        count = countable(r, derivations(r, row) + more)
        if count == 0:
            move(u, r, row, value, NEVER, 0)
            state.row, state.lost = 0, u.round
            push(r.keys.lost, key)
        else:
            r.derived[row] = count - 1
    elif entered >= 0:
        if row >= 0 and row != entered:
            note(u, r, row)
            move(u, r, row, r.ranks[row].value, NEVER, 0)
        note(u, r, entered)
        move(u, r, entered, value, level, countable(r, more))
        state.row = entered + 1


@kernel
def settle_row(u: UpdateBlock, r: RelationBlock, row: int, more: int) -> None:
    """What a tuple of an ordinary relation decides."""
    value, level, now = u.rank_value, u.rank_level, r.now[row]
    known = r.ranks[row].value
    if now != NEVER and known == value and now == level:
        note(u, r, row)
        count = countable(r, derivations(r, row) + more)
        if count == 0:
            move(u, r, row, value, NEVER, 0)
            push(r.lost, row)
        else:
            r.derived[row] = count - 1
    elif more > 0 and (now == NEVER or is_behind(known, now, value, level)):
        note(u, r, row)
        move(u, r, row, value, level, countable(r, more))


@kernel
def settle_rank(u: UpdateBlock) -> None:
    """Make the rank at hand that of the new state."""
    sums = sums_of(u)
    for i in range(u.nsum):
        head, more = sums[i].head, sums[i].more
        if more != 0:
            r = u.own[number_of(head)]
            if r.keys:
                settle_key(u, r, head & 0xFFFFFFFF, more, sums[i].entered)
            else:
                settle_row(u, r, head & 0xFFFFFFFF, more)


@inlined
def has_no_room(r: RelationBlock, n: int) -> bool:
    """Whether so many rows do not fit into the lists and the log of a relation."""
    return n > r.list_capacity or r.log_length + n > r.log_capacity


@kernel
def next_rank(u: UpdateBlock) -> int:
    """Settle the least rank for which something waits; a status, or -1 when there is none."""
    if u.nsum == 0:
        if u.npopped == 0:
            if u.nheap == 0:
                return -1
            pop_least(u)
        u.need = 2 * u.npopped
        if 7 * u.npopped + 64 > u.sums_capacity:
            return GROW_SUMS
        for i in range(u.nown):
            r = u.own[i]
            u.subject = address(r)
            if has_no_room(r, u.need):
                return GROW_LISTS
            if r.keys:
                u.subject = address(r.keys)
                if has_no_room(r.keys, u.need):
                    return GROW_LISTS
        u.subject = 0
        u.round += 1
        u.bucket = 1
        u.nsum = sum_offers(u)
        u.work += u.npopped
        u.npopped, u.entered = 0, 0
    status = enter_found(u)
    if status != DONE:
        return status
    settle_rank(u)
    u.nsum = 0
    return DONE


@kernel
def run_rank_update(u: UpdateBlock) -> int:
    """Run, or go on running, an update of a stratum; a status."""
    while True:
        phase = u.phase
        if phase == PHASE_BUCKET:
            u.subject = 0
            if u.work > u.budget:
                return PAUSE
            status = next_rank(u)
            if status == -1:
                return DONE
            if status != DONE:
                return status
            u.phase = PHASE_EXTEND
        elif phase == PHASE_EXTEND:
            status = extend_indexes(u)
            if status != DONE:
                return status
            u.phase = PHASE_TELL
        else:
            status = tell_all(u)
            if status != DONE:
                return status
            u.phase = PHASE_BUCKET
