"""What small things cost in a session on Spark: python -m benchmarks.pipeline.latency

The milliseconds and Spark jobs of an update of one row, given in several ways, and of looking at small results, each
beside the way by jobs and tasks that a large one takes, in the same process and by turns: a ratio says how much is
saved whatever else the machine does. The median of eleven.
"""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

import tidelog
from tidelog.spark import local_frames
from tidelog.spark.resident import results
from tidelog.spark.start import started

PROGRAM = """
.decl edge(from: number, to: number)
.input edge
.decl path(from: number, to: number)
path(x, y) :- edge(x, y).
path(x, z) :- path(x, y), edge(y, z).
"""
REPEATS = 11


@contextmanager
def by_tasks() -> Iterator[None]:
    """As if nothing were small."""
    kept = results.SMALL, local_frames.is_cheap
    results.SMALL, local_frames.is_cheap = 0, lambda frame: False
    try:
        yield
    finally:
        results.SMALL, local_frames.is_cheap = kept


def measured(spark: Any, action: Callable[[int], Any], number: int) -> tuple[float, int]:
    """Seconds and Spark jobs of an action."""
    group, tracker = f"latency {number}", spark.sparkContext.statusTracker()
    before = len(tracker.getJobIdsForGroup(None))  # threads that bring facts have no group
    spark.sparkContext.setJobGroup(group, group)
    start = time.perf_counter()
    action(number)
    passed = time.perf_counter() - start
    return passed, len(tracker.getJobIdsForGroup(group)) + len(tracker.getJobIdsForGroup(None)) - before


def main() -> None:
    with started("local[2]", lambda text: None) as spark, tidelog.Session(PROGRAM, spark=spark) as s:
        s.bootstrap({"edge": [(i, i + 1) for i in range(50)]})

        def insert(make: Callable[[int], Any]) -> Callable[[int], Any]:
            return lambda n: s.update(insert={"edge": make(n)})

        def read(look: Callable[[Any], Any]) -> Callable[[int], Any]:
            def act(n: int) -> None:
                s._backend._results._made.clear()  # as in a new epoch
                look(s["path"])

            return act

        actions = {
            "update of a row": insert(lambda n: [(1000 + n, n)]),
            "update of a DataFrame of Arrow": insert(
                lambda n: spark.createDataFrame(pa.table({"from": [1000 + n], "to": [n]}))
            ),
            "update of a DataFrame of rows": insert(lambda n: spark.createDataFrame([(1000 + n, n)], ["from", "to"])),
            's["path"].count()': read(lambda frame: frame.count()),
            's["path"].collect()': read(lambda frame: frame.collect()),
            's.query("path(1, X)").count()': lambda n: s.query("path(1, X)").count(),
            's.count("path")': lambda n: s.count("path"),
        }
        numbers = itertools.count(1)
        print("| | ms | Spark jobs | ms by tasks | Spark jobs by tasks |\n|---|---|---|---|---|")
        for name, action in actions.items():
            small, large = [], []
            for _ in range(REPEATS):
                small.append(measured(spark, action, next(numbers)))
                with by_tasks():
                    large.append(measured(spark, action, next(numbers)))
            cells = [f"{1000 * statistics.median(t for t, _ in f):.1f} | {f[-1][1]}" for f in (small, large)]
            print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
