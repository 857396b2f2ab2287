"""The loop of an update: settle a bucket, extend the indexes by new rows, tell what the moved rows bring about.

Every place where Python must act (grow something, run a plan with steps in Python, look at the budget) is between
two of these; the place is kept in the update block, and the next call goes on from there.
"""

from __future__ import annotations

from tidelog.store.blocks import PlanBlock, ScanLevel, UpdateBlock
from tidelog.store.codes import (
    DONE,
    GROW_LISTS,
    GROW_SUMS,
    PAUSE,
    PHASE_BUCKET,
    PHASE_EXTEND,
    PHASE_TELL,
    PYTHON,
    ROUND,
)
from tidelog.store.kernels.access import address
from tidelog.store.kernels.levels import list_of
from tidelog.store.kernels.machine import run_plan
from tidelog.store.kernels.raw import inlined, kernel
from tidelog.store.kernels.segments import update_index
from tidelog.store.kernels.signed_counts import settle_bucket


@kernel
def next_bucket(u: UpdateBlock) -> int:
    """Settle the next bucket for which something waits, or the one agreed on; a status, or -1 when there is none."""
    k, highest, buckets = u.bucket + 1, u.highest, u.buckets
    if u.together:
        k = u.agreed
        if k > highest or buckets[k].first == 0:  # others have something in it
            u.bucket = k
            u.agreed = -1
            return DONE
    while k <= highest and buckets[k].first == 0:
        k += 1
    if k > highest:
        return -1
    counts = buckets[k].count
    u.need = counts
    if 6 * counts + 16 > u.sums_capacity:
        return GROW_SUMS
    for i in range(u.nown):
        r = u.own[i]
        if counts > r.list_capacity or r.log_length + counts > r.log_capacity:
            u.subject = address(r)
            return GROW_LISTS
    u.bucket = k
    u.agreed = -1
    settle_bucket(u, k)
    return DONE


@kernel
def extend_indexes(u: UpdateBlock) -> int:
    """Make the rows that were added visible to probes; a status."""
    for i in range(u.nown):
        r = u.own[i]
        r.delta_start = r.count
        r.delta_stop = r.count
    for i in range(u.nindex):
        x = u.indexes[i]
        status = update_index(x, u.scratch)
        if status != DONE:
            u.subject = address(x)
            return status
    return DONE


@inlined
def nothing_listed(p: PlanBlock) -> bool:
    """Whether the list that a plan begins with is empty."""
    return list_of(ScanLevel(p.levels[0])).count == 0


@kernel
def tell_all(u: UpdateBlock) -> int:
    """Run the plans whose lists are not empty, then empty the lists; a status."""
    i, plans = u.position, u.plans
    while i < u.nplan:
        p = plans[i]
        if not nothing_listed(p):
            status = PYTHON
            if not p.python:
                status = run_plan(p)
            u.position = i
            u.subject = address(p)
            if status != DONE:
                return status
            p.level = -1
            u.work += p.effort
            p.effort = 0
        i += 1
    u.position = 0
    for i in range(u.nrelation):
        r = u.relations[i]
        r.lost.count = 0
        r.moved.count = 0
    return DONE


@kernel
def run_update(u: UpdateBlock) -> int:
    """Run, or go on running, an update of a stratum; a status. It begins with what changed before bucket 1."""
    while True:
        phase = u.phase
        if phase == PHASE_BUCKET:
            u.subject = 0
            if u.together and u.agreed < 0:
                return ROUND
            if u.work > u.budget:
                return PAUSE
            status = next_bucket(u)
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
