"""LUBM: reading, materialising and asking, against pyoxigraph (reading) and reasonable (OWL 2 RL) in the same run.

python -m benchmarks.lubm [1 10 50 100] --ontology univ-bench.owl [--reference lubm-1.nt.xz] [--threads 1]

Universities are generated (seed 0) into a folder that is kept from run to run. `--reference` is LUBM(1,0) itself: the
14 queries must give the published counts on it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.lubm.generate import write

PUBLISHED = (4, 0, 6, 34, 719, 7790, 67, 7790, 208, 4, 224, 15, 1, 5916)
ACTIONS = ("tidelog reads", "pyoxigraph reads", "tidelog materialises", "reasonable materialises")
LARGEST_OF_REASONABLE = 10  # universities: it needs some kilobytes for each triple
SHARED = Path(__file__).parents[3] / "shared" / "data" / "lubm"


def generated(universities: int, folder: Path) -> Path:
    """The file of so many universities, made if need be."""
    path = folder / f"lubm-{universities}.nt"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with open(path.with_suffix(".part"), "wb") as stream:
            write(stream, universities, processes=os.cpu_count() or 1)
        path.with_suffix(".part").rename(path)
    return path


def measured(action: str, file: Path, ontology: str, threads: int) -> dict[str, Any] | None:
    """What a process of its own measured; None if it could not."""
    command = [sys.executable, "-m", "benchmarks.lubm.measure", action, str(file), ontology, str(threads)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"  {action}: {(done.stderr.strip().splitlines() or ['it died'])[-1]}")
        return None
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def shown(action: str, found: dict[str, Any], triples: int) -> str:
    million = triples / found["seconds"] / 1e6
    return (
        f"  {action:24} {found['seconds']:8.2f} s  {found['processor']:8.2f} s of processor  {million:6.2f} million "
        f"triples/s  {found['memory']:8.0f} MiB  {found['memory'] * 2**20 / found['count']:6.0f} bytes each  "
        f"{found['count']:,}"
    )


def run(name: str, file: Path, ontology: str, threads: int, actions: tuple[str, ...]) -> list[int]:
    """Measure all actions on a file; the counts of the queries."""
    counts: list[int] = []
    triples = 0
    print(f"{name}: {file.stat().st_size / 2**20:,.0f} MiB, load {os.getloadavg()[0]:.1f}")
    for action in actions:
        found = measured(action, file, ontology, threads)
        if found is None:
            continue
        triples = triples or found["count"]
        print(shown(action, found, triples))
        queries = found.get("queries", {})
        counts += [one["count"] for one in queries.values()]
        for number, one in queries.items():
            print(f"    query {number} {one['count']:10,} rows {1000 * one['seconds']:9.1f} ms")
    return counts


def main() -> None:
    options = argparse.ArgumentParser(description="LUBM: reading, materialising and asking.")
    options.add_argument("universities", type=int, nargs="*", default=[1, 10, 50, 100])
    options.add_argument("--ontology", default=str(SHARED / "univ-bench.owl"), help="an ontology, or .rules")
    options.add_argument("--reference", type=Path, default=SHARED / "lubm-1.nt.xz")
    options.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "tidelog-lubm")
    options.add_argument("--threads", type=int, default=1)
    given = options.parse_args()
    wrong = False
    if given.reference.exists():
        counts = run("LUBM(1,0)", given.reference, given.ontology, given.threads, ("tidelog materialises",))
        wrong = tuple(counts) != PUBLISHED
        print("  the published counts" if not wrong else f"  NOT the published counts {PUBLISHED}")
    for universities in given.universities:
        actions = ACTIONS if universities <= LARGEST_OF_REASONABLE else ACTIONS[:-1]
        file = generated(universities, given.folder)
        run(f"{universities} universities", file, given.ontology, given.threads, actions)
    sys.exit(wrong)


if __name__ == "__main__":
    main()
