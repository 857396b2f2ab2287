"""Restarting from a state directory, as a share of the Bootstrap that made it, in the same run.

    python -m benchmarks.state [closure] [galen] [--nodes 5000] [--edges 25000] [--keep DIR]

Each step is a process of its own. *bootstrap*: evaluation in memory. *stored*: the same with a state directory, written
at the end. *open*: a new session over that directory, until its relations can be read. *ready*: until the indexes are
built that updates need, so that the next update costs what it costs. *first update*: from the beginning of *open* to
the end of an update of ten facts.
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
    relation: str  # whose facts the first update changes


def subjects(names: list[str], nodes: int, edges: int) -> list[Subject]:
    found = []
    if "closure" in names:
        folder = generated(f"closure_{nodes}_{edges}", lambda numbers: {"edge": random_graph(numbers, nodes, edges)})
        program = Path(__file__).parents[1] / "batch" / "programs" / "closure.dl"
        found.append(Subject("closure", program, folder, "edge"))
    for workload in workloads():
        if workload.name in names:
            found.append(Subject(workload.name, workload.program, workload.facts, ""))
    return found


def random_graph(numbers: random.Random, nodes: int, edges: int) -> set[tuple[int, int]]:
    found: set[tuple[int, int]] = set()
    while len(found) < edges:
        found.add((numbers.randrange(nodes), numbers.randrange(nodes)))
    return found


def step(what: str, subject: Subject, state: Path) -> dict[str, float]:
    """One step in a process of its own; what it measured."""
    command = [sys.executable, "-m", "benchmarks.state.child", what, subject.program, subject.facts, state]
    done = subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def measure(subject: Subject, folder: Path) -> None:
    state = folder / subject.name
    memory = step("bootstrap", subject, state)
    stored = step("stored", subject, state)
    opened = step("open", subject, state)
    updated = step("update", subject, state)
    base = memory["seconds"]
    size = sum(path.stat().st_size for path in state.rglob("*") if path.is_file())
    print(f"{subject.name}: {int(memory['tuples']):,} tuples, {size / 1e6:,.0f} MB in the state directory")
    for name, seconds in (
        ("bootstrap in memory", base),
        ("bootstrap, stored", stored["seconds"]),
        ("open", opened["open"]),
        ("ready for updates", opened["ready"]),
        ("open and first update of ten facts", updated["updated"]),
    ):
        print(f"  {name:36} {seconds:7.2f} s  {100 * seconds / base:6.1f} % of Bootstrap")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.state")
    parser.add_argument("names", nargs="*", default=["closure", "galen"])
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--edges", type=int, default=25000)
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for subject in subjects(options.names, options.nodes, options.edges):
            measure(subject, options.keep or Path(folder))


if __name__ == "__main__":
    main()
