"""Index variants: what does it cost to visit all tuples with a key?

Chains (a head per bucket, a `next` per row) against segments (a slot of 32 bytes per key, entries contiguous) against
CSR (an offset of 8 bytes per key, entries contiguous; cannot grow). Rows arrive in random order, as from an evaluation.
Run: python benchmarks/store/indexes.py [keys tuples-per-key]
"""

from __future__ import annotations

import sys
import time

import numpy as np
from numba import njit

from tidelog.store.kernels.raw import ld32, ld64, lshr, prefetch

GOLDEN = -7046029254386353131
CHUNK = 512
kernel = njit(nogil=True, error_model="numpy")


@kernel
def chains(keys, n, rows, heads, bits, follow):
    total, matches = 0, 0
    for first in range(0, n, CHUNK):
        m = min(CHUNK, n - first)
        for i in range(m):
            prefetch(heads + lshr(ld32(keys + (first + i) * 4) * GOLDEN, 64 - bits) * 4)
        for i in range(m):
            key = ld32(keys + (first + i) * 4)
            q = ld32(heads + lshr(key * GOLDEN, 64 - bits) * 4)
            while q >= 0:
                if ld32(rows + q * 8) == key:
                    total += ld32(rows + q * 8 + 4)
                    matches += 1
                q = ld32(follow + q * 4)
    return total, matches


@kernel
def segments(keys, n, slots, arena):
    total, matches = 0, 0
    for first in range(0, n, CHUNK):
        m = min(CHUNK, n - first)
        for i in range(m):
            prefetch(slots + ld32(keys + (first + i) * 4) * 32)
        for i in range(m):
            prefetch(arena + ld64(slots + ld32(keys + (first + i) * 4) * 32 + 8) * 4)
        for i in range(m):
            slot = slots + ld32(keys + (first + i) * 4) * 32
            at = arena + ld64(slot + 8) * 4
            for j in range(ld32(slot + 16)):
                total += ld32(at + j * 4)
                matches += 1
    return total, matches


@kernel
def csr(keys, n, offsets, arena):
    total, matches = 0, 0
    for first in range(0, n, CHUNK):
        m = min(CHUNK, n - first)
        for i in range(m):
            prefetch(offsets + ld32(keys + (first + i) * 4) * 8)
        for i in range(m):
            prefetch(arena + ld64(offsets + ld32(keys + (first + i) * 4) * 8) * 4)
        for i in range(m):
            at = offsets + ld32(keys + (first + i) * 4) * 8
            for j in range(ld64(at), ld64(at + 8)):
                total += ld32(arena + j * 4)
                matches += 1
    return total, matches


@kernel
def link(rows, heads, bits, follow):
    for r in range(len(rows)):
        s = lshr(np.int64(rows[r, 0]) * GOLDEN, 64 - bits)
        follow[r] = heads[s]
        heads[s] = r


def measure(nkeys: int, per_key: int, probes: int = 2_000_000) -> None:
    random = np.random.default_rng(1)
    rows = random.integers(0, nkeys, (nkeys * per_key, 2)).astype(np.int32)
    keys = random.integers(0, nkeys, probes).astype(np.int32)
    bits = max(4, (nkeys - 1).bit_length())
    heads, follow = np.full(1 << bits, -1, np.int32), np.empty(len(rows), np.int32)
    link(rows, heads, bits, follow)
    order = np.argsort(rows[:, 0], kind="stable")
    arena = np.ascontiguousarray(rows[order, 1])
    offsets = np.searchsorted(rows[order, 0], np.arange(nkeys + 1)).astype(np.int64)
    slots = np.zeros((nkeys, 4), np.int64)
    slots[:, 1] = offsets[:-1]
    slots.view(np.int32)[:, 4] = np.diff(offsets)
    variants = {
        "chains": lambda: chains(
            keys.ctypes.data, probes, rows.ctypes.data, heads.ctypes.data, bits, follow.ctypes.data
        ),
        "segments": lambda: segments(keys.ctypes.data, probes, slots.ctypes.data, arena.ctypes.data),
        "csr": lambda: csr(keys.ctypes.data, probes, offsets.ctypes.data, arena.ctypes.data),
    }
    times: dict[str, list[float]] = {name: [] for name in variants}
    results = set()
    for _ in range(4):
        for name, variant in variants.items():
            began = time.perf_counter()
            results.add(variant())
            times[name].append(time.perf_counter() - began)
    assert len(results) == 1
    ((_, matches),) = results
    best = {name: min(t) for name, t in times.items()}
    figures = "  ".join(f"{name} {t / matches * 1e9:6.1f} ns ({t / best['segments']:.2f}x)" for name, t in best.items())
    print(f"{nkeys:>9,} keys, {per_key:>3} tuples each: per match {figures}")


def main() -> None:
    if len(sys.argv) > 2:
        measure(int(sys.argv[1]), int(sys.argv[2]))
        return
    for nkeys, per_key in ((2000, 5), (200_000, 1), (200_000, 30), (2_000_000, 2), (1_000_000, 10)):
        measure(nkeys, per_key)


if __name__ == "__main__":
    main()
