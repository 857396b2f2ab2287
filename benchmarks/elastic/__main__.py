"""`python -m benchmarks.elastic`: section 5 of paper 002 on the workloads that are here, and the targets as ratios.

Records go to a file of JSON lines, which grows; `python -m benchmarks.elastic.report` makes tables and plots of it.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from benchmarks.batch.workloads import CACHE
from benchmarks.elastic.jobs import EXPERIMENTS, STRATEGIES, Choice, jobs
from benchmarks.elastic.runner import Bounds, Records, describe_run, run_all
from benchmarks.elastic.summary import Results
from benchmarks.elastic.targets import table, targets

RESULTS = CACHE.parent / "benchmarks" / "elastic"


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.elastic", description=__doc__)
    parser.add_argument("--workloads", nargs="*", default=[], help="all if none is named")
    parser.add_argument("--strategies", nargs="*", default=list(STRATEGIES), choices=STRATEGIES)
    parser.add_argument("--experiments", nargs="*", default=list(EXPERIMENTS), choices=EXPERIMENTS)
    parser.add_argument("--sizes", nargs="*", type=int, default=[], help="of changes, instead of each workload's own")
    parser.add_argument("--repeat", type=int, default=5, help="sets of facts of each size (5)")
    parser.add_argument("--seed", type=int, default=1, help="of the choice of facts (1)")
    parser.add_argument("--timeout", type=float, default=600.0, help="seconds for each process (600)")
    parser.add_argument("--memory", type=float, default=0.8, help="share of the machine's memory for a process (0.8)")
    parser.add_argument("--out", type=Path, help=f"folder of the records ({RESULTS})")
    parser.add_argument("--resume", action="store_true", help="leave out what the folder has already")
    parser.add_argument("--quick", action="store_true", help="a tiny generated workload, to see that all works")
    parser.add_argument("--clock", choices=("wall", "cpu"), default="wall", help="of the targets; both are recorded")
    options = parser.parse_args(arguments)
    strategies = [s for s in STRATEGIES if s in options.strategies]
    repeat = min(options.repeat, 2) if options.quick else options.repeat
    choice = Choice(
        options.workloads, strategies, options.experiments, options.sizes, repeat, options.seed, options.quick
    )
    folder = options.out or (RESULTS / "quick" if options.quick else RESULTS)
    records = Records(folder / "elastic.jsonl")
    records.begin_run(describe_run(sys.argv[1:] if arguments is None else arguments))
    memory = options.memory * os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGESIZE")
    run_all(jobs(choice), records, Bounds(options.timeout, memory), options.resume)
    print(table(targets(Results.of(records.read(), options.clock))))
    if options.quick:
        print("a tiny workload shows that all works; its figures say nothing", file=sys.stderr)
    print(f"records: {records.path}", file=sys.stderr)


if __name__ == "__main__":
    main()
