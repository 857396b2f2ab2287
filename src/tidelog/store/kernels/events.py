"""Update of a stratum by events: departures and arrivals of derivations, bucket by bucket (design section 4).

A tuple is in the state before the update in iteration BEFORE_NOW, and in the state that the update makes in iteration
NOW; where they differ it has changed. A derivation's level is the greatest iteration of its body. It counts towards
its head where the head's iteration is its level + 1. When tuples change, plans enumerate

- the derivations of the state before that they took part in: each is a departure, filed under its old level + 1;
- the derivations that they take part in now: arrivals, filed under their level, as known so far, + 1;
- for a tuple that lost all derivations of its iteration, those that it still has, found from the head: arrivals too.

`settle_bucket` then takes bucket k, when everything of an iteration < k is final: a departure whose derivation still
has level k - 1 has not gone; an arrival whose level has moved is dropped, since what moved it filed it again; each
derivation is counted once, however often it was filed. What is always true: iterations before the bucket at hand are
those of Bootstrap on the new facts. Cost: some cache misses per event, whatever the size of the state.
"""

from __future__ import annotations

from tidelog.store.kernels.identity import insert_chunk
from tidelog.store.kernels.membership import find_rows, iteration_before, iteration_in, iteration_now
from tidelog.store.kernels.raw import inlined, kernel, ld32, ld64, lshr, st32, st64
from tidelog.store.layout import (
    ARRIVALS,
    BEFORE_NOW,
    BUCKET_BYTES,
    DEPARTURES,
    DONE,
    FILE_EFFORT,
    GOLDEN,
    GROW_BUCKETS,
    GROW_EVENTS,
    LOWER,
    NARRIVAL,
    NDEPARTURE,
    NEVER,
    NOW,
    O_A,
    O_B,
    O_CHECKS,
    O_CODE,
    O_KEYS,
    O_NCHECK,
    O_RELATION,
    O_TARGET,
    OWN,
    P_CHOSEN,
    P_DERIVATIONS,
    P_EFFORT,
    P_KEYS,
    P_SLOTS,
    P_SOURCES,
    P_SUBJECT,
    PART_BYTES,
    R_BEFORE,
    R_CAME,
    R_DERIVED,
    R_LEFT,
    R_LOG,
    R_LOST,
    R_NCAME,
    R_NLEFT,
    R_NLOG,
    R_NLOST,
    R_NOW,
    RECORD,
    U_ARENA,
    U_ARENA_CAPACITY,
    U_ARENA_USED,
    U_BUCKET,
    U_BUCKETS,
    U_FREE,
    U_HIGHEST,
    U_LONGEST,
    U_NBUCKET,
    U_NEED,
    U_NOWN,
    U_OPS,
    U_OWN,
    U_SEEN,
    VALUE,
)


@inlined
def set_iteration(r: int, row: int, iteration: int) -> None:
    """Change the iteration of a row; what it was before the update is kept."""
    at = ld64(r + R_BEFORE) + row * 4
    if ld32(at) == 0:
        st32(at, ~iteration_now(r, row))
    st32(ld64(r + R_NOW) + row * 4, iteration)


@inlined
def derivations(r: int, row: int) -> int:
    return ld32(ld64(r + R_DERIVED) + row * 4) + 1


@inlined
def set_derivations(r: int, row: int, number: int) -> None:
    st32(ld64(r + R_DERIVED) + row * 4, number - 1)


@inlined
def level_of(r: int, row: int, role: int, which: int) -> int:
    """What one part of a body contributes to the level of its derivation: NEVER if the derivation fails here."""
    if role == OWN:
        return iteration_in(r, row, which)
    if role == VALUE:
        return 0
    there = row >= 0 and iteration_in(r, row, which) != NEVER
    return 0 if there == (role == LOWER) else NEVER


# Filing


@inlined
def take_record(u: int, words: int) -> int:
    """A record of so many words: one that has been settled, if there is one, or the next in the arena."""
    if words < U_LONGEST:
        at = ld64(u + U_FREE + words * 8)
        if at != 0:
            st64(u + U_FREE + words * 8, ld32(ld64(u + U_ARENA) + at * 4))
            return at
    at = ld64(u + U_ARENA_USED)
    st64(u + U_ARENA_USED, at + words)
    return at


@inlined
def leave_record(u: int, at: int, words: int) -> int:
    """Let a record be used again; the next of its chain. The rest of its bucket may still be compared with it: only the
    link is written."""
    record = ld64(u + U_ARENA) + at * 4
    following = ld32(record)
    if words < U_LONGEST:
        st32(record, ld64(u + U_FREE + words * 8))
        st64(u + U_FREE + words * 8, at)
    return following


