"""Sources of bindings: fill the next chunk of a level from a relation, an index, or a range of numbers.

Each keeps its place in its level block (cursor: row or binding; position: entry within a segment), so that a full
chunk can be worked off before the next is made. A probe first finds the segments of all bindings of the chunk above
(hash, prefetch, look up), then lists (binding, entry) pairs, then copies column by column. What is always true: a
chunk holds at most P_CHUNK bindings; a source that gives 0 is exhausted. Cost: per binding, a few copies in L1.
"""

from __future__ import annotations

from tidelog.store.blocks import (
    EntryCheck,
    Level,
    MatchLevel,
    PlanBlock,
    ProbeLevel,
    RangeLevel,
    RelationBlock,
    RowList,
    ScanLevel,
    Words,
)
from tidelog.store.codes import (
    CHECK_COLUMN,
    CHECK_ROW,
    CHECK_SAME,
    CHECK_STATE,
    CROSS,
    DELTA,
    FLOAT,
    LEFT,
    LIST,
    OLD,
    PROBE,
    RANGE,
    ROW,
    SCAN,
    THROUGH_ROW,
    UNIT,
)
from tidelog.store.kernels.arithmetic import NAN, compare, float_word, less
from tidelog.store.kernels.lookup import find_segments
from tidelog.store.kernels.membership import visible
from tidelog.store.kernels.raw import as_bits, as_float, fetch_add, inlined, kernel, ldw, prefetch


@kernel
def passes(entry: int, wide: int, i: int, checks: EntryCheck, n: int) -> bool:
    """Whether an entry meets all checks for binding i."""
    for c in range(n):
        check = checks[c]
        kind = check.kind
        if kind == CHECK_ROW:
            r = check.relation
            row = (entry - r.rows) // (r.stride << (2 + wide))
            if not visible(r, row, check.viewed):
                return False
            continue
        v = ldw(entry + (check.place << (2 + wide)), wide)
        if kind == CHECK_SAME:
            if v != ldw(entry + (check.other_place << (2 + wide)), wide):
                return False
        elif kind == CHECK_COLUMN:
            if v != check.column[i]:
                return False
        elif kind == CHECK_STATE:
            if not visible(check.relation, v, check.viewed):
                return False
        elif not compare(check.comparison, v, check.column[i], check.value_kind):
            return False
    return True


@inlined
def view_start(r: RelationBlock, view: int) -> int:
    if view == DELTA:
        return r.delta_start
    return 0


@inlined
def view_stop(r: RelationBlock, view: int) -> int:
    if view == OLD:
        return r.delta_start
    return r.delta_stop


@kernel
def open_level(level: Level) -> None:
    """Begin a level: nothing taken yet."""
    level.cursor = level.position = 0
    if level.kind == SCAN:
        scan = ScanLevel(level)
        r, view = scan.relation, scan.viewed
        scan.cursor = view_start(r, view)
        scan.stop = view_stop(r, view)
    elif level.kind in (PROBE, CROSS):
        ProbeLevel(level).ready = 0


@kernel
def number_rows(r: RelationBlock, entries: Words, k: int, column: Words) -> None:
    """The row numbers of k rows, given by address."""
    rows, stride = r.rows, r.stride << (2 + r.wide)
    for j in range(k):
        column[j] = (entries[j] - rows) // stride


@kernel
def copy_through_rows(r: RelationBlock, entries: Words, k: int, at: int, column: Words) -> None:
    """Copy a column (at so many bytes in a row) of the rows that k index entries name, which is the first thing in an
    entry with a row number."""
    rows, wide = r.rows, r.wide
    stride = r.stride << (2 + wide)
    for j in range(k):
        value = rows + ldw(entries[j], wide) * stride + at
        prefetch(value)
        column[j] = value
    for j in range(k):
        column[j] = ldw(column[j], wide)


