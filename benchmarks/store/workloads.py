"""The store alone on the shared workloads, with hand-written join orders: time, derivations/s, memory, right counts.

Run: python benchmarks/store/workloads.py [--data DIR] [--threads N] [--runs N] [name ...]
DIR holds one folder per unpacked archive (tar -xf galen.tar.xz -C DIR/galen). `random` needs no data.
"""

from __future__ import annotations

import argparse
import resource
import time
from pathlib import Path

import numpy as np
from rules import rule

from tidelog.plan.steps import Plan
from tidelog.store import Database

P, VF, GALEN = {"path"}, {"value_flow", "value_alias", "memory_alias"}, {"p", "q"}
NULL = {"null"}
CLOSURE = [*rule(P, "path(x,y)", "edge(x,y)"), *rule(P, "path(x,y)", "path(x,z)", "edge(z,y)")]
CHAIN = [*rule(P, "path(0,y)", "edge(0,y)"), *rule(P, "path(x,y)", "path(x,z)", "edge(z,y)")]
PROGRAMS: dict[str, tuple[dict[str, str], set[str], list[Plan], dict[str, int]]] = {
    "chain": ({}, P, CHAIN, {"path": 20000}),
    "random": ({}, P, CLOSURE, {"path": 3942208}),
    "ego_facebook": ({"edge": "edge"}, P, CLOSURE, {"path": 2508102}),
    "cal_cedge": ({"edge": "edge"}, P, CLOSURE, {"path": 501755}),
    "sf_cedge": ({"edge": "edge"}, P, CLOSURE, {"path": 80498014}),
    "csda100k": (
        {"arc": "Arc", "null_edge": "NullEdge"},
        NULL,
        [*rule(NULL, "null(s,v)", "null_edge(s,v)"), *rule(NULL, "null(s,v)", "null(s,w)", "arc(w,v)")],
        {"null": 170698},
    ),
    "cspa10k": (
        {"assign": "Assign", "dereference": "Dereference"},
        VF,
        [
            *rule(VF, "value_flow(v,v)", "assign(v,_)"),
            *rule(VF, "value_flow(v,v)", "assign(_,v)"),
            *rule(VF, "value_flow(to,from)", "assign(to,from)"),
            *rule(VF, "value_flow(to,from)", "value_flow(to,via)", "value_flow(via,from)"),
            *rule(VF, "value_flow(to,from)", "assign(to,m)", "memory_alias(m,from)"),
            *rule(VF, "memory_alias(v,v)", "assign(v,_)"),
            *rule(VF, "memory_alias(v,v)", "assign(_,v)"),
            *rule(VF, "memory_alias(a,b)", "dereference(p,a)", "value_alias(p,r)", "dereference(r,b)"),
            *rule(VF, "value_alias(a,b)", "value_flow(v,a)", "value_flow(v,b)"),
            *rule(VF, "value_alias(a,b)", "value_flow(v,a)", "memory_alias(v,w)", "value_flow(w,b)",
                  orders={2: (2, 1, 0)}),
        ],
        {"value_flow": 30152, "value_alias": 384485, "memory_alias": 112761},
    ),
    "galen": (
        {"p": "p", "q": "q", "r": "r", "c": "c", "u": "u", "s": "s"},
        GALEN,
        [
            *rule(GALEN, "p(a,e)", "p(a,b)", "p(b,e)"),
            *rule(GALEN, "p(a,e)", "p(a,b)", "p(a,d)", "c(b,d,e)", orders={0: (0, 2, 1), 1: (1, 2, 0)}),
            *rule(GALEN, "p(a,e)", "q(a,role,b)", "p(b,d)", "u(d,role,e)", orders={0: (0, 1, 2), 1: (1, 2, 0)}),
            *rule(GALEN, "q(a,role,e)", "p(a,b)", "q(b,role,e)"),
            *rule(GALEN, "q(a,wider,e)", "q(a,role,e)", "s(role,wider)"),
            *rule(GALEN, "q(a,whole,e)", "q(a,first,b)", "q(b,second,e)", "r(first,second,whole)",
                  orders={0: (0, 2, 1), 1: (1, 2, 0)}),
        ],
        {"p": 7560179, "q": 16595494},
    ),
}  # fmt: skip


def facts(name: str, files: dict[str, str], data: Path) -> dict[str, np.ndarray]:
    if name == "random":
        return {"edge": np.unique(np.random.default_rng(1).integers(0, 2000, (10000, 2)), axis=0)}
    if name == "chain":  # one new tuple per iteration
        return {"edge": np.stack([np.arange(20000), np.arange(1, 20001)], axis=1)}
    import pyarrow.csv as csv

    options = csv.ReadOptions(autogenerate_column_names=True)
    tables = {}
    for relation, file in files.items():
        table = csv.read_csv(data / name / f"{file}.facts", options, csv.ParseOptions(delimiter="\t"))
        tables[relation] = np.stack([c.to_numpy() for c in table.columns], axis=1)
    return tables


def run(name: str, tables: dict[str, np.ndarray], threads: int, chunk: int, detail: bool) -> tuple[float, ...]:
    """Seconds, processor seconds, derivations, tuples, bytes of the store."""
    _, stratum_relations, plans, expected = PROGRAMS[name]
    arities = {r: t.shape[1] for r, t in tables.items()} | {r: 3 if r == "q" else 2 for r in stratum_relations}
    db = Database(threads=threads, chunk=chunk)
    began, cpu = time.perf_counter(), time.process_time()
    for relation, arity in arities.items():
        db.create(relation, arity)
        if relation in tables:
            db[relation].insert(tables[relation])
            db[relation].settle()
    loaded = time.perf_counter() - began
    stratum = db.stratum(sorted(stratum_relations), plans)
    iterations = stratum.run()
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    counts = {r: db[r].count for r in expected}
    if counts != expected:
        print(f"  WRONG: {counts}, expected {expected}")
    if detail:
        print(f"  {name}: load {loaded:.3f} s, {iterations} iterations, {counts}")
        for p, n, s in zip(plans, stratum.derivations, stratum.seconds, strict=True):
            print(
                f"    {n:>13,} derivations {s:8.3f} s  {[type(x).__name__ for x in p.steps]} -> {p.steps[-1].relation}"
            )
        for r in db:
            print(f"    {r.name} {r.count:,}: " + ", ".join(f"{k} {v / 2**20:.1f} MB" for k, v in r.memory().items()))
    memory = sum(sum(r.memory().values()) for r in db)
    return seconds, cpu, sum(stratum.derivations), sum(counts.values()), memory


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--data", type=Path, default=Path("/tmp/data"))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--chunk", type=int, default=512)
    parser.add_argument("--detail", action="store_true")
    args = parser.parse_args()
    Database()  # load or compile the kernels
    for name in args.names or PROGRAMS:
        tables = facts(name, PROGRAMS[name][0], args.data)
        runs = [run(name, tables, args.threads, args.chunk, args.detail and i == 0) for i in range(args.runs)]
        seconds, _, derivations, tuples, memory = min(runs)
        cpu = min(r[1] for r in runs)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"{name:14} {seconds:8.3f} s {cpu:8.3f} cpu s {tuples:>11,} tuples {derivations:>13,} derivations "
            f"{derivations / seconds / 1e6:7.1f} M/s  store {memory / 2**20:,.0f} MB, peak so far {peak:,.0f} MB"
        )


if __name__ == "__main__":
    main()
