"""LUBM: reading, materialisation, changes and memory, against pyoxigraph's parsing of the same file in the same run.

python -m benchmarks.lubm.materialise data.nt --ontology univ-bench.owl [--rules lubm_L.rules] [--threads 2]

Prints the best of the rounds: seconds to parse (pyoxigraph), to read into words, from the file to a materialised graph
(with their ratio, which should be at most 0.6), derived triples per second of the evaluation (6 million), what it takes
to delete one department and to insert it again (1 % of the materialisation), and bytes per triple without texts (60).
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyoxigraph

from tidelog.io.bad_rows import BadRows
from tidelog.rdf import Graph
from tidelog.rdf.threads import read_files
from tidelog.store.native import load
from tidelog.store.symbols import Symbols

DEPARTMENT = "//www.Department3.University0.edu"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("data", type=Path)
    options.add_argument("--ontology", type=Path)
    options.add_argument("--rules", type=Path)
    options.add_argument("--threads", type=int, default=1)
    options.add_argument("--rounds", type=int, default=3)
    given = options.parse_args()

    def made() -> Graph:
        return Graph(given.data, rules=given.rules, ontology=given.ontology, threads=given.threads)

    parsing = best(given.rounds, lambda: _parsed(given.data))[0]
    reading = best(
        given.rounds, lambda: sum(map(len, read_files([given.data], Symbols(load()), BadRows(), given.threads)))
    )[0]
    whole, graph = best(given.rounds, made)
    first = sum(map(len, graph.given()))
    derived, evaluation = len(graph) - first, graph.last.seconds
    print(f"{given.data}: {first:,} triples, {len(graph):,} with what follows; {given.threads} threads")
    print(f"pyoxigraph parses in {parsing:.2f} s; Tidelog reads in {reading:.2f} s")
    print(f"from the file to a materialised graph: {whole:.2f} s, {whole / parsing:.2f} of pyoxigraph's parsing")
    print(f"evaluation: {evaluation:.3f} s, {derived / evaluation / 1e6:.2f} million derived per second")
    memory = sum(sum(r.memory().values()) for r in _settled(graph))
    print(f"relations and indexes: {memory / len(graph):.1f} bytes per triple")
    with tempfile.TemporaryDirectory() as folder:
        part = Path(folder) / "department.nt"
        count = _department(given.data, part)
        for what in ("delete", "insert"):
            epochs = []
            for _ in range(given.rounds):
                one, other = graph.update(delete=part), graph.update(insert=part)
                epochs.append(one if what == "delete" else other)
            fastest = min(epoch.seconds for epoch in epochs)
            print(f"{what} a department of {count:,} triples: {1000 * fastest:.1f} ms, {100 * fastest / whole:.2f} % "
                  f"of the materialisation ({epochs[0].strategy})")  # fmt: skip
    graph.close()


def best(rounds: int, run: Callable[[], Any]) -> tuple[float, Any]:
    """The least time of some rounds, and what the last of them gave."""
    times, found = [], None
    for _ in range(rounds):
        if isinstance(found, Graph):
            found.close()
        start = time.perf_counter()
        found = run()
        times.append(time.perf_counter() - start)
    return min(times), found


def _parsed(path: Path) -> int:
    return sum(1 for _ in pyoxigraph.parse(path=str(path), format=pyoxigraph.RdfFormat.N_TRIPLES))


def _settled(graph: Graph) -> Any:
    """The relations, once the indexes for updates are there."""
    graph.update(insert=[("<x:a>", "<x:p>", "<x:b>")])
    graph.update(delete=[("<x:a>", "<x:p>", "<x:b>")])
    return graph._session.database.relations.values()


def _department(data: Path, part: Path) -> int:
    """The triples whose subject is in a department, as a file."""
    with open(data, encoding="utf-8") as lines:
        chosen = [line for line in lines if DEPARTMENT in line.partition(" ")[0]]
    part.write_text("".join(chosen), encoding="utf-8")
    return len(chosen)


if __name__ == "__main__":
    main()
