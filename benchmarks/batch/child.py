"""One run of one workload in a process of its own; prints what it cost as JSON."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path


def tidelog(program: str, facts: str, threads: str) -> dict[str, object]:
    start = time.perf_counter()
    from tidelog.session import Session

    with Session(Path(program), strategy="batch", facts=facts, threads=int(threads)) as session:
        epoch = session.bootstrap()
        whole = time.perf_counter() - start
        wanted = {d.relation for d in session.checked.directives("output", "printsize")}
        return {
            "load": whole - epoch.seconds,
            "evaluate": epoch.seconds,
            "derivations": epoch.derivations,
            "sizes": {name: session.count(name) for name in sorted(wanted)},
        }


def duckdb(facts: str, threads: str) -> dict[str, object]:
    import duckdb as engine

    database = engine.connect(config={"threads": int(threads)})
    database.execute(f"create table edge as from read_csv('{facts}/edge.facts', delim='\t', names=['a', 'b'])")
    (count,) = database.execute(
        "with recursive path(a, b) as (select a, b from edge union"
        " select p.a, e.b from path p join edge e on p.b = e.a) select count(*) from path"
    ).fetchone()
    return {"sizes": {"path": count}}


def clingo(facts: str, threads: str) -> dict[str, object]:
    import clingo as engine

    rows = (line.split("\t") for line in (Path(facts) / "edge.facts").read_text().splitlines())
    control = engine.Control([f"-t{threads}"])
    control.add("base", [], "".join(f"e({a},{b})." for a, b in rows) + "p(X,Y):-e(X,Y). p(X,Y):-p(X,Z),e(Z,Y).")
    control.ground([("base", [])])
    count = sum(1 for atom in control.symbolic_atoms if atom.symbol.name == "p")
    return {"sizes": {"path": count}}


if __name__ == "__main__":
    run = {"tidelog": tidelog, "duckdb": duckdb, "clingo": clingo}[sys.argv[1]]
    print(json.dumps(run(*sys.argv[2:])))
