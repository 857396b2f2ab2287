"""Update of a stratum by signed counts, bucket by bucket (design section 4).

In round k each tuple settles by the count that has reached it in sum: one of iteration k that has no derivation left is
*lost*, one of a later iteration or of none is *found* in iteration k. Each tuple that moved then tells the derivations
in which it takes part, every derivation once, by the first of its atoms that moved: one less in the bucket behind its
level just before the round, one more in that behind its level after it. A lost tuple asks for its derivations again.
A head drops what reaches it for a bucket behind its iteration, and, if it was lost in this very round, all but the
answers to its own question.

A derivation's level is the greatest iteration of its body; tuples of lower strata are in iteration 0, and move in round
0. What is always true: iterations before the bucket at hand are those of Bootstrap on the new facts. Cost: some cache
misses for each derivation that a moved tuple takes part in, whatever the size of the state; 16 bytes for each count
that waits.
"""

from __future__ import annotations

from tidelog.store.blocks import (
    FoldOperation,
    PlanBlock,
    RelationBlock,
    RowList,
    Sum,
    TellOperation,
    UpdateBlock,
    Words,
)
from tidelog.store.codes import (
    DONE,
    GOLDEN,
    GROW_BUCKETS,
    GROW_WAITING,
    LOWER,
    MOST_DERIVATIONS,
    NEVER,
    OWN,
    TELL_EFFORT,
)
from tidelog.store.kernels.access import address
from tidelog.store.kernels.insertion import insert_chunk
from tidelog.store.kernels.membership import iteration_before, iteration_now, level_after, level_just_before
from tidelog.store.kernels.raw import inlined, kernel, lshr

# Telling


@inlined
def holds_at(level: int, role: int) -> int:
    """What one part of a body contributes to the level of its derivation: NEVER if the derivation fails here."""
    if role == OWN:
        return level
    return 0 if (level != NEVER) == (role == LOWER) else NEVER


@kernel
def fold_levels(p: PlanBlock, op: FoldOperation, m: int) -> int:
    """The levels of derivations just before the round and after it; chooses those where they differ, or, of derivations
    that are not complete, those that may hold."""
    befores, afters, chosen = op.before, op.after, p.chosen
    k = 0
    for i in range(m):
        before = NEVER if op.asked else 0
        after = 0
        if op.goes_on:
            before, after = op.since_before[i], op.since_after[i]
        for j in range(op.npart):
            part = op.parts[j]
            r, row, role = part.relation, part.rows[i], part.role
            after = max(after, holds_at(level_after(r, row) if row >= 0 else NEVER, role))
            if before != NEVER:
                before = max(before, holds_at(level_just_before(r, row) if row >= 0 else NEVER, role))
        befores[i], afters[i] = before, after
        if before != after or (op.last == 0 and after != NEVER):
            chosen[k] = i
            k += 1
    return k


@inlined
def accepts(r: RelationBlock, head: int, bucket: int, k: int, asked: int) -> bool:
    """Whether a head takes a count for a bucket."""
    now = iteration_now(r, head)
    if now == NEVER and iteration_before(r, head) == k:
        return asked != 0  # it was lost in this round
    return now >= bucket


@inlined
def wait(u: UpdateBlock, bucket: int, number: int, row: int, more: int) -> None:
    """Have a count wait in its bucket."""
    at = u.free
    if at != 0:
        u.free = u.waiting[at].next
    else:
        at = u.nwaiting
        u.nwaiting = at + 1
    count, place = u.waiting[at], u.buckets[bucket]
    count.next, count.number, count.row, count.more = place.first, number, row, more
    place.first = at
    place.count += 1


@kernel
def tell_chunk(p: PlanBlock, op: TellOperation, m: int) -> int:
    """Tell the heads of a chunk of derivations; a status."""
    u, r, befores, afters = op.update, op.relation, op.before, op.after
    if u.nwaiting + 2 * m > u.waiting_capacity:
        u.need = 2 * m
        return GROW_WAITING
    highest = 0
    for i in range(m):
        if befores[i] != NEVER:
            highest = max(highest, befores[i] + 1)
        if afters[i] != NEVER:
            highest = max(highest, afters[i] + 1)
    if highest >= u.nbucket:
        u.need = highest
        return GROW_BUCKETS
    p.subject = address(r)
    heads = p.slots
    status = insert_chunk(r, op.columns, m, p.keys, p.sources, p.chosen, heads, 0)
    if status != DONE:
        return status
    if highest > u.highest:
        u.highest = highest
    for i in range(m):
        before, after = befores[i], afters[i]
        if before != NEVER and accepts(r, heads[i], before + 1, u.bucket, op.asked):
            wait(u, before + 1, op.number, heads[i], -1)
        if after != NEVER and accepts(r, heads[i], after + 1, u.bucket, op.asked):
            wait(u, after + 1, op.number, heads[i], 1)
    p.derivations += m
    p.effort += m * TELL_EFFORT
    return DONE


# Settling


@inlined
def derivations(r: RelationBlock, row: int) -> int:
    return r.derived[row] + 1


@inlined
def set_iteration(r: RelationBlock, row: int, iteration: int) -> None:
    """Change the iteration of a row; what it was before the update is kept."""
    if r.before[row] == 0:
        r.before[row] = ~iteration_now(r, row)
    r.now[row] = iteration


@inlined
def remember(r: RelationBlock, row: int) -> None:
    """Note a row's state before it is changed."""
    note = r.log[r.log_length]
    note.row, note.iteration, note.derivations = row, iteration_now(r, row), derivations(r, row)
    r.log_length += 1


@inlined
def push(listed: RowList, row: int) -> None:
    listed.rows[listed.count] = row
    listed.count += 1


@kernel
def sum_bucket(u: UpdateBlock, k: int, table: Words, mask: int, sums: Sum) -> int:
    """Add up the counts of a bucket, row by row, in the order in which rows are met; how many rows."""
    at, n = u.buckets[k].first, 0
    while at != 0:
        count = u.waiting[at]
        row = (count.number << 32) | count.row
        s = lshr(row * GOLDEN, 20) & mask
        while table[s] != 0 and sums[table[s] - 1].row != row:
            s = (s + 1) & mask
        if table[s] == 0:
            sums[n].row, sums[n].more = row, 0
            n += 1
            table[s] = n
        sums[table[s] - 1].more += count.more
        following = count.next
        count.next = u.free
        u.free = at
        at = following
    return n


@kernel
def settle_bucket(u: UpdateBlock, k: int) -> None:
    """Make iteration k that of the new state; list the rows of each relation that moved, and those that were lost."""
    size = 16
    while size < 2 * u.buckets[k].count:
        size *= 2
    table = u.sums
    for s in range(size):
        table[s] = 0
    sums = Sum(table + size)
    for i in range(sum_bucket(u, k, table, size - 1, sums)):
        r, row, more = u.own[lshr(sums[i].row, 32)], sums[i].row & 0xFFFFFFFF, sums[i].more
        now = iteration_now(r, row)
        if more == 0 or now < k:
            continue
        remember(r, row)
        if now == k:
            more += derivations(r, row)
        if more > MOST_DERIVATIONS:
            r.overflow = 1
            more = MOST_DERIVATIONS
        r.derived[row] = more - 1
        if more == 0:
            set_iteration(r, row, NEVER)
            push(r.lost, row)
            push(r.moved, row)
        elif now != k:
            set_iteration(r, row, k)
            push(r.moved, row)
