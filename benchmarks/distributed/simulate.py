"""Asynchronous workers, 2 to 1,024 of them, with data that grows with them, on a network that is a model.

python -m benchmarks.distributed.simulate [--most 64] [--only closure] [--json figures.json]
python -m benchmarks.distributed.simulate --calibrate

Every worker is real, with its store, its maps and its messages; time is the model's (`network_model.py`). Memory is a
few hundred kilobytes a worker.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from benchmarks.distributed.growing_data import WORKLOADS, Facts, Workload
from benchmarks.distributed.network_model import Costs, NetworkModel
from tidelog.analysis.check import check
from tidelog.errors import Report
from tidelog.exchange.dynamic.given_sizes import GivenSizes
from tidelog.exchange.dynamic.graph_partition import by_graph
from tidelog.exchange.dynamic.materialise import Cluster, SharedProgram
from tidelog.exchange.dynamic.messages import Announcement, DerivedFacts, Noted, PartialMatches
from tidelog.exchange.dynamic.partition import ByHash, Partition
from tidelog.exchange.dynamic.server import Server, Tally
from tidelog.lang.load import parse_program
from tidelog.store import Database

SHORT_CHUNK = 64
"""Bindings at a time: small, as there are a thousand stores."""


class Counting(Tally):
    """Counts what a worker does, for the model."""

    bindings = 0

    def stored(self, server: Server, relation: str, before: int) -> None:
        self.bindings += server.held.context.database[relation].count - before


@dataclass
class Outcome:
    """Of one run. Seconds are the model's, but for `took`."""

    workload: str
    partition: str
    termination: str
    workers: int
    facts: int
    derived: int
    messages: int
    megabytes: float
    matches: int
    told: int
    announced: int
    seconds: float
    busy: float
    skew: float
    took: float


def run(
    name: str, workload: Workload, workers: int, partition: str, costs: Costs, termination: str, shares: int = 1
) -> Outcome:
    started = time.perf_counter()
    report = Report()
    checked = check(parse_program(workload.program, report), report)
    facts = workload.facts(workers, shares)
    arities = {name: info.arity for name, info in checked.relations.items()}
    program = SharedProgram(checked, GivenSizes(arities, facts))
    cluster, network = _cluster(program, facts, _partition(partition, program, facts, workers), costs, termination)
    seconds = network.run(cluster.servers)
    sent = [line.sent for line in network.lines]
    kinds = network.kinds
    held = np.array([sum(r.count for r in held.context.database) for held in cluster.held])
    given = sum(map(len, facts.values()))
    return Outcome(
        name, partition, termination, workers, given, int(held.sum()) - given,
        int(sum(traffic.messages.sum() for traffic in sent)), float(sum(traffic.bytes.sum() for traffic in sent)) / 1e6,
        kinds[PartialMatches], kinds[DerivedFacts], kinds[Announcement] + kinds[Noted],
        seconds, float(network.busy.mean()), float(held.max() / held.mean()), time.perf_counter() - started,
    )  # fmt: skip


def _partition(kind: str, program: SharedProgram, facts: Facts, workers: int) -> Partition:
    return by_graph(facts, program.keys, workers) if kind == "graph" else ByHash(workers)


def _cluster(
    program: SharedProgram, facts: Facts, partition: Partition, costs: Costs, termination: str
) -> tuple[Cluster, NetworkModel]:
    tallies = [Counting() for _ in range(partition.size)]
    made: list[Server] = []

    def effort(me: int) -> int:
        runs = made[me].matching._runs.values() if made else ()
        return tallies[me].bindings + tallies[me].derived + sum(run.effort for run in runs)

    network = NetworkModel(partition.size, costs, effort)
    cluster = Cluster(
        program, partition, network.lines, Database(), termination=termination, tallies=tallies, chunk=SHORT_CHUNK
    )
    cluster.load(facts)
    made += cluster.servers
    return cluster, network


def calibrate() -> Costs:
    """What a piece of work and a binding take here, in the processor's time of this process: a fit over the pieces of
    all workloads on four workers."""
    rows: list[tuple[float, float, float]] = []
    for workload in WORKLOADS.values():
        report = Report()
        checked = check(parse_program(workload.program, report), report)
        facts = workload.facts(4, 4)
        program = SharedProgram(checked, GivenSizes({n: i.arity for n, i in checked.relations.items()}, facts))
        for again in range(2):  # the first run makes plans, which a long one does not notice
            cluster, network = _cluster(program, facts, ByHash(4), Costs(), "ring")
            for server in cluster.servers:
                _time_pieces(server, rows if again else [])
            network.run(cluster.servers)
    found = np.array(rows)
    fit, *_ = np.linalg.lstsq(np.column_stack((np.ones(len(found)), found[:, 1])), found[:, 0], rcond=None)
    return Costs(per_piece=float(max(fit[0], 0.0)), per_binding=float(max(fit[1], 0.0)))


def _time_pieces(server: Server, rows: list[tuple[float, float, float]]) -> None:
    act = server.act

    def effort() -> int:
        tally = server.tally
        assert isinstance(tally, Counting)
        return tally.bindings + tally.derived + sum(run.effort for run in server.matching._runs.values())

    def timed() -> bool:
        phase, before, start = server.phase, effort(), time.thread_time()
        acted = act()
        if acted and server.phase == phase:
            rows.append((time.thread_time() - start, float(effort() - before), 1.0))
        return acted

    server.act = timed  # type: ignore[method-assign]


def table(outcomes: list[Outcome]) -> str:
    lines = [
        "| workload | by | workers | facts | derived | messages | MB | matches | facts sent | announced | ms | busy "
        "| fullest |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for o in outcomes:
        lines.append(
            f"| {o.workload} | {o.partition} | {o.workers:,} | {o.facts:,} | {o.derived:,} | {o.messages:,} "
            f"| {o.megabytes:.1f} | {o.matches:,} | {o.told:,} | {o.announced:,} | {1000 * o.seconds:.1f} "
            f"| {100 * o.busy / o.seconds:.0f} % | {o.skew:.2f} |"
        )
    return "\n".join(lines)


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.distributed.simulate", description=__doc__)
    parser.add_argument("--least", type=int, default=2, help="workers to begin with")
    parser.add_argument("--most", type=int, default=64, help="workers to end with; they are doubled in between")
    parser.add_argument("--shares", type=int, default=1, help="so much more for each worker")
    parser.add_argument("--only", choices=[*WORKLOADS], help="one workload")
    parser.add_argument("--termination", choices=["ring", "tree"], default="tree")
    parser.add_argument("--partition", choices=["hash", "graph"], help="one way to share out the facts")
    parser.add_argument("--seconds", type=float, default=60.0, help="double no more once a run has taken so long")
    parser.add_argument("--json", type=Path, help="write the figures there, too")
    parser.add_argument("--calibrate", action="store_true", help="measure what work takes here, and stop")
    given = parser.parse_args(arguments)
    if given.calibrate:
        print(calibrate())
        return
    outcomes: list[Outcome] = []
    for name, workload in WORKLOADS.items():
        if given.only not in (None, name):
            continue
        for partition in [given.partition] if given.partition else ["hash", "graph"]:
            workers = given.least
            while workers <= given.most:
                outcomes.append(run(name, workload, workers, partition, Costs(), given.termination, given.shares))
                print(table(outcomes[-1:]).splitlines()[-1], f" took {outcomes[-1].took:.1f} s", file=sys.stderr)
                if outcomes[-1].took > given.seconds:
                    break
                workers *= 2
    print(table(outcomes))
    if given.json:
        given.json.write_text(json.dumps([asdict(each) for each in outcomes], indent=1), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