@kernel
def file_chunk(p: int, op: int, m: int) -> int:
    """File the derivations of a chunk as departures (O_CODE 0) or arrivals (1); a status."""
    u, r, arriving = ld64(op + O_TARGET), ld64(op + O_RELATION), ld64(op + O_CODE)
    nbody, parts = ld64(op + O_NCHECK), ld64(op + O_CHECKS)
    words = RECORD + nbody
    if ld64(u + U_ARENA_USED) + m * words > ld64(u + U_ARENA_CAPACITY):
        st64(u + U_NEED, m * words)
        return GROW_EVENTS
    heads, buckets = ld64(p + P_SLOTS), ld64(p + P_SOURCES)
    if arriving:
        st64(p + P_SUBJECT, r)
        status = insert_chunk(r, ld64(op + O_KEYS), m, ld64(p + P_KEYS), buckets, ld64(p + P_CHOSEN), heads, 0)
        if status != DONE:
            return status
    else:
        find_rows(r, ld64(op + O_KEYS), m, ld64(p + P_KEYS), heads)
    highest = 0
    for i in range(m):
        bucket = place_event(u, r, ld64(heads + i * 8), arriving, parts, nbody, i)
        st64(buckets + i * 8, bucket)
        highest = max(highest, bucket)
    if highest >= ld64(u + U_NBUCKET):
        st64(u + U_NEED, highest)
        return GROW_BUCKETS
    if highest > ld64(u + U_HIGHEST):
        st64(u + U_HIGHEST, highest)
    first = ARRIVALS if arriving else DEPARTURES
    number = NARRIVAL if arriving else NDEPARTURE
    arena = ld64(u + U_ARENA)
    for i in range(m):
        bucket = ld64(buckets + i * 8)
        if bucket > 0:
            place = ld64(u + U_BUCKETS) + bucket * BUCKET_BYTES
            at = take_record(u, words)
            record = arena + at * 4
            st32(record, ld64(place + first))
            st32(record + 4, ld64(op + O_B))
            st32(record + 8, ld64(heads + i * 8))
            for j in range(nbody):
                st32(record + (RECORD + j) * 4, ld64(ld64(parts + j * PART_BYTES) + i * 8))
            st64(place + first, at)
            st64(place + number, ld64(place + number) + 1)
    st64(p + P_DERIVATIONS, ld64(p + P_DERIVATIONS) + m)
    st64(p + P_EFFORT, ld64(p + P_EFFORT) + m * FILE_EFFORT)
    return DONE


@kernel
def place_event(u: int, r: int, head: int, arriving: int, parts: int, nbody: int, i: int) -> int:
    """The bucket in which derivation i is to be looked at, or 0 if it cannot matter."""
    if head < 0:
        return 0
    level, which = 0, NOW if arriving else BEFORE_NOW
    for j in range(nbody):
        part = parts + j * PART_BYTES
        level = max(level, level_of(ld64(part + 8), ld64(ld64(part) + i * 8), ld64(part + 16), which))
    bucket = level + 1
    if not arriving:
        return bucket if iteration_before(r, head) == bucket else 0
    if level == NEVER or bucket <= ld64(u + U_BUCKET) or iteration_now(r, head) < bucket:
        return 0  # a head that is found earlier looks for all its derivations, should it be lost
    if iteration_before(r, head) == bucket:
        level = 0
        for j in range(nbody):
            part = parts + j * PART_BYTES
            level = max(level, level_of(ld64(part + 8), ld64(ld64(part) + i * 8), ld64(part + 16), BEFORE_NOW))
        if level == bucket - 1:
            return 0  # it counted before, and still does
    return bucket


# Settling


@inlined
def present_level(op: int, record: int) -> int:
    """The level that a filed derivation has now."""
    nbody, parts = ld64(op + O_NCHECK), ld64(op + O_CHECKS)
    level = 0
    for j in range(nbody):
        part = parts + j * PART_BYTES
        level = max(level, level_of(ld64(part + 8), ld32(record + (RECORD + j) * 4), ld64(part + 16), NOW))
    return level


