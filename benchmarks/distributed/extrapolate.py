"""What a simulation has found, carried on to workers that were not simulated.

python -m benchmarks.distributed.extrapolate figures.json        (made by `simulate --json`)

A worker sends R batches of B things each to any of the others, so in each to (N - 1)(1 - exp(-B / (N - 1))) of them: as
long as there are fewer workers than things, to all, and then to one for each thing. R and B are fitted to the runs with
at most 32 workers; time is a constant and so much for each message that a worker sends, fitted to the same. The larger
runs show what the prediction is worth; those that were not simulated have nothing but the prediction.
"""

from __future__ import annotations

import json
import sys
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

FITTED = 32
SIZES = (64, 128, 256, 512, 1024)
Run = dict[str, Any]


def each_sends(workers: Any, batches: float, things: float) -> Any:
    """Messages that a worker sends."""
    others = np.asarray(workers, np.float64) - 1
    return batches * others * (1 - np.exp(-things / others))


def fit(runs: list[Run]) -> tuple[float, float]:
    """R and B, by least squares of logarithms."""
    workers = np.array([run["workers"] for run in runs], np.float64)
    sent = np.array([run["messages"] for run in runs]) / workers
    best = (np.inf, 0.0, 0.0)
    for things in np.geomspace(1, 1e5, 400):
        shape = each_sends(workers, 1.0, things)
        batches = float(np.exp(np.mean(np.log(sent) - np.log(shape))))
        error = float(((np.log(sent) - np.log(batches * shape)) ** 2).sum())
        best = min(best, (error, batches, float(things)))
    return best[1], best[2]


def fit_time(runs: list[Run], batches: float, things: float) -> tuple[float, float]:
    """Seconds whatever is sent, and for each message of a worker."""
    sent = each_sends([run["workers"] for run in runs], batches, things)
    each = np.column_stack((np.ones(len(runs)), sent))
    (constant, per_message), *_ = np.linalg.lstsq(each, np.array([run["seconds"] for run in runs]), rcond=None)
    return float(constant), float(per_message)


def rows(runs: list[Run]) -> list[str]:
    """The lines of one workload and partition."""
    small = [run for run in runs if 4 <= run["workers"] <= FITTED]
    if len(small) < 3:
        return []
    batches, things = fit(small)
    constant, per_message = fit_time(small, batches, things)
    found = {run["workers"]: run for run in runs}
    lines = []
    for workers in SIZES:
        sent = float(each_sends(workers, batches, things))
        predicted = f"{sent * workers:,.0f} | {sent:,.0f} | {1000 * (constant + per_message * sent):,.0f}"
        simulated = found.get(workers)
        real = "| |" if simulated is None else f"{simulated['messages']:,} | {1000 * simulated['seconds']:,.0f} |"
        lines.append(f"| {runs[0]['workload']} | {runs[0]['partition']} | {workers:,} | {predicted} | {real}")
    return lines


def main(arguments: list[str]) -> None:
    runs: list[Run] = [run for name in arguments for run in json.loads(Path(name).read_text(encoding="utf-8"))]
    print("| workload | by | workers | messages, predicted | for each | ms, predicted | messages, simulated | ms |")
    print("|---|---|--:|--:|--:|--:|--:|--:|")
    unique = {(run["workload"], run["partition"], run["workers"]): run for run in runs}
    for _, group in groupby(
        [unique[key] for key in sorted(unique)], key=lambda run: (run["workload"], run["partition"])
    ):
        print("\n".join(rows(list(group))))


if __name__ == "__main__":
    main(sys.argv[1:])
