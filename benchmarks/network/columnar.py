"""What the columnar store would cost the nodes of a network, against the hash store they have.

Nodes within three hops on a random network, three links per node on average, localised: numbers only, so that all of it
runs natively. Measured are a database per node (making it); one database for all nodes with the location as key column,
in batches per node and per so many nodes; and the batches that a run really has.
Run: python -m benchmarks.network.columnar [nodes]
"""

from __future__ import annotations

import gc
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from tidelog.net import Fact, Update, scheduler
from tidelog.net.delta import DeltaRules
from tidelog.net.program import load_local
from tidelog.net.runtime import InProcess, Network, Node
from tidelog.net.runtime.topologies import topology
from tidelog.plan.steps import Bound, Const, Emit, Match, Probe, Scan, Slot, View
from tidelog.store import Database, Pipeline
from tidelog.values import Kind

PROGRAM = """
r1: near(@S,D,1) :- link(@S,D).
r2: near(@S,D,H) :- link(@S,Z), near(@Z,D,H2), H2 < 3, H=H2+1.
"""
ARITIES = {"link": 2, "co_link": 2, "aux": 4, "near": 3}
BATCHES = (1, 4, 16, 64, 256, 4096)


def tell(database: Database) -> Pipeline:
    """aux(@S,Z,D,H) :- Δnear(@Z,D,H), co_link(@Z,S), H < 3: what a node does with new facts."""
    below = Bound(2, "<", Const(Kind.NUMBER, 3), Kind.NUMBER)
    steps = [
        Scan(Match("near", View.DELTA, (), ((0, 0), (1, 1), (2, 2)), (), (below,))),
        Probe(Match("co_link", View.ALL, ((0, Slot(0)),), ((1, 3),), (), ())),
        Emit("aux", (Slot(3), Slot(0), Slot(1), Slot(2))),
    ]
    return database.pipeline(steps, changing=["near", "aux"])


def database() -> Database:
    made = Database(threads=1)
    for name, arity in ARITIES.items():
        made.create(name, arity)
    return made


def react(db: Database, pipeline: Pipeline, batch: np.ndarray[Any, Any]) -> None:
    """A batch of facts arrives, is fired and committed."""
    near = db["near"]
    near.insert(batch)
    near.advance()
    pipeline.run()


def seconds(work: Callable[[], Any]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def memory() -> float:
    """Megabytes of this process at its largest."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def making(count: int) -> None:
    program = load_local(PROGRAM)
    rules = DeltaRules(program)
    kept: list[Any] = []
    for what, make in (
        ("hash store", lambda: Node(0, program, rules)),
        ("database per node", lambda: tell(database())),
    ):
        before = memory()
        took = seconds(lambda make=make: kept.extend(make() for _ in range(count)))
        print(f"| {what} | {took / count * 1e6:,.0f} µs | {(memory() - before) / count * 1024:,.1f} kB |", flush=True)


def batches(nodes: int) -> None:
    """The same new facts at one node after the other, in batches of k facts."""
    program = load_local(PROGRAM)
    links = [(int(str(a)[1:]), int(str(b)[1:])) for a, b, _ in topology(f"random:{nodes}:{3 / nodes}", 7).both_ways()]
    co = np.array([(b, a) for a, b in links], dtype=np.int64)
    facts = np.array([(z, d, 1) for z in range(nodes) for d in range(40)], dtype=np.int64)[: 4096 * 8]
    for k in BATCHES:
        db = database()
        db["co_link"].insert(co)
        db["co_link"].settle()
        pipeline = tell(db)
        react(db, pipeline, np.array([(0, -1, 1)], dtype=np.int64))
        parts = np.array_split(facts, max(1, len(facts) // k))
        columnar = seconds(lambda db=db, pipeline=pipeline, parts=parts: [react(db, pipeline, p) for p in parts])
        home = Node(0, program, DeltaRules(program))
        for z, s in co.tolist():
            home.receive([Update(1, Fact("co_link", (z, s)))])
        groups = [[Update(1, Fact("near", tuple(row))) for row in part.tolist()] for part in parts]
        hashed = seconds(lambda home=home, groups=groups: [home.receive(g) for g in groups])
        per = 1e6 / len(facts)
        print(f"| {k:,} | {hashed * per:,.1f} µs | {columnar * per:,.1f} µs | {hashed / columnar:.2f} |", flush=True)


def real_batches(nodes: int) -> None:
    program = load_local(PROGRAM)
    links = topology(f"random:{nodes}:{3 / nodes}", 7).facts(program)
    for batch in (False, True):
        network = Network(program, InProcess(scheduler("random", 7)), batch=batch)
        took = seconds(lambda network=network: network.burst([Update(1, f) for f in links]))
        cost = network.cost
        print(f"| {'batches' if batch else 'one at a time'} | {cost.updates:,} | {cost.updates / cost.steps:.1f} "
              f"| {took / cost.updates * 1e6:,.1f} µs |", flush=True)  # fmt: skip


def main() -> None:
    gc.disable()
    nodes = int(sys.argv[1]) if len(sys.argv) > 1 else 5_000
    print("| making a node | time | memory |\n|---|---:|---:|")
    making(500)
    print(
        "\n| facts per batch | hash store, per fact | one database, per fact | hash/columnar |\n|---:|---:|---:|---:|"
    )
    batches(nodes)
    print("\n| a run | updates | per step | CPU per update |\n|---|---:|---:|---:|")
    real_batches(nodes)


if __name__ == "__main__":
    main()
