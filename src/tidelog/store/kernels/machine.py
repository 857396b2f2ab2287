"""The interpreter: runs a plan depth-first over chunks, and a stratum of plans to its fixpoint.

A plan is a list of levels; a level is a source (see `levels`) and operations that keep, drop or extend the bindings
of a chunk in place; the last operation emits. When a level's chunk is worked off, the level above gives more. Every
place where Python must act (grow, repack, widen, pause) is between two operations: the place is kept in the plan
block (level, op) and the next call goes on from there. What is always true: when a status other than DONE is
returned, the operation that it names has done nothing yet. Cost: about 0.1 µs per operation and chunk, plus the work.
"""

from __future__ import annotations

from tidelog.store.blocks import (
    ComputeOperation,
    ExistsOperation,
    FewerOperation,
    FilterOperation,
    FoldOperation,
    IterationOperation,
    Level,
    MemberOperation,
    OfferOperation,
    Operation,
    PackOperation,
    PlanBlock,
    RankOperation,
    RelationBlock,
    StratumBlock,
    TellOperation,
    TupleOperation,
    UnpackOperation,
    Words,
)
from tidelog.store.codes import (
    ABSENT,
    COMPUTE,
    DONE,
    EMIT,
    EMIT_EFFORT,
    EXISTS,
    FAULT,
    FEWER,
    FILTER,
    FOLD,
    ITERATION,
    MEMBER,
    NONMEMBER,
    NOT_WORSE,
    OFFER,
    PACK,
    PAUSE,
    PHASE_ADVANCE,
    PHASE_INDEXES,
    PHASE_PLANS,
    RANK,
    TELL,
    UNPACK,
)
from tidelog.store.kernels.access import address
from tidelog.store.kernels.arithmetic import apply, select
from tidelog.store.kernels.insertion import insert_chunk
from tidelog.store.kernels.levels import open_level, passes, produce
from tidelog.store.kernels.lookup import find_segments
from tidelog.store.kernels.membership import find_members, find_rows, visible
from tidelog.store.kernels.ranks import fold_ranks, offer_chunk
from tidelog.store.kernels.raw import cycles, kernel, ldw
from tidelog.store.kernels.segments import update_index
from tidelog.store.kernels.signed_counts import fold_levels, tell_chunk


@kernel
def keep_chosen(op: Operation, chosen: Words, k: int) -> None:
    """Compact the columns that live on after an operation to the chosen bindings (in ascending order)."""
    live = op.live
    for c in range(op.nlive):
        column = live[c]
        for j in range(k):
            column[j] = column[chosen[j]]


@kernel
def choose_existing(p: PlanBlock, op: ExistsOperation, wanted: int, m: int) -> int:
    """Choose bindings by whether an index has a fitting entry."""
    x, chosen = op.index, p.chosen
    offsets, lengths = p.entries, p.sources
    find_segments(x, op.viewed, op.keys, m, p.keys, chosen, offsets, lengths)
    ncheck, checks = op.ncheck, op.checks
    wide, nword = x.relation.wide, x.nvalue
    k = 0
    for i in range(m):
        length = lengths[i]
        found = 0
        if ncheck == 0:
            found = int(length > 0)
        elif length > 0:
            entry = x.arena + (offsets[i] << (2 + wide))
            for _ in range(length):
                if passes(entry, wide, i, checks, ncheck):
                    found = 1
                    break
                entry += nword << (2 + wide)
        if found == wanted:
            chosen[k] = i
            k += 1
    return k


@kernel
def choose_fewer(p: PlanBlock, op: FewerOperation, m: int) -> int:
    """Choose bindings by which of two indexes has the shorter segment for them."""
    keys, chosen, left, right = p.keys, p.chosen, p.sources, p.slots
    unused, strict = p.entries, op.strict
    find_segments(op.left, op.left_view, op.left_keys, m, keys, chosen, unused, left)
    find_segments(op.right, op.right_view, op.right_keys, m, keys, chosen, unused, right)
    k = 0
    for i in range(m):
        if left[i] + strict <= right[i]:
            chosen[k] = i
            k += 1
    return k


@kernel
def choose_members(p: PlanBlock, op: MemberOperation, wanted: int, m: int) -> int:
    """Choose bindings by whether a whole tuple is known."""
    chosen, found, r = p.chosen, p.slots, op.relation
    if r.stateful:
        find_rows(r, op.columns, m, p.keys, found)
        numbers, view = op.numbers, op.viewed
        for i in range(m):
            row = found[i]
            if numbers:
                numbers[i] = row
            found[i] = int(row >= 0 and visible(r, row, view))
    else:
        find_members(r, op.columns, m, p.keys, chosen, found)
    k = 0
    for i in range(m):
        if found[i] == wanted:
            chosen[k] = i
            k += 1
    return k


@kernel
def unpack_records(p: PlanBlock, op: UnpackOperation, m: int) -> int:
    """Take records apart: rows of the relation that holds the records of this arity, by number."""
    r, chosen, ids = op.relation, p.chosen, op.records
    wide, rows, count = r.wide, r.rows, r.count
    stride, ncheck, checks = r.stride << (2 + wide), op.ncheck, op.checks
    k = 0
    for i in range(m):
        number = ids[i]
        if 0 < number < count and (ncheck == 0 or passes(rows + number * stride, wide, i, checks, ncheck)):
            chosen[k] = i
            k += 1
    outs = op.outs
    for o in range(op.nout):
        at, column = outs[o].place << (2 + wide), outs[o].column
        for j in range(k):
            i = chosen[j]
            column[i] = ldw(rows + ids[i] * stride + at, wide)
    return k