@kernel
def copy_entries(level: MatchLevel, entries: Words, k: int, wide: int) -> None:
    """Copy the output columns of k entries, given by address."""
    outs = level.outs
    for o in range(level.nout):
        place, column = outs[o].place, outs[o].column
        at = place << (2 + wide)
        if place == ROW:
            number_rows(level.relation, entries, k, column)
        elif place < 0:
            copy_through_rows(level.relation, entries, k, (THROUGH_ROW - place) << (2 + wide), column)
        elif wide:
            for j in range(k):
                column[j] = ldw(entries[j] + at, 1)
        else:
            for j in range(k):
                column[j] = ldw(entries[j] + at, 0)


@kernel
def scan_rows(p: PlanBlock, level: ScanLevel) -> int:
    """The next rows of a view, or of this thread's share of it."""
    r = level.relation
    wide, rows = r.wide, r.rows
    stride, chunk = r.stride << (2 + wide), p.chunk
    ncheck, checks, entries = level.ncheck, level.checks, p.entries
    shared = level.shared
    while True:
        stop = level.stop
        if shared:
            cursor = fetch_add(shared, chunk)
        else:
            cursor = level.cursor
            level.cursor = cursor + chunk
        m = min(chunk, stop - cursor)
        if m <= 0:
            return 0
        first = rows + cursor * stride
        if ncheck == 0:
            outs = level.outs
            for o in range(level.nout):
                at, column = first + (outs[o].place << (2 + wide)), outs[o].column
                if outs[o].place == ROW:
                    for j in range(m):
                        column[j] = cursor + j
                else:
                    for j in range(m):
                        column[j] = ldw(at + j * stride, wide)
            return m
        k = 0
        for j in range(m):
            entry = first + j * stride
            if passes(entry, wide, 0, checks, ncheck):
                entries[k] = entry
                k += 1
        if k > 0:
            copy_entries(MatchLevel(level), entries, k, wide)
            return k


@inlined
def list_of(level: ScanLevel) -> RowList:
    """The list of rows that a level begins with."""
    return level.relation.left[level.viewed - LEFT]


@kernel
def list_rows(p: PlanBlock, level: ScanLevel) -> int:
    """The next rows of one of a relation's lists."""
    r, listed = level.relation, list_of(level)
    wide, rows = r.wide, r.rows
    stride, chunk = r.stride << (2 + wide), p.chunk
    ncheck, checks, entries = level.ncheck, level.checks, p.entries
    numbers, n = listed.rows, listed.count
    cursor, k = level.cursor, 0
    while cursor < n and k < chunk:
        entry = rows + numbers[cursor] * stride
        if ncheck == 0 or passes(entry, wide, 0, checks, ncheck):
            entries[k] = entry
            k += 1
        cursor += 1
    level.cursor = cursor
    copy_entries(MatchLevel(level), entries, k, wide)
    return k


@inlined
def word_at(base: int, nword: int, column: int, j: int, wide: int) -> int:
    return ldw(base + ((j * nword + column) << (2 + wide)), wide)


@kernel
def narrow_segments(level: ProbeLevel, arena: int, wide: int, nword: int, m: int) -> None:
    """Cut sorted segments to the entries between the bounds: two binary searches per binding."""
    column, kind = level.sort_place, level.sort_kind
    low, high = level.low, level.high
    low_strict, high_strict = level.low_strict, level.high_strict
    offsets, lengths = level.offsets, level.lengths
    for i in range(m):
        first, stop = 0, lengths[i]
        base = arena + (offsets[i] << (2 + wide))
        if low:
            limit, b = low[i], stop
            while first < b:
                mid = (first + b) >> 1
                v = word_at(base, nword, column, mid, wide)
                if less(v, limit, kind) or (low_strict and v == limit):
                    first = mid + 1
                else:
                    b = mid
        if high:
            limit, a = high[i], first
            while a < stop:
                mid = (a + stop) >> 1
                v = word_at(base, nword, column, mid, wide)
                if less(limit, v, kind) or (high_strict and v == limit):
                    stop = mid
                else:
                    a = mid + 1
        offsets[i] += first * nword
        lengths[i] = max(stop - first, 0)


