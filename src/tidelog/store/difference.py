"""What a relation that was evaluated anew has more and less than the one before it (see `kernels/matching.py`)."""

from __future__ import annotations

import numpy as np

from tidelog.store.memory import Array, address
from tidelog.store.relation import Relation

PIECE = 1 << 12
"""Rows that are compared or looked up at a time, so that what is needed for it stays in the processor's cache."""
WORDS = 1 << 12
"""Words of bits that are turned into row numbers at a time."""


def difference(new: Relation, old: Relation) -> tuple[Array, Array]:
    """The rows of the new relation that the old one did not have before the running update, and those of the old one
    that the new one does not have; both in order."""
    return _of_blocks(new, old) if new.has_blocks_like(old) else _of_rows(new, old)


def _of_blocks(new: Relation, old: Relation) -> tuple[Array, Array]:
    kernels = new.database.kernels
    come, gone = np.zeros(new.count // 64 + 1, np.int64), np.zeros(old.count // 64 + 1, np.int64)
    kernels.mark_missing(new.address, old.address, address(come))
    kernels.mark_missing(old.address, new.address, address(gone))
    work = np.zeros(old.arity + (3 + old.arity) * PIECE, np.int64)
    for first in range(0, old.count, PIECE):
        last = min(first + PIECE, old.count)
        kernels.mark_returned(old.address, new.address, first, last, address(come), address(work))
    return numbers_of(come, new.count), numbers_of(gone, old.count)


def _of_rows(new: Relation, old: Relation) -> tuple[Array, Array]:
    seen = np.zeros(new.count // 64 + 1, np.int64)
    work = np.zeros(1 + old.arity + (3 + old.arity) * PIECE, np.int64)
    gone = []
    for first in range(0, old.count, PIECE):
        last = min(first + PIECE, old.count)
        kernels = new.database.kernels
        n = kernels.match_rows(old.address, new.address, first, last, address(seen), address(work))
        gone.append(work[1 : n + 1].copy())
    return numbers_of(~seen, new.count), np.concatenate(gone) if gone else np.zeros(0, np.int64)


def numbers_of(bits: Array, count: int) -> Array:
    """The numbers of those of the first so many bits that are set, word by word from the lowest bit on."""
    if count % 64:
        bits[count // 64] &= (1 << count % 64) - 1
    bits = bits[: (count + 63) // 64]
    pieces = [bits[first : first + WORDS] for first in range(0, len(bits), WORDS)]
    sizes = [int(np.bitwise_count(piece.view(np.uint64)).sum()) for piece in pieces]
    numbers = np.empty(sum(sizes), np.int64)
    at = 0
    for i, (piece, size) in enumerate(zip(pieces, sizes, strict=True)):
        if size:
            found = np.flatnonzero(np.unpackbits(piece.view(np.uint8), bitorder="little"))
            np.add(found, i * WORDS * 64, out=numbers[at : at + size])
            at += size
    return numbers
