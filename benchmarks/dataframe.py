"""The DataFrame executor against the columnar one: `python -m benchmarks.dataframe [nodes] [edges]`.

The transitive closure of a random graph, Bootstrap and an update of one edge; both in one run, times as ratios.
"""

from __future__ import annotations

import os
import random
import sys
import time
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession

from tidelog.analysis.check import check
from tidelog.evaluate.engine import EngineOptions
from tidelog.lang.souffle import parse
from tidelog.session import Session
from tidelog.spark.dataframe.engine import DataFrames

PROGRAM = """
.decl edge(x: number, y: number)
.input edge
.decl path(x: number, y: number)
path(x, y) :- edge(x, y).
path(x, z) :- path(x, y), edge(y, z).
"""


def table(edges: list[tuple[int, int]]) -> pa.Table:
    return pa.table([pa.array([edge[i] for edge in edges], pa.int64()) for i in range(2)], names=["x", "y"])


def timed(action: Any) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def main(nodes: int, edges: int) -> None:
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    rng = random.Random(1)
    facts = table([(rng.randrange(nodes), rng.randrange(nodes)) for _ in range(edges)])
    change = facts.slice(0, 1)
    checked = check(parse(PROGRAM))
    local, frames = Session(checked), DataFrames(checked, spark, EngineOptions(), "update-paper")
    frame, gone = spark.createDataFrame(facts), spark.createDataFrame(change)
    for warm in (True, False):
        seconds = {
            "bootstrap": (
                timed(lambda: local.bootstrap({"edge": facts})),
                timed(lambda: frames.bootstrap({"edge": frame})),
            )
        }
        seconds["update"] = (
            timed(lambda: local.update(delete={"edge": change})), timed(lambda: frames.update({"edge": gone}, {}))
        )  # fmt: skip
        assert local["path"].count() == frames.count("path")
        for what, (ours, theirs) in seconds.items():
            label = "first" if warm else "again"
            print(f"{what} ({label}): columnar {ours:.2f} s, dataframe {theirs:.2f} s, ratio {theirs / ours:.0f}")
    print(f"{local['path'].count():,} paths, {frames.evaluation.checkpoints.actions} Spark actions in all")


if __name__ == "__main__":
    main(*(int(arg) for arg in (*sys.argv[1:], "1000", "3000")[:2]))
