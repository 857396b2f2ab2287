"""`python -m benchmarks.best_of`: shortest paths beside Dijkstra's algorithm elsewhere, and changes of single edges.

    python -m benchmarks.best_of                          # road networks and random graphs of 100,000 edges
    python -m benchmarks.best_of --edges 1000000 --changes 300
    python -m benchmarks.best_of --graphs random --sources 10

Times are by the clock on the wall (`--clock cpu`: those of batch, scipy and networkx by the processor's, which a busy
machine disturbs less), in one process, the least of the repetitions, which take turns. Tidelog's batch is an epoch:
encoding of a table in memory, evaluation, and what changed; scipy and networkx are given a finished graph, and are left
out where they are not installed. That as many nodes are reached as by scipy is checked.

Changes: an edge is deleted, put back, or given another weight, at random with a seed; the table has the median and the
greatest time of an epoch, relative to the Bootstrap of the same session.
"""

from __future__ import annotations

import argparse
import importlib.util
import random
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.best_of.graphs import MADE, Graph, workload
from tidelog import Session

PROGRAM = """
.decl edge(x: number, y: number, w: number)
.input edge
.decl source(x: number)
.input source
.decl dist(s: number, x: number, d: number)
dist(x, x, 0) :- source(x).
dist(s, y, d + w) :- dist(s, x, d), edge(x, y, w).
dist(s, x, d1) <= dist(s, x, d2) :- d2 < d1.
"""
Edge = tuple[int, int, int]
COLUMNS = (
    "graph", "edges", "reached", "scipy ms", "networkx ms", "batch ms", "batch to scipy", "Bootstrap ms",
    "median change ms", "of Bootstrap", "greatest",
)  # fmt: skip
CLOCKS: dict[str, Callable[[], float]] = {"wall": time.perf_counter, "cpu": time.process_time}
NETWORKX_UPTO = 300_000
"""Edges beyond which networkx would take minutes."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.best_of")
    parser.add_argument("--graphs", nargs="*", default=["cal_cedge", "sf_cedge", *MADE])
    parser.add_argument("--edges", type=int, default=100_000, help="of the graphs that are made")
    parser.add_argument("--sources", type=int, default=1)
    parser.add_argument("--changes", type=int, default=99)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--clock", choices=CLOCKS, default="wall")
    arguments = parser.parse_args()
    bench = BestBenchmark(CLOCKS[arguments.clock], arguments.sources, arguments.changes, arguments.repeat)
    print(f"| {' | '.join(COLUMNS)} |")
    print(f"|---|{'---:|' * (len(COLUMNS) - 1)}")
    for name in arguments.graphs:
        graph = MADE[name](arguments.edges) if name in MADE else workload(name)
        if graph is None:
            print(f"| {name} | its data is not there |")
        else:
            print(bench.row(graph), flush=True)


class BestBenchmark:
    """Measures one graph after the other."""

    def __init__(self, clock: Callable[[], float], sources: int, changes: int, repeat: int) -> None:
        self.clock, self.sources, self.changes, self.repeat = clock, sources, changes, repeat

    def row(self, graph: Graph) -> str:
        """The figures of a graph, as a row of the table."""
        sources = np.linspace(0, graph.nodes - 1, self.sources).astype(np.int64)
        ways: dict[str, Callable[[], float]] = {"batch": lambda: self.evaluated(graph, sources, "batch")[0]}
        if importlib.util.find_spec("scipy"):
            ways["scipy"] = lambda: self.by_scipy(graph, sources)[0]
        if importlib.util.find_spec("networkx") and graph.edges <= NETWORKX_UPTO:
            ways["networkx"] = lambda: self.by_networkx(graph, sources)
        rounds = [{name: way() for name, way in ways.items()} for _ in range(self.repeat)]
        best = {name: min(taken[name] for taken in rounds) for name in ways}
        start = time.perf_counter()
        session = self.evaluated(graph, sources, "elastic")[1]
        bootstrap = time.perf_counter() - start
        reached = session.count("dist")
        if "scipy" in best and reached != self.by_scipy(graph, sources)[1]:
            raise SystemExit(f"scipy reaches other nodes of {graph.name}")
        times = self.changed(graph, session)
        session.close()
        median = statistics.median(times)
        cells = [graph.name, f"{graph.edges:,}", f"{reached:,}"]
        cells += [_ms(best.get(name)) for name in ("scipy", "networkx", "batch")]
        cells += [f"{best['batch'] / best['scipy']:.1f}" if "scipy" in best else "", _ms(bootstrap), _ms(median)]
        cells += [f"{median / bootstrap:.3%}", f"{max(times) / bootstrap:.1%}"]
        return f"| {' | '.join(cells)} |"

    def evaluated(self, graph: Graph, sources: Any, strategy: str) -> tuple[float, Session]:
        """The seconds of an evaluation from scratch, and the session."""
        session = Session(PROGRAM, strategy=strategy)
        edges = pa.table({"x": graph.tails, "y": graph.heads, "w": graph.weights})
        start = self.clock()
        session.bootstrap({"edge": edges, "source": pa.table({"x": sources})})
        return self.clock() - start, session

    def by_scipy(self, graph: Graph, sources: Any) -> tuple[float, int]:
        """The seconds of scipy's Dijkstra, and how many distances it finds."""
        from scipy.sparse import csr_matrix
        from scipy.sparse.csgraph import dijkstra

        matrix = csr_matrix((graph.weights, (graph.tails, graph.heads)), shape=(graph.nodes, graph.nodes))
        start = self.clock()
        found = dijkstra(matrix, indices=sources)
        return self.clock() - start, int(np.isfinite(found).sum())

    def by_networkx(self, graph: Graph, sources: Any) -> float:
        import networkx

        made = networkx.DiGraph()
        ends = zip(graph.tails.tolist(), graph.heads.tolist(), graph.weights.tolist(), strict=True)
        made.add_weighted_edges_from(ends)
        start = self.clock()
        for source in sources.tolist():
            networkx.single_source_dijkstra_path_length(made, source)
        return self.clock() - start

    def changed(self, graph: Graph, session: Session) -> list[float]:
        """The seconds of epochs of one edge each: one goes, comes back, or gets another weight."""
        rnd, taken = random.Random(7), list[float]()
        columns = graph.tails.tolist(), graph.heads.tolist(), graph.weights.tolist()

        def epoch(gone: list[Edge], come: list[Edge]) -> float:
            start = time.perf_counter()
            session.update(delete={"edge": gone}, insert={"edge": come})
            return time.perf_counter() - start

        for number in range(-1, self.changes // 3):
            at = rnd.randrange(graph.edges)
            edge = columns[0][at], columns[1][at], columns[2][at]
            other = edge[0], edge[1], max(1, edge[2] + rnd.choice((-1, 1)) * rnd.randint(1, 200))
            seconds = [epoch([edge], []), epoch([], [edge]), epoch([edge], [other])]
            epoch([other], [edge])
            if number >= 0:  # the first ones wait for indexes
                taken += seconds
        return taken


def _ms(seconds: float | None) -> str:
    return "" if seconds is None else f"{1000 * seconds:,.3g}"


if __name__ == "__main__":
    main()
