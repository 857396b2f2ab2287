"""Packing: how the columns of a tuple or key share the 63 bits of a table slot.

Each column gets (lowest value, bits, shift); a value v is packed as (v - lowest) << shift and fits when that needs no
more than its bits. What is always true: the bits sum to at most 63, and with narrow words every value that fits is a
32-bit one. A tuple whose columns need more cannot be packed; its table is then tagged.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tidelog.store.memory import Array

BITS = 63


def initial(columns: int, wide: bool) -> Array:
    """For columns whose values are not known yet: equal shares, not negative."""
    bits = min(BITS // max(columns, 1), 62 if wide else 31)
    return _table([(0, bits)] * columns, range(columns))


def fit(lows: Sequence[int], highs: Sequence[int], wide: bool, spare: bool = True) -> Array | None:
    """For columns with these values; with `spare`, leaves room for growth. None if 63 bits do not suffice."""
    parts: list[tuple[int, int]] = []
    for low, high in zip(lows, highs, strict=True):
        if low >= 0:
            parts.append((0, max(high, 1).bit_length()))
        else:
            half = max(high, -low - 1, 1).bit_length()
            parts.append((-(1 << half), half + 1))
    if sum(bits for _, bits in parts) > BITS:
        parts = [(low, (high - low).bit_length()) for low, high in zip(lows, highs, strict=True)]
        if sum(bits for _, bits in parts) > BITS or not wide:
            return None
        return _table(parts, range(len(parts)))
    if spare and parts:
        extra = (BITS - sum(bits for _, bits in parts)) // len(parts)
        parts = [_enlarged(low, bits, extra, wide) for low, bits in parts]
    return _table(parts, range(len(parts)))


def _enlarged(low: int, bits: int, extra: int, wide: bool) -> tuple[int, int]:
    if low >= 0:
        return 0, max(bits, min(bits + extra, 62 if wide else 31))
    bits = max(bits, min(bits + extra, 62 if wide else 32))
    return -(1 << (bits - 1)), bits


def lowest_column(pack: Array, column: int) -> Array:
    """The same packing with one column in the lowest bits."""
    parts = [(int(low), int(bits)) for low, bits, _ in pack.reshape(-1, 3)]
    order = [c for c in range(len(parts)) if c != column] + [column]
    return _table(parts, order)


def total_bits(pack: Array) -> int:
    return int(pack.reshape(-1, 3)[:, 1].sum())


def _table(parts: Sequence[tuple[int, int]], order: Sequence[int]) -> Array:
    """The last column of `order` has the lowest bits."""
    pack = np.zeros((len(parts), 3), np.int64)
    shift = 0
    for c in reversed(list(order)):
        low, bits = parts[c]
        pack[c] = low, bits, shift
        shift += bits
    return pack.reshape(-1)
