"""What a burst costs a recursive program: supports against starting over, DRed and annotated derivations.

Reachability (all pairs) and distance vectors without a bound, on grids, rings, trees and random networks. Parts of the
links are taken away, in both directions, and brought back: one link, one in a hundred, a tenth, a third, a half.
Supports are what `auto` takes; starting over is the same network from nothing with the links that are left, which
`auto` does when more than `START_OVER` of the base facts change; DRed is the exhibit, which knows no aggregates;
`annotated` is section 5 of paper 000 with cycles cut, where it ends within the limit. All end with the same facts,
which is checked.

Run: python -m benchmarks.network.recursive [--small | --large] [--limit UPDATES]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from tidelog.errors import TidelogError
from tidelog.net import Fact, Meter, Update, choose, scheduler
from tidelog.net.exhibits.dred import Dred
from tidelog.net.program import load_local
from tidelog.net.runtime import Convergence, InProcess, Network
from tidelog.net.runtime.topologies import topology

PROTOCOLS = {
    "reachability": "r1: reach(@S,D) :- link(@S,D,C). r2: reach(@S,D) :- link(@S,Z,C), reach(@Z,D).",
    "distance vector": """
d1: cost(@S,D,C) :- link(@S,D,C).
d2: cost(@S,D,C) :- link(@S,Z,C1), best(@Z,D,C2), C=C1+C2.
d3: best(@S,D,min<C>) :- cost(@S,D,C).
""",
}
SMALL = ("grid:4x3", "random:30:0.1")
NETWORKS = ("grid:6x6", "ring:40", "ba:100:1", "random:50:0.06", "grid:10x10", "random:100:0.03")
LARGE = (*NETWORKS, "ba:200:2", "random:300:0.01", "ba:1000:1")
SHARES = (0.0, 0.01, 0.1, 1 / 3, 0.5)
"""The parts of all links that a burst takes away; the first stands for a single link."""


@dataclass(frozen=True)
class Cost:
    """What one way took; None if it was not tried, or did not end within its limit."""

    messages: int
    bytes: int
    rounds: int
    seconds: float

    def __str__(self) -> str:
        return f"{self.messages:,} | {self.bytes:,} | {self.rounds} | {self.seconds:.2f}"


WAYS = ("supports", "starting over", "DRed", "annotated")


def main() -> None:
    arguments = sys.argv[1:]
    limit = int(arguments[arguments.index("--limit") + 1]) if "--limit" in arguments else 100_000
    networks = SMALL if "--small" in arguments else LARGE if "--large" in arguments else NETWORKS
    print(f"| protocol | network | burst | {' | '.join(f'{w}: messages | bytes | rounds | CPU s' for w in WAYS)} |")
    print("|---|---|---|" + "---:|" * 4 * len(WAYS))
    for protocol in PROTOCOLS:
        for where in networks:
            for burst, costs in measure(protocol, where, limit):
                cells = [str(costs[w]) if costs.get(w) else "– | – | – | –" for w in WAYS]
                print(f"| {protocol} | {where} | {burst} | " + " | ".join(cells) + " |", flush=True)


def measure(protocol: str, where: str, limit: int) -> Iterator[tuple[str, dict[str, Cost | None]]]:
    program = load_local(PROTOCOLS[protocol])
    links = topology(where, 7).facts(program)
    kept = started(protocol, "supported", links, 10**9)
    assert kept is not None
    other = started(protocol, "cut", links, limit) if protocol == "reachability" else None
    dred = Dred(program, links) if protocol == "reachability" else None
    yield "start", {"supports": kept[1], "annotated": other[1] if other else None}
    for name, burst in bursts(links):
        costs: dict[str, Cost | None] = {"supports": timed(kept[0], burst)}
        if other:
            costs["annotated"] = timed(other[0], burst)
        if burst[0].sign < 0:
            gone = {u.fact for u in burst}
            again = started(protocol, "supported", [f for f in links if f not in gone], 10**9)
            assert again is not None
            assert own(again[0]) == own(kept[0])
            costs["starting over"] = again[1]
        if dred is not None:
            begin = time.process_time()
            cost = dred.update(burst)
            costs["DRed"] = Cost(cost.messages, cost.bytes, cost.rounds, time.process_time() - begin)
            assert {f for f in dred.facts if f.name in ("reach", "link")} == own(kept[0])
        yield name, costs


def started(protocol: str, algorithm: str, links: list[Fact], limit: int) -> tuple[Network, Cost] | None:
    """A network at its start; None if that takes more updates than the limit."""
    program = load_local(PROTOCOLS[protocol])
    running, derivations = choose(algorithm, program, links).start(program)
    network = Network(running, InProcess(scheduler("random", 7)), derivations, Meter(limit))
    try:
        cost = timed(network, [Update(1, f) for f in links])
    except TidelogError as problem:
        if problem.codes != ("TL1030",):
            raise
        return None
    network.meter.limit = 10**9
    return network, cost


def timed(network: Network, burst: list[Update]) -> Cost:
    begin = time.process_time()
    cost: Convergence = network.burst(burst)
    return Cost(cost.messages, cost.bytes, cost.rounds, time.process_time() - begin)


def bursts(links: list[Fact]) -> Iterator[tuple[str, list[Update]]]:
    """Links away, both directions, and back again."""
    rng = Random(7)
    pairs = sorted({tuple(sorted(map(str, f.args[:2]))) for f in links})
    for count in dict.fromkeys(max(1, round(len(pairs) * share)) for share in SHARES):
        chosen = set(rng.sample(pairs, count))
        facts = [f for f in links if tuple(sorted(map(str, f.args[:2]))) in chosen]
        yield f"-{count} links", [Update(-1, f) for f in facts]
        yield f"+{count} links", [Update(1, f) for f in facts]


def own(network: Network) -> frozenset[Fact]:
    original = network.program.original
    assert original is not None
    return frozenset(f for f in network.facts() if f.name in original.arity)


if __name__ == "__main__":
    main()