@kernel
def probe_chunk(p: PlanBlock, level: ProbeLevel, m: int) -> int:
    """The next (binding, entry) pairs of a probe of the m bindings above, through an index or (CROSS) all rows."""
    offsets, lengths = level.offsets, level.lengths
    x = level.index
    if level.kind == CROSS:
        r = level.relation
        base, nword, wide = r.rows, r.stride, r.wide
        if level.ready == 0:
            start, stop = view_start(r, level.viewed), view_stop(r, level.viewed)
            for i in range(m):
                offsets[i] = start * nword
                lengths[i] = stop - start
            level.ready = 1
    else:
        r = x.relation
        base, nword, wide = x.arena, x.nvalue, r.wide
        if level.ready == 0:
            view, columns = level.viewed, level.keys
            find_segments(x, view, columns, m, p.keys, p.chosen, offsets, lengths)
            if level.sort_place >= 0:
                narrow_segments(level, base, wide, nword, m)
            level.ready = 1
    chunk, entries, sources = p.chunk, p.entries, p.sources
    ncheck, checks = level.ncheck, level.checks
    i, j, k = level.cursor, level.position, 0
    step = nword << (2 + wide)
    while i < m and k < chunk:
        length = lengths[i]
        entry = base + (offsets[i] << (2 + wide)) + j * step
        stop = min(length, j + chunk - k)
        if ncheck == 0:
            while j < stop:
                entries[k] = entry
                sources[k] = i
                k += 1
                j += 1
                entry += step
        else:
            while j < stop:
                if passes(entry, wide, i, checks, ncheck):
                    entries[k] = entry
                    sources[k] = i
                    k += 1
                j += 1
                entry += step
        if j == length:
            i += 1
            j = 0
    level.cursor = i
    level.position = j
    carry_sources(Level(level), sources, k)
    copy_entries(MatchLevel(level), entries, k, wide)
    return k


@kernel
def carry_sources(level: Level, sources: Words, k: int) -> None:
    """Copy the columns that live on from the level above."""
    carry = level.carry
    for c in range(level.ncarry):
        source, target = carry[c].source, carry[c].target
        for j in range(k):
            target[j] = source[sources[j]]


@kernel
def range_chunk(p: PlanBlock, level: RangeLevel, m: int) -> int:
    """The next numbers of range(start, stop, step) for each of the m bindings above.

    Without a step it counts by one, up or down, to reach the stop; a step of zero gives the start alone; with NaN there
    are none.
    """
    starts, stops, steps, kind = level.start, level.stop, level.step, level.value_kind
    chunk, sources, target = p.chunk, p.sources, level.target
    i, j, k = level.cursor, level.position, 0
    while i < m and k < chunk:
        start, stop = starts[i], stops[i]
        down = less(stop, start, kind)
        step = 0
        if steps:
            step = steps[i]
            down = kind != 1 and less(step, 0, kind)
        elif kind == FLOAT:
            step = as_bits(-1.0) if down else as_bits(1.0)
        else:
            step = -1 if down else 1
        if kind == FLOAT:
            value, still = start, step == 0
            if j > 0:
                value = float_word(as_float(start) + as_float(step) * j)
        else:
            value, still = start + step * j, step == 0
        if still:
            more = j == 0 and start != stop
        elif down:
            more = less(stop, value, kind)
        else:
            more = less(value, stop, kind)
        if kind == FLOAT and (start == NAN or stop == NAN or step == NAN or value == NAN):
            more = False
        if more:
            target[k] = value
            sources[k] = i
            k += 1
            j += 1
        else:
            i += 1
            j = 0
    level.cursor = i
    level.position = j
    carry_sources(Level(level), sources, k)
    return k


@kernel
def produce(p: PlanBlock, level: Level, above: int) -> int:
    """Fill a level's next chunk; gives its number of bindings. The chunk of the level above has so many."""
    kind = level.kind
    if kind == SCAN:
        return scan_rows(p, ScanLevel(level))
    if kind == LIST:
        return list_rows(p, ScanLevel(level))
    if kind == UNIT:
        done = level.cursor
        shared = level.shared
        if shared:
            done = fetch_add(shared, 1)
        level.cursor = 1
        return 1 if done == 0 else 0
    if kind == RANGE:
        return range_chunk(p, RangeLevel(level), above)
    return probe_chunk(p, ProbeLevel(level), above)
