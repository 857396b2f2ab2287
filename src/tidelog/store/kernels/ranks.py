"""Ranks: what iterations are to an update by signed counts, they are where only the best value of a key counts.

A rank is a value and a level. Values are numbers of which less is better, whatever they are to the user (`ranked`);
levels are held as iterations, one more than the level, so that 0 is a fact. Let (v, l) be the greatest rank in the body
of a derivation, and f the value that it gives its head: its rank is (f, 1) if f is worse than v, and (f, l + 1) if they
are equal. If f is better, the stratum is not what it was taken for, and the plan stops (NOT_WORSE). The head of an
ordinary relation of the stratum has no value of its own: v is its hidden one.

A derivation is a match of rows, so a key that gets another value is two rows that move: one that goes and one that
comes. What is always true: a rank is greater than each rank in its body; of a key at most one row is there. Cost: some
cache misses for each derivation, and the depth of the heap; 24 bytes for each count that waits.
"""

from __future__ import annotations

from tidelog.store.blocks import (
    KeyState,
    Offered,
    OfferOperation,
    PlanBlock,
    RankOperation,
    RelationBlock,
    UpdateBlock,
    Words,
)
from tidelog.store.codes import (
    DONE,
    FLOAT,
    GROW_HEAP,
    LEAST_VALUE,
    LOWER,
    NAN,
    NEVER,
    OWN,
    TELL_EFFORT,
    TOP,
    UNSIGNED,
)
from tidelog.store.kernels.access import address
from tidelog.store.kernels.insertion import insert_chunk
from tidelog.store.kernels.membership import level_after, level_just_before, moved_in_round
from tidelog.store.kernels.raw import inlined, kernel, lshr

MAGNITUDE = 0x7FFFFFFFFFFFFFFF


@inlined
def ranked(word: int, order: int) -> int:
    """The value of a word, of which less is better."""
    kind = order >> 1
    if kind == UNSIGNED:
        word ^= TOP
    elif kind == FLOAT and word < 0:
        word ^= MAGNITUDE
    return ~word if order & 1 else word


@inlined
def unranked(value: int, order: int) -> int:
    """The word of a value."""
    kind = order >> 1
    word = ~value if order & 1 else value
    if kind == UNSIGNED:
        return word ^ TOP
    return word ^ MAGNITUDE if kind == FLOAT and word < 0 else word


@inlined
def is_behind(value: int, level: int, other_value: int, other_level: int) -> bool:
    """Whether a rank is greater than another."""
    return value > other_value or (value == other_value and level > other_level)


# The rank of a derivation


@inlined
def holds(role: int, level: int) -> bool:
    """Whether a part of a lower stratum, or a negated one, holds."""
    return (level != NEVER) == (role == LOWER)


@inlined
def head_level(value: int, worst: int, level: int) -> int:
    return level + 1 if value == worst else 1


@kernel
def fold_ranks(p: PlanBlock, op: RankOperation, m: int) -> int:
    """The ranks of derivations just before the round and after it; chooses those where they differ. -1: one of them is
    better than its body, or its value is no number (then the functor of the fault is 1)."""
    chosen = p.chosen
    k = 0
    for i in range(m):
        before, after, was_there, is_there = 0, 0, op.asked == 0, True
        before_value, after_value = LEAST_VALUE, LEAST_VALUE
        for j in range(op.npart):
            part = op.parts[j]
            r, row, role = part.relation, part.rows[i], part.role
            if role == OWN:
                state, now = r.ranks[row], r.now[row]
                if now == NEVER:
                    is_there = False
                elif is_behind(state.value, now, after_value, after):
                    after_value, after = state.value, now
                if was_there:
                    was, was_value = now, state.value
                    if moved_in_round(r, row):
                        was, was_value = state.was, state.was_value
                    if was == NEVER:
                        was_there = False
                    elif is_behind(was_value, was, before_value, before):
                        before_value, before = was_value, was
            else:
                is_there = is_there and holds(role, level_after(r, row) if row >= 0 else NEVER)
                was_there = was_there and holds(role, level_just_before(r, row) if row >= 0 else NEVER)
        if not (is_there or was_there):
            continue
        if op.value:
            word = op.value[i]
            value = ranked(word, op.order)
            not_a_number = (op.order >> 1) == FLOAT and word == NAN
            if not_a_number or (is_there and value < after_value) or (was_there and value < before_value):
                p.fault_left, p.fault_right, p.fault_functor = i, after_value, int(not_a_number)
                return -1
            before, after = head_level(value, before_value, before), head_level(value, after_value, after)
            before_value, after_value = value, value
        else:
            before, after = before + 1, after + 1
        if not was_there:
            before = NEVER
        if not is_there:
            after = NEVER
        op.before_value[i], op.before[i] = before_value, before
        op.after_value[i], op.after[i] = after_value, after
        if before != after or before_value != after_value:
            chosen[k] = i
            k += 1
    return k


