"""The interpreter: runs a plan depth-first over chunks, and a stratum of plans to its fixpoint.

A plan is a list of levels; a level is a source (see `levels`) and operations that keep, drop or extend the bindings
of a chunk in place; the last operation emits. When a level's chunk is worked off, the level above gives more. Every
place where Python must act (grow, repack, widen, pause) is between two operations: the place is kept in the plan
block (P_LEVEL, P_OP) and the next call goes on from there. What is always true: when a status other than DONE is
returned, the operation named by P_OP has done nothing yet. Cost: about 0.1 µs per operation and chunk, plus the work.
"""

from __future__ import annotations

from tidelog.store.kernels.arithmetic import apply, select
from tidelog.store.kernels.events import file_chunk
from tidelog.store.kernels.identity import insert_chunk
from tidelog.store.kernels.levels import open_level, passes, produce
from tidelog.store.kernels.lookup import find_segments
from tidelog.store.kernels.membership import find_members, find_rows, visible
from tidelog.store.kernels.raw import cycles, kernel, ld64, ldw, st64
from tidelog.store.kernels.segments import update_index
from tidelog.store.layout import (
    ABSENT,
    COMPUTE,
    DONE,
    EMIT,
    EMIT_EFFORT,
    EXISTS,
    FAULT,
    FEWER,
    FILE,
    FILTER,
    ITERATION,
    L_COUNT,
    L_NOPS,
    L_OPS,
    L_SIZE,
    MEMBER,
    NONMEMBER,
    O_A,
    O_B,
    O_CHECKS,
    O_CODE,
    O_INDEX,
    O_KEYS,
    O_KIND,
    O_LIVE,
    O_NCHECK,
    O_NLIVE,
    O_NOUT,
    O_OUTS,
    O_RELATION,
    O_SIZE,
    O_SPARE,
    O_TARGET,
    O_VALUE_KIND,
    O_VIEW,
    P_BUDGET,
    P_CHOSEN,
    P_CYCLES,
    P_DERIVATIONS,
    P_EFFORT,
    P_ENTRIES,
    P_FAULT_A,
    P_FAULT_B,
    P_FAULT_OP,
    P_ITERATION,
    P_KEYS,
    P_LEVEL,
    P_LEVELS,
    P_NLEVEL,
    P_OP,
    P_SHARED,
    P_SLOTS,
    P_SOURCES,
    P_SUBJECT,
    P_WORK,
    PACK,
    PAUSE,
    PHASE_ADVANCE,
    PHASE_INDEXES,
    PHASE_PLANS,
    R_COUNT,
    R_DELTA_START,
    R_DELTA_STOP,
    R_ITERATION,
    R_ROWS,
    R_STATE,
    R_STRIDE,
    R_TICK,
    R_WIDE,
    T_INDEXES,
    T_ITERATION,
    T_MAX_ITERATIONS,
    T_NEW,
    T_NINDEX,
    T_NPLAN,
    T_NRELATION,
    T_PHASE,
    T_PLANS,
    T_POSITION,
    T_RELATIONS,
    T_SCRATCH,
    T_SUBJECT,
    T_THRESHOLD,
    UNPACK,
    X_ARENA,
    X_NVALUE,
    X_RELATION,
)


@kernel
def keep_chosen(op: int, chosen: int, k: int) -> None:
    """Compact the columns that live on after an operation to the chosen bindings (in ascending order)."""
    live = ld64(op + O_LIVE)
    for c in range(ld64(op + O_NLIVE)):
        column = ld64(live + c * 8)
        for j in range(k):
            st64(column + j * 8, ld64(column + ld64(chosen + j * 8) * 8))


@kernel
def choose_existing(p: int, op: int, wanted: int, m: int) -> int:
    """Choose bindings by whether an index has a fitting entry."""
    x, chosen = ld64(op + O_INDEX), ld64(p + P_CHOSEN)
    offsets, lengths = ld64(p + P_ENTRIES), ld64(p + P_SOURCES)
    find_segments(x, ld64(op + O_VIEW), ld64(op + O_KEYS), m, ld64(p + P_KEYS), chosen, offsets, lengths)
    ncheck, checks = ld64(op + O_NCHECK), ld64(op + O_CHECKS)
    wide, nword = ld64(ld64(x + X_RELATION) + R_WIDE), ld64(x + X_NVALUE)
    k = 0
    for i in range(m):
        length = ld64(lengths + i * 8)
        found = 0
        if ncheck == 0:
            found = int(length > 0)
        elif length > 0:
            entry = ld64(x + X_ARENA) + (ld64(offsets + i * 8) << (2 + wide))
            for _ in range(length):
                if passes(entry, wide, i, checks, ncheck):
                    found = 1
                    break
                entry += nword << (2 + wide)
        if found == wanted:
            st64(chosen + k * 8, i)
            k += 1
    return k


