"""The one entry point through which Python calls all kernels, so that all of them are one piece of object code."""

from __future__ import annotations

from tidelog.store.blocks import (
    Columns,
    IndexBlock,
    IndexSlot,
    LinesBlock,
    PackedColumn,
    PlanBlock,
    RelationBlock,
    StratumBlock,
    SymbolsBlock,
    UpdateBlock,
    Words,
)
from tidelog.store.kernels.machine import now, run_plan, run_stratum
from tidelog.store.kernels.matching import mark_missing, mark_returned, match_rows
from tidelog.store.kernels.membership import find_members, find_rows
from tidelog.store.kernels.rank_update import run_rank_update
from tidelog.store.kernels.raw import kernel
from tidelog.store.kernels.rebuild import rebuild_identity, rehash_identity, sample_blocks
from tidelog.store.kernels.segments import rehash_index, update_index
from tidelog.store.kernels.texts import number_texts, rehash_texts
from tidelog.store.kernels.triples import split_lines
from tidelog.store.kernels.update import run_update


@kernel
def entry(which: int, a: int, b: int, c: int, d: int, e: int, f: int) -> int:
    """Call kernel number `which` of native.KERNELS."""
    if which == 0:
        return run_plan(PlanBlock(a))
    if which == 1:
        return run_stratum(StratumBlock(a))
    if which == 2:
        return now()
    if which == 3:
        find_members(RelationBlock(a), Columns(b), c, Words(d), Words(e), Words(f))
    elif which == 4:
        return update_index(IndexBlock(a), Words(b))
    elif which == 5:
        rehash_index(IndexSlot(a), b, PackedColumn(c), IndexBlock(d))
    elif which == 6:
        rehash_identity(Words(a), b, RelationBlock(c))
    elif which == 7:
        return rebuild_identity(RelationBlock(a), Words(b))
    elif which == 8:
        return sample_blocks(RelationBlock(a), b, Words(c), d)
    elif which == 9:
        return run_update(UpdateBlock(a))
    elif which == 10:
        find_rows(RelationBlock(a), Columns(b), c, Words(d), Words(e))
    elif which == 11:
        return number_texts(SymbolsBlock(a), b, c, d, e, Words(f))
    elif which == 12:
        rehash_texts(SymbolsBlock(a))
    elif which == 13:
        return match_rows(RelationBlock(a), RelationBlock(b), c, d, Words(e), Words(f))
    elif which == 14:
        mark_missing(RelationBlock(a), RelationBlock(b), Words(c))
    elif which == 15:
        mark_returned(RelationBlock(a), RelationBlock(b), c, d, Words(e), Words(f))
    elif which == 16:
        return split_lines(LinesBlock(a))
    elif which == 17:
        return run_rank_update(UpdateBlock(a))
    return 0
