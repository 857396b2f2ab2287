"""What a burst costs a network: incremental maintenance against recomputation and DRed (paper 000, sections 2.3 and 6).

Two protocols on random networks with three links per node on average: path vectors of at most three hops, where a path
has one derivation, and nodes within three hops, where a fact has many. A burst takes links away, both directions, and
the next one brings them back. Incremental maintenance is PSN on the network (`net.runtime`); recomputation is the same
network from nothing with the links after the burst (when all links are back, that is the start); DRed is the exhibit,
which counts what it would send.
Run: python -m benchmarks.network.maintenance [nodes ...] [--plots FOLDER]
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from tidelog.net import Fact, Update, scheduler
from tidelog.net.exhibits.dred import Cost, Dred
from tidelog.net.program import NetProgram, load_local
from tidelog.net.runtime import Convergence, InProcess, Network
from tidelog.net.runtime.topologies import topology

SEED = 7
PROTOCOLS = {
    "path vector": """
r1: path(@S,D,P,C) :- link(@S,D,C), P=f_init(S,D).
r2: path(@S,D,P,C) :- link(@S,Z,C1), path(@Z,D,P2,C2), f_size(P2) < 4, f_inPath(P2,S)=false, C=C1+C2, P=f_concat(S,P2).
""",
    "within hops": """
r1: near(@S,D,1) :- link(@S,D,C).
r2: near(@S,D,H) :- link(@S,Z,C), near(@Z,D,H2), H2 < 3, H=H2+1.
""",
}
WAYS = ("incremental", "recomputation", "DRed")


@dataclass(frozen=True)
class Way:
    """What one way of keeping the network up to date cost."""

    messages: int
    bytes: int
    rounds: int
    seconds: float
    rederived: int | None = None

    @staticmethod
    def of_network(seconds: float, cost: Convergence) -> Way:
        return Way(cost.messages, cost.bytes, cost.rounds, seconds)

    @staticmethod
    def of_dred(seconds: float, cost: Cost) -> Way:
        return Way(cost.messages, cost.bytes, cost.rounds, seconds, len(cost.rederived))


@dataclass(frozen=True)
class Row:
    """A burst of so many links (0: the start), which is a share of all, on a network of so many nodes."""

    protocol: str
    nodes: int
    share: float
    links: int
    burst: str
    ways: dict[str, Way]


SHARES = (0.0, 0.01, 0.1)
"""The parts of all links that a burst takes away; the first stands for a single link."""


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    started = time.process_time()
    result = work()
    return time.process_time() - started, result


def network(program: NetProgram) -> Network:
    return Network(program, InProcess(scheduler("random", SEED)))


def bursts(links: list[tuple[Any, ...]]) -> Iterator[tuple[float, int, list[Fact]]]:
    """The share and number of links that fail in a burst, and their facts, both directions."""
    for share in SHARES:
        count = max(1, round(len(links) * share))
        chosen = Random(SEED).sample(links, count)
        yield share, count, [Fact("link", ends) for a, b, c in chosen for ends in ((a, b, c), (b, a, c))]


def measure(name: str, nodes: int) -> Iterator[Row]:
    program = load_local(PROTOCOLS[name])
    made = topology(f"random:{nodes}:{3 / nodes}", SEED)
    links = made.facts(program)
    running, dred = network(program), Dred(program, links)
    start = Way.of_network(*seconds(lambda: running.burst(Update(1, f) for f in links)))
    yield Row(name, nodes, 0.0, 0, "start", {"incremental": start})
    for share, count, failing in bursts(list(made.links)):
        for sign in (-1, 1):
            burst = [Update(sign, f) for f in failing]
            ways = {"incremental": Way.of_network(*seconds(lambda burst=burst: running.burst(burst)))}
            ways["DRed"] = Way.of_dred(*seconds(lambda burst=burst: dred.update(burst)))
            ways["recomputation"] = start
            assert running.facts() == dred.facts
            if sign < 0:
                gone, fresh = set(failing), network(program)
                left = [Update(1, f) for f in links if f not in gone]
                ways["recomputation"] = Way.of_network(*seconds(lambda left=left, fresh=fresh: fresh.burst(left)))
                assert running.facts() == fresh.facts()
                del fresh
                gc.collect()
            yield Row(name, nodes, share, count, f"{'-' if sign < 0 else '+'}{count} links", ways)


def show(row: Row) -> str:
    cells = [row.protocol, f"{row.nodes:,}", row.burst]
    for name in WAYS:
        way = row.ways.get(name)
        if way is None:
            cells += ["–"] * 4
        else:
            cells += [f"{way.messages:,}", f"{way.bytes:,}", f"{way.rounds}", f"{way.seconds:.2f}"]
    again = row.ways["DRed"].rederived if "DRed" in row.ways else None
    return "| " + " | ".join([*cells, "–" if again is None else f"{again:,}"]) + " |"


def main() -> None:
    gc.disable()
    arguments = sys.argv[1:]
    folder = Path(arguments[arguments.index("--plots") + 1]) if "--plots" in arguments else None
    sizes = [int(a) for a in arguments if a.isdigit()] or [100, 1_000, 5_000]
    print("| protocol | nodes | burst | " + " | ".join(f"{w}: messages | bytes | rounds | CPU s" for w in WAYS)
          + " | re-derived |")  # fmt: skip
    print("|---|---:|---|" + "---:|" * 13)
    rows = []
    for name in PROTOCOLS:
        for nodes in sizes:
            for row in measure(name, nodes):
                rows.append(row)
                print(show(row), flush=True)
    if folder:
        from benchmarks.network.plots import by_burst, by_size

        by_size(rows, folder / "maintenance-by-size.png")
        by_burst(rows, folder / "maintenance-by-burst.png")


if __name__ == "__main__":
    main()