@kernel
def seen_before(u: int, op: int, record: int, at: int, mask: int) -> bool:
    """Whether this derivation (rule and rows) was met in this bucket already; enters it."""
    nbody, rule = ld64(op + O_NCHECK), ld64(op + O_A)
    seen, arena, ops = ld64(u + U_SEEN), ld64(u + U_ARENA), ld64(u + U_OPS)
    h = rule * GOLDEN
    for j in range(nbody):
        h = (h ^ ld32(record + (RECORD + j) * 4)) * GOLDEN
        h ^= lshr(h, 29)
    s = lshr(h * GOLDEN, 20) & mask
    while True:
        other = ld64(seen + s * 8)
        if other == 0:
            st64(seen + s * 8, at)
            return False
        there = arena + other * 4
        same = ld64(ld64(ops + ld32(there + 4) * 8) + O_A) == rule
        for j in range(nbody):
            if not same:
                break
            same = ld32(there + (RECORD + j) * 4) == ld32(record + (RECORD + j) * 4)
        if same:
            return True
        s = (s + 1) & mask


@inlined
def forget_seen(u: int, n: int) -> int:
    """Clear the part of the table that n events need; gives its mask."""
    size = 16
    while size < 2 * n:
        size *= 2
    for s in range(size):
        st64(ld64(u + U_SEEN) + s * 8, 0)
    return size - 1


@inlined
def remember(r: int, row: int) -> None:
    """Note a row's state before it is changed."""
    n = ld64(r + R_NLOG)
    at = ld64(r + R_LOG) + n * 12
    st32(at, row)
    st32(at + 4, iteration_now(r, row))
    st32(at + 8, derivations(r, row))
    st64(r + R_NLOG, n + 1)


@inlined
def push(r: int, rows: int, count: int, row: int) -> None:
    n = ld64(r + count)
    st64(ld64(r + rows) + n * 8, row)
    st64(r + count, n + 1)


@kernel
def settle_departures(u: int, k: int) -> None:
    """Take what has gone off the counts; a tuple whose count becomes zero is lost, unless something arrives."""
    place = ld64(u + U_BUCKETS) + k * BUCKET_BYTES
    arena, ops, mask = ld64(u + U_ARENA), ld64(u + U_OPS), forget_seen(u, ld64(place + NDEPARTURE))
    at = ld64(place + DEPARTURES)
    while at != 0:
        record = arena + at * 4
        op, row = ld64(ops + ld32(record + 4) * 8), ld32(record + 8)
        r = ld64(op + O_RELATION)
        if (
            iteration_now(r, row) == k
            and present_level(op, record) != k - 1
            and not seen_before(u, op, record, at, mask)
        ):
            remember(r, row)
            count = derivations(r, row) - 1
            set_derivations(r, row, count)
            if count == 0:
                push(r, R_LOST, R_NLOST, row)
        at = leave_record(u, at, RECORD + ld64(op + O_NCHECK))


@kernel
def settle_arrivals(u: int, k: int) -> None:
    """Count what has arrived: for a tuple of this iteration, or one that is now found in it."""
    place = ld64(u + U_BUCKETS) + k * BUCKET_BYTES
    arena, ops, mask = ld64(u + U_ARENA), ld64(u + U_OPS), forget_seen(u, ld64(place + NARRIVAL))
    at = ld64(place + ARRIVALS)
    while at != 0:
        record = arena + at * 4
        op, row = ld64(ops + ld32(record + 4) * 8), ld32(record + 8)
        r = ld64(op + O_RELATION)
        now = iteration_now(r, row)
        if now >= k and present_level(op, record) == k - 1 and not seen_before(u, op, record, at, mask):
            remember(r, row)
            if now == k:
                set_derivations(r, row, derivations(r, row) + 1)
            else:
                if now != NEVER:
                    push(r, R_LEFT, R_NLEFT, row)  # it leaves a later iteration
                set_iteration(r, row, k)
                set_derivations(r, row, 1)
                push(r, R_CAME, R_NCAME, row)
        at = leave_record(u, at, RECORD + ld64(op + O_NCHECK))


@kernel
def settle_bucket(u: int, k: int) -> None:
    """Make iteration k that of the new state; list the rows of each relation that left, came or were lost."""
    settle_departures(u, k)
    settle_arrivals(u, k)
    for i in range(ld64(u + U_NOWN)):
        r = ld64(ld64(u + U_OWN) + i * 8)
        kept, lost = 0, ld64(r + R_LOST)
        for j in range(ld64(r + R_NLOST)):
            row = ld64(lost + j * 8)
            if derivations(r, row) == 0:
                set_iteration(r, row, NEVER)
                push(r, R_LEFT, R_NLEFT, row)
                st64(lost + kept * 8, row)
                kept += 1
        st64(r + R_NLOST, kept)
