"""One measurement in a process of its own, so that its memory is its own: python -m benchmarks.lubm.measure ACTION …

Prints one line of JSON: seconds of the clock and of the processor, the greatest memory in MiB, and what was counted.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROUNDS = 3
QUERIES = Path(__file__).parent / "queries"


def read_by_tidelog(file: str, threads: int) -> dict[str, Any]:
    from tidelog.io.bad_rows import BadRows
    from tidelog.rdf.threads import read_files
    from tidelog.store.native import load
    from tidelog.store.symbols import Symbols

    symbols = Symbols(load())
    found = timed(lambda: sum(len(words) for words in read_files([file], symbols, BadRows(), threads)))
    return found | {"terms": len(symbols)}


def read_by_pyoxigraph(file: str) -> dict[str, Any]:
    import pyoxigraph

    return timed(lambda: sum(1 for _ in pyoxigraph.parse(path=file)))


def materialise_by_reasonable(file: str, ontology: str) -> dict[str, Any]:
    import pyoxigraph
    import rdflib
    from reasonable import PyReasoner

    schema = rdflib.Graph().parse(ontology, format="xml")
    turtle = Path(file).with_suffix(".reasonable.ttl")
    with open(turtle, "wb") as stream:
        triples = (quad.triple for quad in pyoxigraph.parse(path=file))
        pyoxigraph.serialize(triples, stream, pyoxigraph.RdfFormat.TURTLE)
    reasoner = PyReasoner()
    reasoner.from_graph(schema)

    def work() -> int:
        reasoner.load_file(str(turtle))
        return len(reasoner.reason())

    return timed(work)


def materialise_by_tidelog(file: str, ontology: str, threads: int) -> dict[str, Any]:
    """From the file to all that follows, then the 14 queries."""
    from tidelog.rdf.graph import Graph
    from tidelog.rdf.sparql.answers import ask
    from tidelog.rdf.sparql.graph_triples import GraphTriples

    made: list[Graph] = []
    named = {"rules": ontology} if ontology.endswith(".rules") else {"ontology": ontology}
    found = timed(lambda: len(made.append(Graph(file, threads=threads, **named)) or made[0]))  # type: ignore[func-returns-value]
    triples, queries = GraphTriples(made[0]), {}
    for path in sorted(QUERIES.glob("*.rq")):
        text = path.read_text()
        rounds = [timed(lambda text=text: len(ask(text, triples))) for _ in range(ROUNDS)]  # type: ignore[misc]
        queries[path.stem] = min(rounds, key=lambda one: one["processor"])
    return found | {"queries": queries}


def timed(work: Callable[[], int]) -> dict[str, Any]:
    clock, processor = time.perf_counter(), time.process_time()
    count = work()
    return {
        "count": count,
        "seconds": time.perf_counter() - clock,
        "processor": time.process_time() - processor,
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def main() -> None:
    action, file, ontology, threads = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
    work: dict[str, Callable[[], dict[str, Any]]] = {
        "tidelog reads": lambda: read_by_tidelog(file, threads),
        "pyoxigraph reads": lambda: read_by_pyoxigraph(file),
        "tidelog materialises": lambda: materialise_by_tidelog(file, ontology, threads),
        "reasonable materialises": lambda: materialise_by_reasonable(file, ontology),
    }
    print(json.dumps(work[action]()))


if __name__ == "__main__":
    main()
