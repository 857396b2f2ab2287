"""Large programs: how long checking and evaluating takes, and how much memory, per rule.

`python -m benchmarks.programs` prints a table; what grows faster than the program shows as a larger figure per rule.
With `--against FOLDER` the same is measured with the Tidelog of another checkout (its `.venv`), in alternation.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

RUN = """
import json, resource, sys, time, gc
gc.disable()
from pathlib import Path
from tidelog.cli.loading import checked_file
from tidelog.session import Session
program = Path(sys.argv[1])
start = time.process_time()
checked = checked_file(program, None, None, True)
middle = time.process_time()
with Session(checked, strategy="batch") as session:
    session.bootstrap()
    session.write_outputs(program.parent)
done = time.process_time()
memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps({"check": middle - start, "run": done - middle, "MiB": memory}))
"""


def chain(n: int) -> str:
    """Each relation is derived from the one before."""
    lines = [".decl r0(x: number, y: number)", "r0(1, 2)."]
    for i in range(1, n):
        lines += [f".decl r{i}(x: number, y: number)", f"r{i}(x, y) :- r{i - 1}(x, y), x < {n + i}."]
    return "\n".join([*lines, f".output r{n - 1}", ""])


def tree(n: int) -> str:
    """Each relation has a fact and a rule."""
    lines = []
    for i in range(n):
        lines += [f".decl r{i}(x: number, y: number)", f"r{i}({i}, 2).", f"r{i}(x, y) :- r{i // 2}(x, y), x != y."]
    return "\n".join([*lines, ".output r0", ""])


def rules(n: int) -> str:
    """Many rules over four relations that depend on each other, each with a constant of its own."""
    lines = [f".decl {name}(x: number, y: number)" for name in "abcd"] + ["a(1, 2). b(2, 3). c(3, 4)."]
    for i in range(n):
        head, left, right = ("bac", "cab", "dab", "abd")[i % 4]
        lines.append(f"{head}(x, z) :- {left}(x, y), {right}(y, z), x < {i}.")
    return "\n".join([*lines, ".output d", ""])


WORKLOADS: dict[str, tuple[Callable[[int], str], tuple[int, ...]]] = {
    "chain of relations": (chain, (5_000, 20_000)),
    "tree of relations": (tree, (5_000, 20_000)),
    "rules of four relations": (rules, (10_000, 100_000)),
}


def measured(python: Path, program: Path) -> dict[str, float]:
    done = subprocess.run([python, "-c", RUN, program], capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])  # type: ignore[no-any-return]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--against", type=Path, help="another checkout, to compare with")
    parser.add_argument("--scale", type=float, default=1.0, help="sizes are multiplied with this")
    options = parser.parse_args()
    pythons = {"here": Path(sys.executable)}
    if options.against is not None:
        pythons["there"] = options.against / ".venv" / "bin" / "python"
    print("CPU seconds; µs are per rule; MiB at most\n")
    for name, (make, sizes) in WORKLOADS.items():
        for full in sizes:
            size = int(full * options.scale)
            with tempfile.TemporaryDirectory() as folder:
                program = Path(folder) / "program.dl"
                program.write_text(make(size))
                for where, python in pythons.items():
                    found = measured(python, program)
                    each = 1e6 * (found["check"] + found["run"]) / size
                    print(f"{name:24} {size:8,} {where:6} check {found['check']:7.2f}  run {found['run']:7.2f}  "
                          f"{each:6.0f} µs  {found['MiB']:6.0f} MiB", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
