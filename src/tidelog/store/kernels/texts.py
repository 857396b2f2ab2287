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

from tidelog.store.blocks import Halves, SymbolsBlock, TextPlace, Words
from tidelog.store.codes import GOLDEN, PAIRS, WIDE_OFFSETS
from tidelog.store.kernels.raw import I64, inlined, intrinsic, kernel, ld64, lshr, prefetch

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
def begin_of(places: int, kind: int, i: int) -> int:
    """Where text i begins: places are pairs, or offsets of 32 or 64 bits, a text ending where the next begins."""
    if kind == PAIRS:
        return TextPlace(places)[i].begin
    if kind == WIDE_OFFSETS:
        return Words(places)[i]
    return Halves(places)[i]


@inlined
def end_of(places: int, kind: int, i: int) -> int:
    if kind == PAIRS:
        return TextPlace(places)[i].end
    return begin_of(places, kind, i + 1)


@inlined
def likely_number(table: Words, mask: int, h: int) -> int:
    """The number in the first slot for a hash, which is that of its text more often than not; 0 if there is none."""
    e = table[h & mask]
    return max((e & 0xFFFFFFFF) - 1, 0)


@kernel
def number_texts(d: SymbolsBlock, data: int, places: int, kind: int, n: int, numbers: Words) -> int:
    """numbers[i] := the number of text i, the bytes of data in the i-th place, -1 if it is new and frozen; how many
    are done, fewer than n when the dictionary needs room for the next."""
    table, bits, frozen = d.table, d.bits, d.frozen
    own, ends, mask = d.bytes, d.ends, (1 << bits) - 1
    done = 0
    while done < n:
        stop = min(n, done + BLOCK)
        for i in range(done, stop):
            start = begin_of(places, kind, i)
            h = hash_text(data + start, end_of(places, kind, i) - start)
            numbers[i] = h
            prefetch(table + (h & mask))
        for i in range(done, stop):
            k = likely_number(table, mask, numbers[i])
            prefetch(ends + k)
        for i in range(done, stop):
            k = likely_number(table, mask, numbers[i])
            prefetch(own + ends[k])
        for i in range(done, stop):
            start = begin_of(places, kind, i)
            length, h = end_of(places, kind, i) - start, numbers[i]
            s, tag, found = h & mask, lshr(h, 32), -1
            e = table[s]
            while e != 0:
                if lshr(e, 32) == tag:
                    k = (e & 0xFFFFFFFF) - 1
                    first = ends[k]
                    if ends[k + 1] - first == length and same_text(own + first, data + start, length):
                        found = k
                        break
                s = (s + 1) & mask
                e = table[s]
            if found < 0 and not frozen:
                found = d.count
                first = ends[found]
                if found >= d.limit or first + length + 8 > d.capacity:
                    return i
                append_text(own + first, data + start, length)
                ends[found + 1] = first + length
                table[s] = (tag << 32) | (found + 1)
                d.count = found + 1
            numbers[i] = found
        done = stop
    return done


@kernel
def rehash_texts(d: SymbolsBlock) -> None:
    """Enter all texts into an empty table."""
    table, mask = d.table, (1 << d.bits) - 1
    own, ends = d.bytes, d.ends
    for k in range(d.count):
        first = ends[k]
        h = hash_text(own + first, ends[k + 1] - first)
        s = h & mask
        while table[s] != 0:
            s = (s + 1) & mask
        table[s] = (lshr(h, 32) << 32) | (k + 1)
