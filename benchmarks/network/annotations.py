"""Memory and time of derivation sets: hash-consed tries against plain frozensets, in the same annotated runs.

Reachability on rings and grids, inserted and maintained by annotated PSN (paper 000, section 5). Both runs make the
same updates; only the representation of S and H differs. `retained` is what the annotations keep alive after the run.
With `--hundreds` the networks have one to two hundred nodes, and cycles are cut, as `tidelog net run` does.
Run: python -m benchmarks.network.annotations [--large | --hundreds]
"""

from __future__ import annotations

import gc
import sys
import time
import tracemalloc
from collections.abc import Iterable

from tidelog.net import Configuration, Derivations, Fact, Update, load, psn
from tidelog.net.runtime.topologies import topology
from tidelog.net.sets import EMPTY, FactSets

PROGRAM = "r1: reachable(@S,D) :- link(@S,D).\nr2: reachable(@S,D) :- link(@S,Z), reachable(@Z,D)."


class PlainSets(FactSets):
    """The obvious representation: a frozenset for each different S and H, and nothing in between."""

    def __init__(self) -> None:
        super().__init__()
        self._sets: list[frozenset[Fact]] = [frozenset()]
        self._number_of: dict[frozenset[Fact], int] = {frozenset(): EMPTY}

    def add(self, a: int, fact: Fact) -> int:
        return self._the(self._sets[a] | {fact})

    def of(self, facts: Iterable[Fact]) -> int:
        return self._the(frozenset(facts))

    def contains(self, a: int, fact: Fact) -> bool:
        return fact in self._sets[a]

    def union(self, a: int, b: int) -> int:
        return self._the(self._sets[a] | self._sets[b])

    def _the(self, members: frozenset[Fact]) -> int:
        number = self._number_of.get(members)
        if number is None:
            number = self._number_of[members] = len(self._sets)
            self._sets.append(members)
        return number


def ring(n: int) -> list[Fact]:
    return [Fact("link", (i, (i + 1) % n)) for i in range(n)]


def line(n: int) -> list[Fact]:
    return [Fact("link", (i, i + 1)) for i in range(n - 1)]


def grid(n: int) -> list[Fact]:
    """Links to the right and downwards."""
    cells = [(x, y) for x in range(n) for y in range(n)]
    right = [Fact("link", (x * n + y, x * n + y + 1)) for x, y in cells if y + 1 < n]
    return right + [Fact("link", (x * n + y, (x + 1) * n + y)) for x, y in cells if x + 1 < n]


def tree(n: int) -> list[Fact]:
    """A random tree, links both ways: cycles of two nodes everywhere."""
    return topology(f"ba:{n}:1", 7).facts(load(PROGRAM))


def timed(sets: type[FactSets], facts: list[Fact], cut: bool) -> tuple[float, Configuration]:
    configuration = Configuration(load(PROGRAM, local=True), Derivations(sets(), cut))
    started = time.perf_counter()
    psn(configuration, [Update(1, f) for f in facts])
    return time.perf_counter() - started, configuration


def retained(sets: type[FactSets], facts: list[Fact], cut: bool) -> tuple[float, int]:
    """Megabytes that the sets keep alive after the run, and the copies of facts in the state."""
    gc.collect()
    tracemalloc.start()
    _, configuration = timed(sets, facts, cut)
    copies = sum(configuration.view().values())
    derivations = configuration.derivations
    assert derivations is not None
    before, _ = tracemalloc.get_traced_memory()
    del derivations.sets
    gc.collect()
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return (before - after) / 1e6, copies


def main() -> None:
    sizes = [("ring 20", ring(20)), ("ring 40", ring(40)), ("line 60", line(60)), ("grid 4x4", grid(4))]
    if "--large" in sys.argv:
        sizes += [("ring 80", ring(80)), ("line 120", line(120)), ("grid 5x5", grid(5))]
    print("| network | cycles | copies | plain sets | hash-consed | plain/hash-consed memory | time |")
    print("|---|---|---:|---:|---:|---:|---:|")
    if "--hundreds" in sys.argv:
        sizes = [(f"ring {n}", ring(n)) for n in (100, 160)] + [(f"tree {n}", tree(n)) for n in (100, 200)]
    for name, facts in sizes:
        for cut in (True,) if "--hundreds" in sys.argv else (False, True):
            plain, copies = retained(PlainSets, facts, cut)
            shared, same = retained(FactSets, facts, cut)
            assert copies == same
            seconds = [timed(kind, facts, cut)[0] for kind in (PlainSets, FactSets)]
            print(
                f"| {name} | {'cut' if cut else 'once round'} | {copies:,} | {plain:.2f} MB | {shared:.2f} MB "
                f"| {plain / shared:.1f} | {seconds[0] / seconds[1]:.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
