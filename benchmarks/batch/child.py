"""One run of one workload in a process of its own; prints what it cost as JSON."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path


def tidelog(program: str, facts: str, threads: str) -> dict[str, object]:
    start = time.perf_counter()
    from tidelog.analysis.check import check
    from tidelog.errors import Report
    from tidelog.evaluate.batch import BatchRun, Options
    from tidelog.lang.load import load_program

    report = Report()
    batch = BatchRun(check(load_program(program, report), report), Options(Path(facts), threads=int(threads)))
    batch.read()
    loaded = time.perf_counter()
    batch.evaluate()
    done = time.perf_counter()
    wanted = {d.relation for d in batch.checked.directives("output", "printsize")}
    return {
        "load": loaded - start,
        "evaluate": done - loaded,
        "derivations": batch.derivations,
        "sizes": {name: batch.database[name].count for name in sorted(wanted)},
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
