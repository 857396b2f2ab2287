"""The loop of an update: settle a bucket, extend the indexes by new rows, file what the changed rows bring about.

Every place where Python must act (grow something, run a plan with steps in Python, look at the budget) is between
two of these; the place is kept in the update block, and the next call goes on from there.
"""

from __future__ import annotations

from tidelog.store.kernels.events import settle_bucket
from tidelog.store.kernels.machine import run_plan
from tidelog.store.kernels.raw import inlined, kernel, ld64, st64
from tidelog.store.kernels.segments import update_index
from tidelog.store.layout import (
    BUCKET_BYTES,
    DONE,
    GROW_LISTS,
    GROW_SEEN,
    L_RELATION,
    L_VIEW,
    LEFT,
    NARRIVAL,
    NDEPARTURE,
    P_EFFORT,
    P_LEVEL,
    P_LEVELS,
    PAUSE,
    PHASE_BUCKET,
    PHASE_EXTEND,
    PHASE_FILE,
    PYTHON,
    R_CAME,
    R_COUNT,
    R_DELTA_START,
    R_DELTA_STOP,
    R_LEFT,
    R_LIST_CAPACITY,
    R_LOG_CAPACITY,
    R_NCAME,
    R_NLEFT,
    R_NLOG,
    R_NLOST,
    U_ALL,
    U_BUCKET,
    U_BUCKETS,
    U_BUDGET,
    U_HIGHEST,
    U_INDEXES,
    U_NALL,
    U_NEED,
    U_NINDEX,
    U_NOWN,
    U_NPLAN,
    U_OWN,
    U_PHASE,
    U_PLANS,
    U_POSITION,
    U_SCRATCH,
    U_SEEN_CAPACITY,
    U_SUBJECT,
    U_WORK,
)


@kernel
def next_bucket(u: int) -> int:
    """Settle the next bucket that holds events; a status, or -1 when there is none."""
    k, highest, buckets = ld64(u + U_BUCKET) + 1, ld64(u + U_HIGHEST), ld64(u + U_BUCKETS)
    while k <= highest and ld64(buckets + k * BUCKET_BYTES) == 0 and ld64(buckets + k * BUCKET_BYTES + 8) == 0:
        k += 1
    if k > highest:
        return -1
    place = buckets + k * BUCKET_BYTES
    events = ld64(place + NDEPARTURE) + ld64(place + NARRIVAL)
    st64(u + U_NEED, events)
    if 4 * events + 16 > ld64(u + U_SEEN_CAPACITY):
        return GROW_SEEN
    for i in range(ld64(u + U_NOWN)):
        r = ld64(ld64(u + U_OWN) + i * 8)
        if events > ld64(r + R_LIST_CAPACITY) or ld64(r + R_NLOG) + events > ld64(r + R_LOG_CAPACITY):
            st64(u + U_SUBJECT, r)
            return GROW_LISTS
    st64(u + U_BUCKET, k)
    settle_bucket(u, k)
    return DONE


@kernel
def extend_indexes(u: int) -> int:
    """Make the rows that were added visible to probes; a status."""
    for i in range(ld64(u + U_NOWN)):
        r = ld64(ld64(u + U_OWN) + i * 8)
        st64(r + R_DELTA_START, ld64(r + R_COUNT))
        st64(r + R_DELTA_STOP, ld64(r + R_COUNT))
    for i in range(ld64(u + U_NINDEX)):
        x = ld64(ld64(u + U_INDEXES) + i * 8)
        status = update_index(x, ld64(u + U_SCRATCH))
        if status != DONE:
            st64(u + U_SUBJECT, x)
            return status
    return DONE


@inlined
def nothing_listed(p: int) -> bool:
    """Whether the list that a plan begins with is empty."""
    level = ld64(p + P_LEVELS)
    r, view = ld64(level + L_RELATION), ld64(level + L_VIEW)
    return ld64(r + R_LEFT + (view - LEFT) * (R_CAME - R_LEFT) + 8) == 0


@kernel
def file_all(u: int) -> int:
    """Run the plans whose lists are not empty, then empty the lists; a status."""
    i, plans = ld64(u + U_POSITION), ld64(u + U_PLANS)
    while i < ld64(u + U_NPLAN):
        p = ld64(plans + i * 8)
        python = p & 1
        p -= python
        if not nothing_listed(p):
            status = PYTHON
            if not python:
                status = run_plan(p)
            st64(u + U_POSITION, i)
            st64(u + U_SUBJECT, p)
            if status != DONE:
                return status
            st64(p + P_LEVEL, -1)
            st64(u + U_WORK, ld64(u + U_WORK) + ld64(p + P_EFFORT))
            st64(p + P_EFFORT, 0)
        i += 1
    st64(u + U_POSITION, 0)
    for i in range(ld64(u + U_NALL)):
        r = ld64(ld64(u + U_ALL) + i * 8)
        st64(r + R_NLEFT, 0)
        st64(r + R_NCAME, 0)
        st64(r + R_NLOST, 0)
    return DONE


@kernel
def run_update(u: int) -> int:
    """Run, or go on running, an update of a stratum; a status. It begins with what changed before bucket 1."""
    while True:
        phase = ld64(u + U_PHASE)
        if phase == PHASE_BUCKET:
            st64(u + U_SUBJECT, 0)
            if ld64(u + U_WORK) > ld64(u + U_BUDGET):
                return PAUSE
            status = next_bucket(u)
            if status == -1:
                return DONE
            if status != DONE:
                return status
            st64(u + U_PHASE, PHASE_EXTEND)
        elif phase == PHASE_EXTEND:
            status = extend_indexes(u)
            if status != DONE:
                return status
            st64(u + U_PHASE, PHASE_FILE)
        else:
            status = file_all(u)
            if status != DONE:
                return status
            st64(u + U_PHASE, PHASE_BUCKET)
