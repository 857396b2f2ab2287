"""Sources of bindings: fill the next chunk of a level from a relation, an index, or a range of numbers.

Each keeps its place in its level block (cursor: row or binding; position: entry within a segment), so that a full
chunk can be worked off before the next is made. A probe first finds the segments of all bindings of the chunk above
(hash, prefetch, look up), then lists (binding, entry) pairs, then copies column by column. What is always true: a
chunk holds at most P_CHUNK bindings; a source that gives 0 is exhausted. Cost: per binding, a few copies in L1.
"""

from __future__ import annotations

from tidelog.store.kernels.arithmetic import compare, less
from tidelog.store.kernels.lookup import find_segments
from tidelog.store.kernels.membership import iteration_in
from tidelog.store.kernels.raw import as_bits, as_float, fetch_add, inlined, kernel, ld64, ldw, prefetch, st64
from tidelog.store.layout import (
    CHECK_BYTES,
    CHECK_COLUMN,
    CHECK_ROW,
    CHECK_SAME,
    CHECK_STATE,
    CROSS,
    DELTA,
    FLOAT,
    L_CARRY,
    L_CHECKS,
    L_COUNT,
    L_CURSOR,
    L_INDEX,
    L_KEYS,
    L_KIND,
    L_LENGTHS,
    L_NCARRY,
    L_NCHECK,
    L_NKEY,
    L_NOUT,
    L_OUTS,
    L_POSITION,
    L_READY,
    L_RELATION,
    L_SEGMENTS,
    L_SHARED,
    L_SIZE,
    L_SORT_COLUMN,
    L_SORT_HIGH,
    L_SORT_KIND,
    L_SORT_LOW,
    L_STOP,
    L_TARGET,
    L_VIEW,
    LEFT,
    LIST,
    NEVER,
    OLD,
    P_CHOSEN,
    P_CHUNK,
    P_ENTRIES,
    P_KEYS,
    P_SOURCES,
    R_CAME,
    R_DELTA_START,
    R_DELTA_STOP,
    R_LEFT,
    R_ROWS,
    R_STRIDE,
    R_WIDE,
    RANGE,
    ROW,
    SCAN,
    THROUGH_ROW,
    UNIT,
    X_ARENA,
    X_NVALUE,
    X_RELATION,
)


@kernel
def passes(entry: int, wide: int, i: int, checks: int, n: int) -> bool:
    """Whether an entry meets all checks for binding i."""
    for c in range(n):
        at = checks + c * CHECK_BYTES
        kind = ld64(at)
        if kind == CHECK_ROW:
            r = ld64(at + 16)
            row = (entry - ld64(r + R_ROWS)) // (ld64(r + R_STRIDE) << (2 + wide))
            if iteration_in(r, row, ld64(at + 24)) == NEVER:
                return False
            continue
        v = ldw(entry + (ld64(at + 8) << (2 + wide)), wide)
        if kind == CHECK_SAME:
            if v != ldw(entry + (ld64(at + 16) << (2 + wide)), wide):
                return False
        elif kind == CHECK_COLUMN:
            if v != ld64(ld64(at + 16) + i * 8):
                return False
        elif kind == CHECK_STATE:
            if iteration_in(ld64(at + 16), v, ld64(at + 24)) == NEVER:
                return False
        elif not compare(ld64(at + 24), v, ld64(ld64(at + 16) + i * 8), ld64(at + 32)):
            return False
    return True


@inlined
def view_start(r: int, view: int) -> int:
    if view == DELTA:
        return ld64(r + R_DELTA_START)
    return 0


@inlined
def view_stop(r: int, view: int) -> int:
    if view == OLD:
        return ld64(r + R_DELTA_START)
    return ld64(r + R_DELTA_STOP)


