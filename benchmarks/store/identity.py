"""Identity variants on the closure of a random graph: which table decides fastest that a tuple is known?

Each variant closes the same graph with the same scan and the same CSR probe; only the duplicate check differs.
Run: python benchmarks/store/identity.py [nodes edges]
"""

from __future__ import annotations

import sys
import time

import numpy as np
from numba import njit

from tidelog.store.kernels.raw import ld32, ld64, lshr, prefetch, st32, st64

GOLDEN = -7046029254386353131
CHUNK = 1024
kernel = njit(nogil=True, error_model="numpy")


@kernel
def expand(rows, start, stop, offsets, edges, out, cursor):
    """Join rows[start:stop] with a CSR graph into packed keys; stops when `out` (CHUNK keys) is full."""
    r, j, k = ld64(cursor), ld64(cursor + 8), 0
    while r < stop:
        x, z = ld32(rows + r * 8), ld32(rows + r * 8 + 4)
        a, b = ld64(offsets + z * 8), ld64(offsets + z * 8 + 8)
        while a + j < b:
            if k == CHUNK:
                st64(cursor, r)
                st64(cursor + 8, j)
                return k
            st64(out + k * 8, (x << 31) | ld32(edges + (a + j) * 4))
            k += 1
            j += 1
        r += 1
        j = 0
    st64(cursor, r)
    st64(cursor + 8, 0)
    return k


@kernel
def packed(rows, n, table, bits, keys, m, scratch, ahead):
    """The packed key itself in the slot; hashes (and prefetches) of the chunk first when `ahead`."""
    shift, mask = 64 - bits, (1 << bits) - 1
    if ahead:
        for i in range(m):
            s = lshr(ld64(keys + i * 8) * GOLDEN, shift)
            st64(scratch + i * 8, s)
            if ahead > 1:
                prefetch(table + s * 8)
    for i in range(m):
        key = ld64(keys + i * 8)
        tagged = key | (1 << 63)
        s = ld64(scratch + i * 8) if ahead else lshr(key * GOLDEN, shift)
        while True:
            e = ld64(table + s * 8)
            if e == tagged:
                break
            if e == 0:
                st64(table + s * 8, tagged)
                st32(rows + n * 8, key >> 31)
                st32(rows + n * 8 + 4, key & 0x7FFFFFFF)
                n += 1
                break
            s = (s + 1) & mask
    return n


@kernel
def tagged(rows, n, table, bits, keys, m, scratch, ahead):
    """(hash tag, row number) in the slot; the row is compared when the tag agrees."""
    shift, mask = 64 - bits, (1 << bits) - 1
    for i in range(m):
        h = ld64(keys + i * 8) * GOLDEN
        st64(scratch + i * 8, h)
        prefetch(table + lshr(h, shift) * 8)
    if ahead > 2:
        for i in range(m):
            e = ld64(table + lshr(ld64(scratch + i * 8), shift) * 8)
            prefetch(rows + (e & 0xFFFFFFFF) * 8)
    for i in range(m):
        key = ld64(keys + i * 8)
        h = ld64(scratch + i * 8)
        x, y = key >> 31, key & 0x7FFFFFFF
        tag = (h & 0x7FFFFFFF) << 32 | (1 << 63)
        s = lshr(h, shift)
        while True:
            e = ld64(table + s * 8)
            if e == 0:
                st64(table + s * 8, tag | n)
                st32(rows + n * 8, x)
                st32(rows + n * 8 + 4, y)
                n += 1
                break
            if (e ^ tag) & ~0xFFFFFFFF == 0:
                r = e & 0xFFFFFFFF
                if ld32(rows + r * 8) == x and ld32(rows + r * 8 + 4) == y:
                    break
            s = (s + 1) & mask
    return n


