"""The symbol dictionary: the number of each text, new texts numbered as they come.

A slot of the table is (32 bits of hash, number + 1); the texts themselves lie one behind the other in a byte store,
their ends in a list of offsets, both as Arrow has them. What is always true: no text is there twice; a call that must
wait for more room has numbered all texts before the one it stops at. Cost: three cache misses per text (its slot, its
end, its bytes), all asked for ahead of time, block by block; a pass over its bytes eight at a time, one more when it is
new.
"""

from __future__ import annotations

from typing import Any

from numba import types

from tidelog.store.kernels.raw import I64, inlined, intrinsic, kernel, ld32, ld64, lshr, prefetch, st64
from tidelog.store.layout import (
    D_BITS,
    D_BYTES,
    D_CAPACITY,
    D_COUNT,
    D_FROZEN,
    D_LIMIT,
    D_OFFSETS,
    D_TABLE,
    GOLDEN,
)

BLOCK = 64  # texts hashed before they are looked up


@intrinsic
def load(typingctx: Any, address: Any) -> Any:
    """The eight bytes at any address."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load(builder.inttoptr(args[0], I64.as_pointer()), align=1)

    return types.int64(types.int64), codegen


@intrinsic
def store(typingctx: Any, address: Any, value: Any) -> Any:
    """Store eight bytes at any address."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store(args[1], builder.inttoptr(args[0], I64.as_pointer()), align=1)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), codegen


@inlined
def rest(at: int, k: int) -> int:
    """k bytes (1 to 7) and zeros. Only aligned words that hold some of them are read, so no foreign page is touched."""
    shift, word = (at & 7) * 8, at & ~7
    value = lshr(ld64(word), shift)
    if shift + k * 8 > 64:
        value |= ld64(word + 8) << (64 - shift)
    return value & ((1 << (k * 8)) - 1)


@kernel
def hash_text(at: int, length: int) -> int:
    h = length * GOLDEN
    stop = at + (length & ~7)
    while at < stop:
        h = (h ^ load(at)) * GOLDEN
        h ^= lshr(h, 29)
        at += 8
    if length & 7:
        h = (h ^ rest(at, length & 7)) * GOLDEN
        h ^= lshr(h, 32)
    h *= GOLDEN
    return h ^ lshr(h, 31)


@kernel
def same_text(a: int, b: int, length: int) -> bool:
    stop = a + (length & ~7)
    while a < stop:
        if load(a) != load(b):
            return False
        a += 8
        b += 8
    return (length & 7) == 0 or rest(a, length & 7) == rest(b, length & 7)


@kernel
def append_text(bytes_at: int, at: int, length: int) -> None:
    """Copy a text; up to seven bytes behind it are overwritten."""
    stop = at + (length & ~7)
    while at < stop:
        store(bytes_at, load(at))
        at += 8
        bytes_at += 8
    if length & 7:
        store(bytes_at, rest(at, length & 7))


@inlined
def offset_at(offsets: int, wide: int, i: int) -> int:
    if wide:
        return ld64(offsets + i * 8)
    return ld32(offsets + i * 4)


@inlined
def likely_number(table: int, mask: int, h: int) -> int:
    """The number in the first slot for a hash, which is that of its text more often than not; 0 if there is none."""
    e = ld64(table + (h & mask) * 8)
    return max((e & 0xFFFFFFFF) - 1, 0)


@kernel
def number_texts(d: int, data: int, offsets: int, wide: int, n: int, numbers: int) -> int:
    """numbers[i] := the number of text i (bytes offsets[i] to offsets[i + 1] of data), -1 if it is new and D_FROZEN;
    how many are done, fewer than n when the dictionary needs room for the next."""
    table, bits, frozen = ld64(d + D_TABLE), ld64(d + D_BITS), ld64(d + D_FROZEN)
    own, ends, mask = ld64(d + D_BYTES), ld64(d + D_OFFSETS), (1 << bits) - 1
    done = 0
    while done < n:
        stop = min(n, done + BLOCK)
        for i in range(done, stop):
            start = offset_at(offsets, wide, i)
            h = hash_text(data + start, offset_at(offsets, wide, i + 1) - start)
            st64(numbers + i * 8, h)
            prefetch(table + (h & mask) * 8)
        for i in range(done, stop):
            k = likely_number(table, mask, ld64(numbers + i * 8))
            prefetch(ends + k * 8)
        for i in range(done, stop):
            k = likely_number(table, mask, ld64(numbers + i * 8))
            prefetch(own + ld64(ends + k * 8))
        for i in range(done, stop):
            start = offset_at(offsets, wide, i)
            length, h = offset_at(offsets, wide, i + 1) - start, ld64(numbers + i * 8)
            s, tag, found = h & mask, lshr(h, 32), -1
            e = ld64(table + s * 8)
            while e != 0:
                if lshr(e, 32) == tag:
                    k = (e & 0xFFFFFFFF) - 1
                    first = ld64(ends + k * 8)
                    if ld64(ends + k * 8 + 8) - first == length and same_text(own + first, data + start, length):
                        found = k
                        break
                s = (s + 1) & mask
                e = ld64(table + s * 8)
            if found < 0 and not frozen:
                found = ld64(d + D_COUNT)
                first = ld64(ends + found * 8)
                if found >= ld64(d + D_LIMIT) or first + length + 8 > ld64(d + D_CAPACITY):
                    return i
                append_text(own + first, data + start, length)
                st64(ends + found * 8 + 8, first + length)
                st64(table + s * 8, (tag << 32) | (found + 1))
                st64(d + D_COUNT, found + 1)
            st64(numbers + i * 8, found)
        done = stop
    return done


@kernel
def rehash_texts(d: int) -> None:
    """Enter all texts into an empty table."""
    table, mask = ld64(d + D_TABLE), (1 << ld64(d + D_BITS)) - 1
    own, ends = ld64(d + D_BYTES), ld64(d + D_OFFSETS)
    for k in range(ld64(d + D_COUNT)):
        first = ld64(ends + k * 8)
        h = hash_text(own + first, ld64(ends + k * 8 + 8) - first)
        s = h & mask
        while ld64(table + s * 8) != 0:
            s = (s + 1) & mask
        st64(table + s * 8, (lshr(h, 32) << 32) | (k + 1))