@kernel
def insert_tuples(p: PlanBlock, op: TupleOperation, m: int, numbers: Words) -> int:
    """Insert a chunk of tuples, whose rows `numbers` (if not 0) receives; a status."""
    p.subject = address(op.relation)
    return insert_chunk(op.relation, op.columns, m, p.keys, p.slots, p.chosen, numbers, p.sharing)


@kernel
def compute(p: PlanBlock, op: ComputeOperation, m: int) -> int:
    """Apply a functor; a status."""
    at = apply(op.functor, op.value_kind, op.left, op.right, op.target, m)
    if at < 0:
        return DONE
    p.fault_left, p.fault_right, p.fault_functor = op.left[at], op.right[at], op.functor
    return FAULT


@kernel
def operate(p: PlanBlock, op: Operation, level: Level) -> int:
    """Do one operation on a level's chunk; a status."""
    kind, m = op.kind, level.count
    k = m
    if kind == EMIT:
        status = insert_tuples(p, TupleOperation(op), m, Words(0))
        if status == DONE:
            p.derivations += m
            p.effort += m * EMIT_EFFORT
        return status
    if kind == FILTER:
        test = FilterOperation(op)
        k = select(test.comparison, test.value_kind, test.left, test.right, m, p.chosen)
    elif kind == COMPUTE:
        return compute(p, ComputeOperation(op), m)
    elif kind == EXISTS:
        k = choose_existing(p, ExistsOperation(op), 1, m)
    elif kind == ABSENT:
        k = choose_existing(p, ExistsOperation(op), 0, m)
    elif kind == MEMBER:
        k = choose_members(p, MemberOperation(op), 1, m)
    elif kind == NONMEMBER:
        k = choose_members(p, MemberOperation(op), 0, m)
    elif kind == FEWER:
        k = choose_fewer(p, FewerOperation(op), m)
    elif kind == UNPACK:
        k = unpack_records(p, UnpackOperation(op), m)
    elif kind == PACK:
        return insert_tuples(p, TupleOperation(op), m, PackOperation(op).numbers)
    elif kind == FOLD:
        k = fold_levels(p, FoldOperation(op), m)
    elif kind == TELL:
        return tell_chunk(p, TellOperation(op), m)
    elif kind == RANK:
        k = fold_ranks(p, RankOperation(op), m)
        if k < 0:
            return NOT_WORSE
    elif kind == OFFER:
        return offer_chunk(p, OfferOperation(op), m)
    elif kind == ITERATION:
        target = IterationOperation(op).target
        for i in range(m):
            target[i] = p.iteration
    if k < m:
        keep_chosen(op, p.chosen, k)
        level.count = k
    return DONE


@kernel
def run_plan(p: PlanBlock) -> int:
    """Run, or go on running, a plan; a status. Its level is -1 when it has not begun."""
    began = cycles()
    levels, nlevel = p.levels, p.nlevel
    depth, at = p.level, p.op
    work, budget, effort = p.work, p.budget, 0
    if depth < 0:
        depth, at = 0, -1
        open_level(levels[0])
    status = DONE
    while depth >= 0:
        level = levels[depth]
        if at < 0:
            if work > budget:
                status = PAUSE
                work = 0
                break
            m = produce(p, level, levels[depth - 1].count if depth > 0 else 0)
            if m == 0:
                depth -= 1
                continue
            work += m + 16
            effort += m
            level.count = m
            at = 0
        nops, ops = level.nop, level.ops
        while at < nops:
            status = operate(p, ops[at], level)
            if status != DONE:
                break
            at += 1
            if level.count == 0:
                break
        if status != DONE:
            break
        at = -1
        if level.count > 0 and depth + 1 < nlevel:
            depth += 1
            open_level(levels[depth])
    p.level = depth
    p.op = at
    p.work = work
    p.effort += effort
    p.cycles += cycles() - began
    return status


@kernel
def now() -> int:
    """The cycle counter that plans are timed with."""
    return cycles()


@kernel
def advance(r: RelationBlock) -> int:
    """The running iteration's tuples become the delta; their number."""
    r.delta_start = r.delta_stop
    r.delta_stop = r.count
    r.tick += 1
    r.iteration += 1
    return r.count - r.delta_start


@kernel
def run_stratum(t: StratumBlock) -> int:
    """Iterate: all plans, then all relations advance, then their indexes; until no relation has a delta. A status."""
    t.subject = 0
    while True:
        phase = t.phase
        if phase == PHASE_PLANS:
            plans = t.plans
            i = t.position
            while i < t.nplan:
                p = plans[i]
                p.iteration = t.iteration
                status = run_plan(p)
                if status != DONE:
                    t.position = i
                    t.subject = address(p)
                    return status
                p.level = -1
                i += 1
            t.position = 0
            t.phase = PHASE_ADVANCE
        elif phase == PHASE_ADVANCE:
            new, relations = 0, t.relations
            for i in range(t.nrelation):
                new += advance(relations[i])
            t.new = new
            t.iteration += 1
            t.phase = PHASE_INDEXES
        else:
            indexes = t.indexes
            i = t.position
            while i < t.nindex:
                status = update_index(indexes[i], t.scratch)
                if status != DONE:
                    t.position = i
                    t.subject = address(indexes[i])
                    return status
                i += 1
            t.position = 0
            t.phase = PHASE_PLANS
            if t.new == 0:
                return DONE
            if t.new >= t.threshold or t.iteration >= t.max_iterations:
                return PAUSE
