"""What a simulation has found, carried on to workers that were not simulated.

python -m benchmarks.distributed.extrapolate figures.json        (made by `simulate --json`)

Messages and time grow with a power of the number of workers, fitted to the four largest runs but one; the largest run
shows what the prediction is worth. What was not simulated is predicted from the four largest, if they go far enough. It
is an upper bound: as data grow with the workers, a worker has so many things to send whatever their number, so that the
messages of each grow no more once there are more workers than things, which the power does not know.
"""

from __future__ import annotations

import json
import sys
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

FITTED = 4
SIZES = (64, 128, 256, 512, 1024)
Run = dict[str, Any]


def power(runs: list[Run], what: str) -> tuple[float, float]:
    """Factor and exponent, by least squares of logarithms."""
    slope, constant = np.polyfit(np.log([run["workers"] for run in runs]), np.log([run[what] for run in runs]), 1)
    return float(np.exp(constant)), float(slope)


def predicted(runs: list[Run], what: str, workers: int) -> float:
    factor, exponent = power(runs[-FITTED:], what)
    return float(factor * workers**exponent)


def rows(runs: list[Run]) -> list[str]:
    """The lines of one workload and partition: its largest run, and what is predicted beyond."""
    if len(runs) < FITTED:
        return []
    largest = runs[-1]
    name = f"| {largest['workload']} | {largest['partition']} |"
    growth = power(runs[-FITTED:], "messages")[1]
    lines = []
    beyond = [size for size in SIZES if size > largest["workers"] >= SIZES[0]]
    for workers in (largest["workers"], *beyond):
        simulated = workers == largest["workers"]
        base = runs[:-1] if simulated else runs
        messages, seconds = (predicted(base, what, workers) for what in ("messages", "seconds"))
        real = f"{largest['messages']:,} | {1000 * largest['seconds']:,.0f}" if simulated else "|"
        lines.append(f"{name} {workers:,} | {messages:,.0f} | {1000 * seconds:,.0f} | {real} | {growth:.1f} |")
    return lines


def main(arguments: list[str]) -> None:
    runs: list[Run] = [run for name in arguments for run in json.loads(Path(name).read_text(encoding="utf-8"))]
    print("| workload | by | workers | messages, predicted | ms, predicted | messages, simulated | ms | exponent |")
    print("|---|---|--:|--:|--:|--:|--:|--:|")
    unique = {(run["workload"], run["partition"], run["workers"]): run for run in runs}
    for _, group in groupby(
        [unique[key] for key in sorted(unique)], key=lambda run: (run["workload"], run["partition"])
    ):
        print("\n".join(rows(list(group))))


if __name__ == "__main__":
    main(sys.argv[1:])