@kernel
def open_level(p: int, level: int) -> None:
    """Begin a level: nothing taken yet."""
    st64(level + L_CURSOR, 0)
    st64(level + L_POSITION, 0)
    st64(level + L_READY, 0)
    kind = ld64(level + L_KIND)
    if kind == SCAN:
        r, view = ld64(level + L_RELATION), ld64(level + L_VIEW)
        st64(level + L_CURSOR, view_start(r, view))
        st64(level + L_STOP, view_stop(r, view))


@kernel
def number_rows(r: int, entries: int, k: int, column: int) -> None:
    """The row numbers of k rows, given by address."""
    rows, stride = ld64(r + R_ROWS), ld64(r + R_STRIDE) << (2 + ld64(r + R_WIDE))
    for j in range(k):
        st64(column + j * 8, (ld64(entries + j * 8) - rows) // stride)


@kernel
def copy_through_rows(r: int, entries: int, k: int, at: int, column: int) -> None:
    """Copy a column (at so many bytes in a row) of the rows that k index entries name, which is the first thing in an
    entry with a row number."""
    rows, wide = ld64(r + R_ROWS), ld64(r + R_WIDE)
    stride = ld64(r + R_STRIDE) << (2 + wide)
    for j in range(k):
        value = rows + ldw(ld64(entries + j * 8), wide) * stride + at
        prefetch(value)
        st64(column + j * 8, value)
    for j in range(k):
        st64(column + j * 8, ldw(ld64(column + j * 8), wide))


@kernel
def copy_entries(level: int, entries: int, k: int, wide: int) -> None:
    """Copy the output columns of k entries, given by address."""
    outs = ld64(level + L_OUTS)
    for o in range(ld64(level + L_NOUT)):
        place, column = ld64(outs + o * 16), ld64(outs + o * 16 + 8)
        at = place << (2 + wide)
        if place == ROW:
            number_rows(ld64(level + L_RELATION), entries, k, column)
        elif place < 0:
            copy_through_rows(ld64(level + L_RELATION), entries, k, (THROUGH_ROW - place) << (2 + wide), column)
        elif wide:
            for j in range(k):
                st64(column + j * 8, ldw(ld64(entries + j * 8) + at, 1))
        else:
            for j in range(k):
                st64(column + j * 8, ldw(ld64(entries + j * 8) + at, 0))


@kernel
def scan_rows(p: int, level: int) -> int:
    """The next rows of a view, or of this thread's share of it."""
    r = ld64(level + L_RELATION)
    wide, rows = ld64(r + R_WIDE), ld64(r + R_ROWS)
    stride, chunk = ld64(r + R_STRIDE) << (2 + wide), ld64(p + P_CHUNK)
    ncheck, checks, entries = ld64(level + L_NCHECK), ld64(level + L_CHECKS), ld64(p + P_ENTRIES)
    shared = ld64(level + L_SHARED)
    while True:
        stop = ld64(level + L_STOP)
        if shared:
            cursor = fetch_add(shared, chunk)
        else:
            cursor = ld64(level + L_CURSOR)
            st64(level + L_CURSOR, cursor + chunk)
        m = min(chunk, stop - cursor)
        if m <= 0:
            return 0
        first = rows + cursor * stride
        if ncheck == 0:
            outs = ld64(level + L_OUTS)
            for o in range(ld64(level + L_NOUT)):
                at, column = first + (ld64(outs + o * 16) << (2 + wide)), ld64(outs + o * 16 + 8)
                if ld64(outs + o * 16) == ROW:
                    for j in range(m):
                        st64(column + j * 8, cursor + j)
                else:
                    for j in range(m):
                        st64(column + j * 8, ldw(at + j * stride, wide))
            return m
        k = 0
        for j in range(m):
            entry = first + j * stride
            if passes(entry, wide, 0, checks, ncheck):
                st64(entries + k * 8, entry)
                k += 1
        if k > 0:
            copy_entries(level, entries, k, wide)
            return k


@kernel
def list_rows(p: int, level: int) -> int:
    """The next of a relation's rows that left, came or were lost."""
    r, view = ld64(level + L_RELATION), ld64(level + L_VIEW)
    wide, rows = ld64(r + R_WIDE), ld64(r + R_ROWS)
    stride, chunk = ld64(r + R_STRIDE) << (2 + wide), ld64(p + P_CHUNK)
    ncheck, checks, entries = ld64(level + L_NCHECK), ld64(level + L_CHECKS), ld64(p + P_ENTRIES)
    place = R_LEFT + (view - LEFT) * (R_CAME - R_LEFT)
    numbers, n = ld64(r + place), ld64(r + place + 8)
    cursor, k = ld64(level + L_CURSOR), 0
    while cursor < n and k < chunk:
        entry = rows + ld64(numbers + cursor * 8) * stride
        if ncheck == 0 or passes(entry, wide, 0, checks, ncheck):
            st64(entries + k * 8, entry)
            k += 1
        cursor += 1
    st64(level + L_CURSOR, cursor)
    copy_entries(level, entries, k, wide)
    return k


@inlined
def word_at(base: int, nword: int, column: int, j: int, wide: int) -> int:
    return ldw(base + ((j * nword + column) << (2 + wide)), wide)


@kernel
def narrow_segments(level: int, arena: int, wide: int, nword: int, m: int) -> None:
    """Cut sorted segments to the entries between the bounds: two binary searches per binding."""
    column, kind = ld64(level + L_SORT_COLUMN), ld64(level + L_SORT_KIND)
    low, high = ld64(level + L_SORT_LOW), ld64(level + L_SORT_HIGH)
    low_strict, high_strict = low & 1, high & 1
    low, high = low & ~1, high & ~1
    offsets, lengths = ld64(level + L_SEGMENTS), ld64(level + L_LENGTHS)
    for i in range(m):
        first, stop = 0, ld64(lengths + i * 8)
        base = arena + (ld64(offsets + i * 8) << (2 + wide))
        if low:
            limit, b = ld64(low + i * 8), stop
            while first < b:
                mid = (first + b) >> 1
                v = word_at(base, nword, column, mid, wide)
                if less(v, limit, kind) or (low_strict and v == limit):
                    first = mid + 1
                else:
                    b = mid
        if high:
            limit, a = ld64(high + i * 8), first
            while a < stop:
                mid = (a + stop) >> 1
                v = word_at(base, nword, column, mid, wide)
                if less(limit, v, kind) or (high_strict and v == limit):
                    stop = mid
                else:
                    a = mid + 1
        st64(offsets + i * 8, ld64(offsets + i * 8) + first * nword)
        st64(lengths + i * 8, max(stop - first, 0))


@kernel
def probe_chunk(p: int, level: int, m: int) -> int:
    """The next (binding, entry) pairs of a probe of the m bindings above, through an index or (CROSS) all rows."""
    offsets, lengths = ld64(level + L_SEGMENTS), ld64(level + L_LENGTHS)
    x = ld64(level + L_INDEX)
    if ld64(level + L_KIND) == CROSS:
        r = ld64(level + L_RELATION)
        base, nword, wide = ld64(r + R_ROWS), ld64(r + R_STRIDE), ld64(r + R_WIDE)
        if ld64(level + L_READY) == 0:
            start, stop = view_start(r, ld64(level + L_VIEW)), view_stop(r, ld64(level + L_VIEW))
            for i in range(m):
                st64(offsets + i * 8, start * nword)
                st64(lengths + i * 8, stop - start)
            st64(level + L_READY, 1)
    else:
        r = ld64(x + X_RELATION)
        base, nword, wide = ld64(x + X_ARENA), ld64(x + X_NVALUE), ld64(r + R_WIDE)
        if ld64(level + L_READY) == 0:
            view, columns = ld64(level + L_VIEW), ld64(level + L_KEYS)
            find_segments(x, view, columns, m, ld64(p + P_KEYS), ld64(p + P_CHOSEN), offsets, lengths)
            if ld64(level + L_SORT_COLUMN) >= 0:
                narrow_segments(level, base, wide, nword, m)
            st64(level + L_READY, 1)
    chunk, entries, sources = ld64(p + P_CHUNK), ld64(p + P_ENTRIES), ld64(p + P_SOURCES)
    ncheck, checks = ld64(level + L_NCHECK), ld64(level + L_CHECKS)
    i, j, k = ld64(level + L_CURSOR), ld64(level + L_POSITION), 0
    step = nword << (2 + wide)
    while i < m and k < chunk:
        length = ld64(lengths + i * 8)
        entry = base + (ld64(offsets + i * 8) << (2 + wide)) + j * step
        stop = min(length, j + chunk - k)
        if ncheck == 0:
            while j < stop:
                st64(entries + k * 8, entry)
                st64(sources + k * 8, i)
                k += 1
                j += 1
                entry += step
        else:
            while j < stop:
                if passes(entry, wide, i, checks, ncheck):
                    st64(entries + k * 8, entry)
                    st64(sources + k * 8, i)
                    k += 1
                j += 1
                entry += step
        if j == length:
            i += 1
            j = 0
    st64(level + L_CURSOR, i)
    st64(level + L_POSITION, j)
    carry_sources(level, sources, k)
    copy_entries(level, entries, k, wide)
    return k


@kernel
def carry_sources(level: int, sources: int, k: int) -> None:
    """Copy the columns that live on from the level above."""
    carry = ld64(level + L_CARRY)
    for c in range(ld64(level + L_NCARRY)):
        source, target = ld64(carry + c * 16), ld64(carry + c * 16 + 8)
        for j in range(k):
            st64(target + j * 8, ld64(source + ld64(sources + j * 8) * 8))


@kernel
def range_chunk(p: int, level: int, m: int) -> int:
    """The next numbers of range(start, stop, step) for each of the m bindings above.

    Without a step it counts by one, up or down, to reach the stop; a step of zero gives the start alone.
    """
    columns, kind, given = ld64(level + L_KEYS), ld64(level + L_SORT_KIND), ld64(level + L_NKEY) == 3
    chunk, sources, target = ld64(p + P_CHUNK), ld64(p + P_SOURCES), ld64(level + L_TARGET)
    i, j, k = ld64(level + L_CURSOR), ld64(level + L_POSITION), 0
    while i < m and k < chunk:
        start, stop = ld64(ld64(columns) + i * 8), ld64(ld64(columns + 8) + i * 8)
        down = less(stop, start, kind)
        step = 0
        if given:
            step = ld64(ld64(columns + 16) + i * 8)
            down = kind != 1 and less(step, 0, kind)
        elif kind == FLOAT:
            step = as_bits(-1.0) if down else as_bits(1.0)
        else:
            step = -1 if down else 1
        if kind == FLOAT:
            value, still = as_bits(as_float(start) + as_float(step) * j), as_float(step) == 0.0
        else:
            value, still = start + step * j, step == 0
        if still:
            more = j == 0 and start != stop
        elif down:
            more = less(stop, value, kind)
        else:
            more = less(value, stop, kind)
        if more:
            st64(target + k * 8, value)
            st64(sources + k * 8, i)
            k += 1
            j += 1
        else:
            i += 1
            j = 0
    st64(level + L_CURSOR, i)
    st64(level + L_POSITION, j)
    carry_sources(level, sources, k)
    return k


@kernel
def produce(p: int, level: int) -> int:
    """Fill a level's next chunk; gives its number of bindings."""
    kind = ld64(level + L_KIND)
    if kind == SCAN:
        return scan_rows(p, level)
    if kind == LIST:
        return list_rows(p, level)
    if kind == UNIT:
        done = ld64(level + L_CURSOR)
        shared = ld64(level + L_SHARED)
        if shared:
            done = fetch_add(shared, 1)
        st64(level + L_CURSOR, 1)
        return 1 if done == 0 else 0
    above = ld64(level - L_SIZE * 8 + L_COUNT)
    if kind == RANGE:
        return range_chunk(p, level, above)
    return probe_chunk(p, level, above)
