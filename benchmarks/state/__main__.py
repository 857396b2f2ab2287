"""Restarting from a state directory, as a share of the Bootstrap that made it, in the same run.

    python -m benchmarks.state [closure] [galen] [--nodes 5000] [--edges 25000] [--repeats 3] [--keep DIR]

Each step is a process of its own. *bootstrap*: reading facts and evaluation, in memory. *stored*: the same with a state
directory, written at the end. *open*: a new session over that directory, until it can be read and updated. *ready*:
until the background has built the indexes that updates need. *first update*: from the beginning of *open* to the end
of an update of ten facts.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks.batch.workloads import generated, workloads


@dataclass(frozen=True)
class Subject:
    name: str
    program: Path
    facts: Path


def subjects(names: list[str], nodes: int, edges: int) -> list[Subject]:
    found = []
    if "closure" in names:
        folder = generated(f"closure_{nodes}_{edges}", lambda numbers: {"edge": random_graph(numbers, nodes, edges)})
        program = Path(__file__).parents[1] / "batch" / "programs" / "closure.dl"
        found.append(Subject("closure", program, folder))
    for workload in workloads():
        if workload.name in names:
            found.append(Subject(workload.name, workload.program, workload.facts))
    return found


def random_graph(numbers: random.Random, nodes: int, edges: int) -> set[tuple[int, int]]:
    found: set[tuple[int, int]] = set()
    while len(found) < edges:
        found.add((numbers.randrange(nodes), numbers.randrange(nodes)))
    return found


Times = dict[str, list[float]]


def step(what: str, subject: Subject, state: Path) -> Times:
    """One step in a process of its own; what it measured."""
    command = [sys.executable, "-m", "benchmarks.state.child", what, subject.program, subject.facts, state]
    done = subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True)
    found: Times = json.loads(done.stdout.splitlines()[-1])
    return found


def best(what: str, subject: Subject, state: Path, repeats: int) -> Times:
    """The runs with the least processor time, measure by measure."""
    runs = [step(what, subject, state) for _ in range(repeats)]
    return {
        name: min((run[name] for run in runs), key=lambda t: t[1])
        for name in runs[0]
        if isinstance(runs[0][name], list)
    } | {name: value for name, value in runs[0].items() if not isinstance(value, list)}


def measure(subject: Subject, folder: Path, repeats: int) -> None:
    state = folder / subject.name
    memory = best("bootstrap", subject, state, repeats)
    stored = step("stored", subject, state)
    opened = best("open", subject, state, repeats)
    updated = step("update", subject, state)
    size = sum(path.stat().st_size for path in state.rglob("*") if path.is_file())
    print(f"{subject.name}: {memory['tuples']:,} tuples, {size / 1e6:,.0f} MB in the state directory")
    print(f"  {'':36} {'seconds':>8} {'':7} {'processor seconds':>18}")
    for name, found in (
        ("bootstrap in memory", memory["bootstrap"]),
        ("… and ready for updates", memory["ready"]),
        ("bootstrap, stored", stored["bootstrap"]),
        ("open", opened["open"]),
        ("open and ready for updates", opened["ready"]),
        ("open and first update of ten facts", updated["updated"]),
    ):
        shares = [f"{100 * a / b:5.1f} %" for a, b in zip(found, memory["bootstrap"], strict=True)]
        print(f"  {name:36} {found[0]:8.2f} {shares[0]} {found[1]:18.2f} {shares[1]}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.state")
    parser.add_argument("names", nargs="*", default=["closure", "galen"])
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--edges", type=int, default=25000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for subject in subjects(options.names, options.nodes, options.edges):
            measure(subject, options.keep or Path(folder), options.repeats)


if __name__ == "__main__":
    main()
