"""The one entry point through which Python calls all kernels, so that all of them are one piece of object code."""

from __future__ import annotations

from tidelog.store.kernels.machine import now, run_plan, run_stratum
from tidelog.store.kernels.matching import mark_missing, mark_returned, match_rows
from tidelog.store.kernels.membership import find_members, find_rows
from tidelog.store.kernels.raw import kernel
from tidelog.store.kernels.rebuild import rebuild_identity, rehash_identity, sample_blocks
from tidelog.store.kernels.segments import rehash_index, update_index
from tidelog.store.kernels.texts import number_texts, rehash_texts
from tidelog.store.kernels.update import run_update


@kernel
def entry(which: int, a: int, b: int, c: int, d: int, e: int, f: int) -> int:
    """Call kernel number `which` of native.KERNELS."""
    if which == 0:
        return run_plan(a)
    if which == 1:
        return run_stratum(a)
    if which == 2:
        return now()
    if which == 3:
        find_members(a, b, c, d, e, f)
    elif which == 4:
        return update_index(a, b)
    elif which == 5:
        rehash_index(a, b, c, d)
    elif which == 6:
        rehash_identity(a, b, c)
    elif which == 7:
        return rebuild_identity(a, b)
    elif which == 8:
        return sample_blocks(a, b, c, d)
    elif which == 9:
        return run_update(a)
    elif which == 10:
        find_rows(a, b, c, d, e)
    elif which == 11:
        return number_texts(a, b, c, d, e, f)
    elif which == 12:
        rehash_texts(a)
    elif which == 13:
        return match_rows(a, b, c, d, e, f)
    elif which == 14:
        mark_missing(a, b, c)
    elif which == 15:
        mark_returned(a, b, c, d, e, f)
    return 0