# A heap of counts, the least rank first, four below each


@inlined
def put(at: Offered, offer: Offered) -> None:
    target, source = Words(address(at)), Words(address(offer))
    target[0], target[1], target[2] = source[0], source[1], source[2]


@inlined
def wait_for(u: UpdateBlock, value: int, level: int, number: int, head: int, more: int) -> None:
    """Have a count wait for its rank."""
    heap, i = u.heap, u.nheap
    u.nheap = i + 1
    while i > 0:
        above = heap[(i - 1) >> 2]
        if not is_behind(above.value, above.level, value, level):
            break
        put(heap[i], above)
        i = (i - 1) >> 2
    offer = heap[i]
    offer.value, offer.level, offer.number, offer.head, offer.more = value, level, number, head, more


@kernel
def pop(u: UpdateBlock) -> None:
    """Take the first out of the heap; it is then behind it."""
    heap = u.heap
    n = u.nheap - 1
    u.nheap = n
    first, last = Words(address(heap[0])), Words(address(heap[n]))
    a, b, c = first[0], first[1], first[2]
    value, level = heap[n].value, heap[n].level
    i = 0
    while 4 * i + 1 < n:
        least = 4 * i + 1
        for other in range(least + 1, min(least + 4, n)):
            if is_behind(heap[least].value, heap[least].level, heap[other].value, heap[other].level):
                least = other
        if not is_behind(value, level, heap[least].value, heap[least].level):
            break
        put(heap[i], heap[least])
        i = least
    if i != n:
        put(heap[i], heap[n])
    last[0], last[1], last[2] = a, b, c


@kernel
def pop_least(u: UpdateBlock) -> None:
    """Take all counts of the least rank out of the heap."""
    value, level, n = u.heap[0].value, u.heap[0].level, 0
    while u.nheap > 0 and u.heap[0].value == value and u.heap[0].level == level:
        pop(u)
        n += 1
    u.rank_value, u.rank_level, u.npopped = value, level, n


# Telling


@inlined
def key_state(r: RelationBlock, key: int) -> KeyState:
    """The state of a key of a relation."""
    return KeyState(address(r.keys.ranks[key]))


@inlined
def accepts_key(u: UpdateBlock, r: RelationBlock, key: int, value: int, level: int, asked: int) -> bool:
    """Whether a key takes a count for a rank."""
    state = key_state(r, key)
    if state.row == 0:
        if u.from_nothing:
            if state.level != 0 and is_behind(value, level, state.value, state.level):
                return False
            state.value, state.level = value, level
            return True
        return state.lost != u.round or asked != 0
    row = state.row - 1
    return not is_behind(value, level, r.ranks[row].value, r.now[row])


@inlined
def accepts_row(u: UpdateBlock, r: RelationBlock, row: int, value: int, level: int, asked: int) -> bool:
    """Whether a tuple of an ordinary relation takes a count for a rank."""
    now = r.now[row]
    if now == NEVER:
        return r.ranks[row].was == NEVER or not moved_in_round(r, row) or asked != 0
    return not is_behind(value, level, r.ranks[row].value, now)


@inlined
def offer(u: UpdateBlock, op: OfferOperation, head: int, value: int, level: int, more: int) -> None:
    """Tell one head."""
    if level == NEVER:
        return
    r = op.head
    taken = False
    if r.keys:
        taken = accepts_key(u, r, head, value, level, op.asked)
    else:
        taken = accepts_row(u, r, head, value, level, op.asked)
    if taken:
        wait_for(u, value, level, op.number, head, more)


@kernel
def offer_chunk(p: PlanBlock, op: OfferOperation, m: int) -> int:
    """Tell the heads of a chunk of derivations; a status."""
    u = op.update
    if u.nheap + 2 * m > u.heap_capacity:
        u.need = 2 * m
        return GROW_HEAP
    p.subject = address(op.relation)
    heads = p.slots
    status = insert_chunk(op.relation, op.columns, m, p.keys, p.sources, p.chosen, heads, 0)
    if status != DONE:
        return status
    for i in range(m):
        offer(u, op, heads[i], op.before_value[i], op.before[i], -1)
        offer(u, op, heads[i], op.after_value[i], op.after[i], 1)
    p.derivations += m
    p.effort += m * TELL_EFFORT
    return DONE


@inlined
def number_of(head: int) -> int:
    """The number of the relation of a head."""
    return lshr(head, 32)
