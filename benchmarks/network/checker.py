"""How fast the checker explores, and what its reduction saves.

Reachability on four nodes, localised, with a burst of five changed links: the runs are explored without reduction until
a million configurations are known, then the same burst is decided with reduction. Run: python -m
benchmarks.network.checker [configurations]
"""

from __future__ import annotations

import sys
import time

from tidelog.errors import TidelogError
from tidelog.net import Fact, check, load, parse_updates

PROGRAM = "r1: reachable(@S,D) :- link(@S,D).\nr2: reachable(@S,D) :- link(@S,Z), reachable(@Z,D)."
UPDATES = "-link(@b,c), +link(@a,c), +link(@d,e), -link(@a,b), +link(@b,d)"


def main() -> None:
    limit = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    program = load(PROGRAM, local=True)
    facts = [Fact("link", tuple(pair)) for pair in ("ab", "bc", "cd")]
    burst = parse_updates(UPDATES, program)
    started = time.perf_counter()
    try:
        check(program, facts, burst, reduce=False, limit=limit)
    except TidelogError as problem:
        if problem.codes != ("TL1045",):
            raise
    full = time.perf_counter() - started
    print(f"without reduction: {limit:,} configurations in {full:.1f} s ({limit / full:,.0f} per second), unfinished")
    started = time.perf_counter()
    verdict = check(program, facts, burst)
    reduced = time.perf_counter() - started
    print(f"with reduction: decided with {verdict.configurations:,} in {reduced:.2f} s; holds: {verdict.holds}")


if __name__ == "__main__":
    main()
