"""Sets of workers as bit masks: arrays of unsigned words of 64 bits, the last axis of which is one set.

What is always true: bits behind the number of workers are zero. On the wire a set takes no more bytes than its workers
need bits.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Masks: TypeAlias = NDArray[np.uint64]
Places: TypeAlias = NDArray[np.int64]


def words_for(size: int) -> int:
    """How many words a set of workers takes."""
    return -(-size // 64)


def none(size: int, *shape: int) -> Masks:
    return np.zeros((*shape, words_for(size)), np.uint64)


def everyone(size: int) -> Masks:
    return of(np.arange(size), size)[..., :].sum(axis=0, dtype=np.uint64) if size else none(size)


def of(workers: Any, size: int) -> Masks:
    """For each worker, the set that has it alone."""
    workers = np.asarray(workers, np.int64)
    found = none(size, *workers.shape)
    np.put_along_axis(
        found, (workers >> 6)[..., None], (np.uint64(1) << (workers & 63).astype(np.uint64))[..., None], -1
    )
    return found


def members(mask: Masks) -> list[int]:
    """The workers of one set."""
    return [int(n) for n in np.flatnonzero(np.unpackbits(mask.view(np.uint8), bitorder="little"))]


def has(masks: Masks, worker: int) -> NDArray[np.bool_]:
    """For each set, whether it has a worker."""
    found: NDArray[np.bool_] = (masks[..., worker >> 6] >> np.uint64(worker & 63)) & np.uint64(1) == 1
    return found


def union(masks: Masks, axis: int = 0) -> Masks:
    found: Masks = np.bitwise_or.reduce(masks, axis=axis)
    return found


def packed(masks: Masks, size: int) -> NDArray[Any]:
    """As it travels."""
    for width, kind in ((8, np.uint8), (16, np.uint16), (32, np.uint32)):
        if size <= width:
            return masks.astype(kind)
    return np.ascontiguousarray(masks)


def unpacked(masks: NDArray[Any]) -> Masks:
    return masks.astype(np.uint64, copy=False)
