"""`python -m benchmarks.batch`: one table of time, derivations per second and peak memory, peers beside it.

Times are of whole processes, start-up, reading and all; each cell is the median of the repetitions, interleaved
so that a noisy machine disturbs all alike.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.batch import souffle
from benchmarks.batch.workloads import REPOSITORY, Workload, workloads


@dataclass
class Cost:
    seconds: float
    peak: int
    report: dict[str, object]


def measure(arguments: list[str], limit: float) -> Cost | None:
    """Run a child to its end; None if it takes longer than the limit or fails."""
    with tempfile.TemporaryFile("w+") as out:
        start = time.perf_counter()
        child = subprocess.Popen(arguments, stdout=out, cwd=REPOSITORY)
        deadline = start + limit
        while True:
            pid, status, usage = os.wait4(child.pid, os.WNOHANG)
            if pid:
                break
            if time.perf_counter() > deadline:
                child.kill()
                os.wait4(child.pid, 0)
                return None
            time.sleep(0.005)
        seconds = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            return None
        out.seek(0)
        if arguments[0] == sys.executable:
            report = json.load(out)
        else:
            report = {"sizes": souffle.sizes(out.read(), Path(arguments[arguments.index("-D") + 1]))}
        return Cost(seconds, usage.ru_maxrss * 1024, report)


def commands(workload: Workload, threads: list[int]) -> dict[str, list[str]]:
    ours = [sys.executable, "-m", "benchmarks.batch.child"]
    found = {f"tidelog -j{t}": [*ours, "tidelog", str(workload.program), str(workload.facts), str(t)] for t in threads}
    for t in threads:
        made = souffle.compiled(workload.program, t)
        if made is not None:
            found[f"souffle -j{t}"] = [
                made, "-F", str(workload.facts), "-D", tempfile.mkdtemp(prefix="souffle-out-"), f"-j{t}",
            ]  # fmt: skip
    if workload.closure:
        for peer in ("duckdb", "clingo"):
            if importlib.util.find_spec(peer):
                found |= {f"{peer} -j{t}": [*ours, peer, str(workload.facts), str(t)] for t in threads}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="workloads to run; all if none is named")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--threads", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--limit", type=float, default=300.0, help="seconds after which a run is given up")
    options = parser.parse_args()
    wrong = 0
    print("| workload | system | seconds | of these evaluating | derivations/s | peak MiB | tuples |")
    print("|---|---|---|---|---|---|---|")
    for workload in workloads():
        if options.names and workload.name not in options.names:
            continue
        costs: dict[str, list[Cost]] = {}
        runs = commands(workload, options.threads)
        for _ in range(options.repeat):
            for system, arguments in list(runs.items()):
                cost = measure(arguments, options.limit)
                if cost is None:
                    print(f"| {workload.name} | {system} | over {options.limit:g} or failed | | | | |", flush=True)
                    del runs[system]
                else:
                    costs.setdefault(system, []).append(cost)
        for system, found in costs.items():
            wrong += show(workload, system, found)
    if wrong:
        sys.exit(f"{wrong} results differ from what was expected")


def show(workload: Workload, system: str, costs: list[Cost]) -> int:
    """Print a row; the number of wrong sizes."""
    middle = sorted(costs, key=lambda c: c.seconds)[len(costs) // 2]
    seconds = statistics.median(c.seconds for c in costs)
    sizes: dict[str, int] = middle.report["sizes"]  # type: ignore[assignment]
    wrong = {name: sizes.get(name) for name, size in workload.expected.items() if sizes.get(name) != size}
    evaluate = middle.report.get("evaluate")
    rate = f"{middle.report['derivations'] / evaluate / 1e6:.1f} M" if evaluate else ""  # type: ignore[operator]
    print(
        f"| {workload.name} | {system} | {seconds:.2f} | {f'{evaluate:.2f}' if evaluate else ''} | {rate} "
        f"| {middle.peak / 2**20:,.0f} | {', '.join(f'{n} {s:,}' for n, s in sizes.items())}"
        f"{f' WRONG {wrong}' if wrong else ''} |",
        flush=True,
    )
    return len(wrong)


if __name__ == "__main__":
    main()