@kernel
def choose_fewer(p: int, op: int, m: int) -> int:
    """Choose bindings by which of two indexes has the shorter segment for them (O_CODE: strictly)."""
    keys, chosen, left, right = ld64(p + P_KEYS), ld64(p + P_CHOSEN), ld64(p + P_SOURCES), ld64(p + P_SLOTS)
    unused, strict = ld64(p + P_ENTRIES), ld64(op + O_CODE)
    find_segments(ld64(op + O_INDEX), ld64(op + O_VIEW), ld64(op + O_KEYS), m, keys, chosen, unused, left)
    find_segments(ld64(op + O_TARGET), ld64(op + O_SPARE), ld64(op + O_A), m, keys, chosen, unused, right)
    k = 0
    for i in range(m):
        if ld64(left + i * 8) + strict <= ld64(right + i * 8):
            st64(chosen + k * 8, i)
            k += 1
    return k


@kernel
def choose_members(p: int, op: int, wanted: int, m: int) -> int:
    """Choose bindings by whether a whole tuple is known."""
    chosen, found, r = ld64(p + P_CHOSEN), ld64(p + P_SLOTS), ld64(op + O_RELATION)
    if ld64(r + R_STATE):
        find_rows(r, ld64(op + O_KEYS), m, ld64(p + P_KEYS), found)
        numbers, view = ld64(op + O_TARGET), ld64(op + O_VIEW)
        for i in range(m):
            row = ld64(found + i * 8)
            if numbers:
                st64(numbers + i * 8, row)
            st64(found + i * 8, int(row >= 0 and visible(r, row, view)))
    else:
        find_members(r, ld64(op + O_KEYS), m, ld64(p + P_KEYS), chosen, found)
    k = 0
    for i in range(m):
        if ld64(found + i * 8) == wanted:
            st64(chosen + k * 8, i)
            k += 1
    return k


@kernel
def unpack_records(p: int, op: int, m: int) -> int:
    """Take records apart: rows of the relation that holds the records of this arity, by number."""
    r, chosen, ids = ld64(op + O_RELATION), ld64(p + P_CHOSEN), ld64(op + O_A)
    wide, rows, count = ld64(r + R_WIDE), ld64(r + R_ROWS), ld64(r + R_COUNT)
    stride, ncheck, checks = ld64(r + R_STRIDE) << (2 + wide), ld64(op + O_NCHECK), ld64(op + O_CHECKS)
    k = 0
    for i in range(m):
        number = ld64(ids + i * 8)
        if 0 < number < count and (ncheck == 0 or passes(rows + number * stride, wide, i, checks, ncheck)):
            st64(chosen + k * 8, i)
            k += 1
    outs = ld64(op + O_OUTS)
    for o in range(ld64(op + O_NOUT)):
        at, column = ld64(outs + o * 16) << (2 + wide), ld64(outs + o * 16 + 8)
        for j in range(k):
            i = ld64(chosen + j * 8)
            st64(column + i * 8, ldw(rows + ld64(ids + i * 8) * stride + at, wide))
    return k


@kernel
def operate(p: int, op: int, level: int) -> int:
    """Do one operation on a level's chunk; a status."""
    kind, m = ld64(op + O_KIND), ld64(level + L_COUNT)
    k = m
    if kind == EMIT:
        r = ld64(op + O_RELATION)
        status = insert_chunk(
            r, ld64(op + O_KEYS), m, ld64(p + P_KEYS), ld64(p + P_SLOTS), ld64(p + P_CHOSEN), 0, ld64(p + P_SHARED)
        )
        st64(p + P_SUBJECT, r)
        if status == DONE:
            st64(p + P_DERIVATIONS, ld64(p + P_DERIVATIONS) + m)
            st64(p + P_EFFORT, ld64(p + P_EFFORT) + m * EMIT_EFFORT)
        return status
    if kind == FILTER:
        code, value_kind = ld64(op + O_CODE), ld64(op + O_VALUE_KIND)
        k = select(code, value_kind, ld64(op + O_A), ld64(op + O_B), m, ld64(p + P_CHOSEN))
    elif kind == COMPUTE:
        code, value_kind = ld64(op + O_CODE), ld64(op + O_VALUE_KIND)
        at = apply(code, value_kind, ld64(op + O_A), ld64(op + O_B), ld64(op + O_TARGET), m)
        if at >= 0:
            st64(p + P_FAULT_A, ld64(ld64(op + O_A) + at * 8))
            st64(p + P_FAULT_B, ld64(ld64(op + O_B) + at * 8))
            st64(p + P_FAULT_OP, code)
            return FAULT
    elif kind == EXISTS:
        k = choose_existing(p, op, 1, m)
    elif kind == ABSENT:
        k = choose_existing(p, op, 0, m)
    elif kind == MEMBER:
        k = choose_members(p, op, 1, m)
    elif kind == NONMEMBER:
        k = choose_members(p, op, 0, m)
    elif kind == FEWER:
        k = choose_fewer(p, op, m)
    elif kind == UNPACK:
        k = unpack_records(p, op, m)
    elif kind == PACK:
        r = ld64(op + O_RELATION)
        st64(p + P_SUBJECT, r)
        return insert_chunk(
            r, ld64(op + O_KEYS), m, ld64(p + P_KEYS), ld64(p + P_SLOTS), ld64(p + P_CHOSEN), ld64(op + O_TARGET),
            ld64(p + P_SHARED),
        )  # fmt: skip
    elif kind == FILE:
        return file_chunk(p, op, m)
    elif kind == ITERATION:
        for i in range(m):
            st64(ld64(op + O_TARGET) + i * 8, ld64(p + P_ITERATION))
    if k < m:
        keep_chosen(op, ld64(p + P_CHOSEN), k)
        st64(level + L_COUNT, k)
    return DONE