@kernel
def bitmap(rows, n, table, bits, keys, m, scratch, ahead):
    """A slot holds key >> 6 and a word with one bit per value of the low six."""
    shift, mask = 64 - bits, (1 << bits) - 1
    for i in range(m):
        s = lshr((ld64(keys + i * 8) >> 6) * GOLDEN, shift)
        st64(scratch + i * 8, s)
        prefetch(table + s * 16)
    for i in range(m):
        key = ld64(keys + i * 8)
        block, bit = (key >> 6) | (1 << 63), 1 << (key & 63)
        s = ld64(scratch + i * 8)
        while True:
            e = ld64(table + s * 16)
            if e == block:
                break
            if e == 0:
                st64(table + s * 16, block)
                break
            s = (s + 1) & mask
        word = ld64(table + s * 16 + 8)
        if word & bit == 0:
            st64(table + s * 16 + 8, word | bit)
            st32(rows + n * 8, key >> 31)
            st32(rows + n * 8 + 4, key & 0x7FFFFFFF)
            n += 1
    return n


@kernel
def iterate(rows, n, start, stop, offsets, edges, out, cursor, table, bits, scratch, variant, ahead):
    st64(cursor, start)
    st64(cursor + 8, 0)
    total = 0
    while True:
        m = expand(rows, start, stop, offsets, edges, out, cursor)
        if m == 0:
            break
        total += m
        if variant == 0:
            n = packed(rows, n, table, bits, out, m, scratch, ahead)
        elif variant == 1:
            n = tagged(rows, n, table, bits, out, m, scratch, ahead)
        elif variant == 2:
            n = bitmap(rows, n, table, bits, out, m, scratch, ahead)
    return n, total


def closure(edges: np.ndarray, variant: int, ahead: int, bits: int, capacity: int) -> tuple[int, int, float]:
    nodes = int(edges.max()) + 1
    edges = edges[np.lexsort(edges.T[::-1])].astype(np.int32)
    offsets = np.searchsorted(edges[:, 0], np.arange(nodes + 1)).astype(np.int64)
    targets = np.ascontiguousarray(edges[:, 1])
    rows = np.empty((capacity, 2), np.int32)
    table = np.zeros((1 << bits) * (2 if variant == 2 else 1), np.int64)
    out, scratch, cursor = np.empty(CHUNK, np.int64), np.empty(CHUNK, np.int64), np.zeros(2, np.int64)
    began = time.perf_counter()
    keys = edges[:, 0].astype(np.int64) << 31 | edges[:, 1]
    insert = (packed, tagged, bitmap)[variant]
    n = 0
    for a in range(0, len(keys), CHUNK):
        part = keys[a : a + CHUNK]
        n = insert(
            rows.ctypes.data, n, table.ctypes.data, bits, part.ctypes.data, len(part), scratch.ctypes.data, ahead
        )
    start, total = 0, 0
    while start < n:
        stop = n
        n, more = iterate(
            rows.ctypes.data, n, start, stop, offsets.ctypes.data, targets.ctypes.data, out.ctypes.data,
            cursor.ctypes.data, table.ctypes.data, bits, scratch.ctypes.data, variant, ahead,
        )  # fmt: skip
        total += more
        start = stop
    return n, total, time.perf_counter() - began


def main() -> None:
    if len(sys.argv) > 1 and not sys.argv[1].isdigit():
        edges = np.loadtxt(sys.argv[1], dtype=np.int64)
    else:
        nodes, count = (int(x) for x in sys.argv[1:3]) if len(sys.argv) > 2 else (2000, 10000)
        edges = np.unique(np.random.default_rng(1).integers(0, nodes, (count, 2)), axis=0)
    bits = int(sys.argv[3]) if len(sys.argv) > 3 else 23
    variants = [
        ("packed, one at a time", 0, 0, bits),
        ("packed, hashes first", 0, 1, bits),
        ("packed, hashes first, prefetch", 0, 2, bits),
        ("tagged row numbers, prefetch slot", 1, 2, bits),
        ("tagged row numbers, prefetch slot and row", 1, 3, bits),
        ("bitmap of 64, prefetch", 2, 2, bits),
        ("bitmap of 64, table of a quarter", 2, 2, bits - 2),
    ]
    for name, variant, ahead, size in variants:
        closure(edges[:5], variant, ahead, 12, 1000)
        runs = [closure(edges, variant, ahead, size, 1 << (bits)) for _ in range(3)]
        n, total, _ = runs[0]
        best = min(r[2] for r in runs)
        print(f"{name:45} {n:>10,} facts {total:>12,} derivations {best:7.3f} s {best / total * 1e9:6.1f} ns each")


if __name__ == "__main__":
    main()