@kernel
def run_plan(p: int) -> int:
    """Run, or go on running, a plan; a status. P_LEVEL is -1 when it has not begun."""
    began = cycles()
    levels, nlevel = ld64(p + P_LEVELS), ld64(p + P_NLEVEL)
    depth, at = ld64(p + P_LEVEL), ld64(p + P_OP)
    work, budget, effort = ld64(p + P_WORK), ld64(p + P_BUDGET), 0
    if depth < 0:
        depth, at = 0, -1
        open_level(p, levels)
    status = DONE
    while depth >= 0:
        level = levels + depth * L_SIZE * 8
        if at < 0:
            if work > budget:
                status = PAUSE
                work = 0
                break
            m = produce(p, level)
            if m == 0:
                depth -= 1
                continue
            work += m + 16
            effort += m
            st64(level + L_COUNT, m)
            at = 0
        nops, ops = ld64(level + L_NOPS), ld64(level + L_OPS)
        while at < nops:
            status = operate(p, ops + at * O_SIZE * 8, level)
            if status != DONE:
                break
            at += 1
            if ld64(level + L_COUNT) == 0:
                break
        if status != DONE:
            break
        at = -1
        if ld64(level + L_COUNT) > 0 and depth + 1 < nlevel:
            depth += 1
            open_level(p, levels + depth * L_SIZE * 8)
    st64(p + P_LEVEL, depth)
    st64(p + P_OP, at)
    st64(p + P_WORK, work)
    st64(p + P_EFFORT, ld64(p + P_EFFORT) + effort)
    st64(p + P_CYCLES, ld64(p + P_CYCLES) + cycles() - began)
    return status


@kernel
def now() -> int:
    """The cycle counter that plans are timed with."""
    return cycles()


@kernel
def advance(r: int) -> int:
    """The running iteration's tuples become the delta; their number."""
    st64(r + R_DELTA_START, ld64(r + R_DELTA_STOP))
    st64(r + R_DELTA_STOP, ld64(r + R_COUNT))
    st64(r + R_TICK, ld64(r + R_TICK) + 1)
    st64(r + R_ITERATION, ld64(r + R_ITERATION) + 1)
    return ld64(r + R_COUNT) - ld64(r + R_DELTA_START)


@kernel
def run_stratum(t: int) -> int:
    """Iterate: all plans, then all relations advance, then their indexes; until no relation has a delta. A status."""
    st64(t + T_SUBJECT, 0)
    while True:
        phase = ld64(t + T_PHASE)
        if phase == PHASE_PLANS:
            plans = ld64(t + T_PLANS)
            i = ld64(t + T_POSITION)
            while i < ld64(t + T_NPLAN):
                p = ld64(plans + i * 8)
                st64(p + P_ITERATION, ld64(t + T_ITERATION))
                status = run_plan(p)
                if status != DONE:
                    st64(t + T_POSITION, i)
                    st64(t + T_SUBJECT, p)
                    return status
                st64(p + P_LEVEL, -1)
                i += 1
            st64(t + T_POSITION, 0)
            st64(t + T_PHASE, PHASE_ADVANCE)
        elif phase == PHASE_ADVANCE:
            new, relations = 0, ld64(t + T_RELATIONS)
            for i in range(ld64(t + T_NRELATION)):
                new += advance(ld64(relations + i * 8))
            st64(t + T_NEW, new)
            st64(t + T_ITERATION, ld64(t + T_ITERATION) + 1)
            st64(t + T_PHASE, PHASE_INDEXES)
        else:
            indexes = ld64(t + T_INDEXES)
            i = ld64(t + T_POSITION)
            while i < ld64(t + T_NINDEX):
                status = update_index(ld64(indexes + i * 8), ld64(t + T_SCRATCH))
                if status != DONE:
                    st64(t + T_POSITION, i)
                    st64(t + T_SUBJECT, ld64(indexes + i * 8))
                    return status
                i += 1
            st64(t + T_POSITION, 0)
            st64(t + T_PHASE, PHASE_PLANS)
            if ld64(t + T_NEW) == 0:
                return DONE
            if ld64(t + T_NEW) >= ld64(t + T_THRESHOLD) or ld64(t + T_ITERATION) >= ld64(t + T_MAX_ITERATIONS):
                return PAUSE
