"""The DataFrame executor against loops of PySpark: `python -m benchmarks.dataframe [nodes] [edges] [rounds]`.

The transitive closure of a random graph. The plain loop is semi-naive evaluation as one would write it, with the
session's settings; the tuned one is the same with two shuffle partitions. `session` is `Session(executor="dataframe")`,
which evaluates what is small in its own process; `spread out` is the engine that it hands over to when something is too
large for that. Each runs once in every round, in turn, in one JVM; the first round warms up and is not counted.
"""

from __future__ import annotations

import os
import random
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tidelog.analysis.check import check
from tidelog.epochs.engine import EngineOptions
from tidelog.lang.souffle import parse
from tidelog.session import Session
from tidelog.spark.dataframe.engine import DataFrames
from tidelog.spark.dataframe.holder import FrameChange

PROGRAM = """
.decl edge(x: number, y: number)
.input edge
.decl path(x: number, y: number)
path(x, y) :- edge(x, y).
path(x, z) :- path(x, y), edge(y, z).
"""
PARTITIONS = "spark.sql.shuffle.partitions"
Seconds = dict[str, list[float]]


def table(edges: list[tuple[int, int]]) -> pa.Table:
    return pa.table([pa.array([edge[i] for edge in edges], pa.int64()) for i in range(2)], names=["x", "y"])


def loop(spark: SparkSession, edges: DataFrame, partitions: int | None = None) -> int:
    """The closure by a loop of joins; how many paths it has."""
    before = spark.conf.get(PARTITIONS)
    if partitions is not None:
        spark.conf.set(PARTITIONS, str(partitions))
    try:
        edge = edges.distinct().localCheckpoint()
        steps = edge.select(F.col("x").alias("y"), F.col("y").alias("z"))
        path = new = edge
        total = found = new.count()
        while found:
            heads = new.join(steps, "y").select("x", F.col("z").alias("y")).distinct()
            new = heads.join(path, ["x", "y"], "left_anti").localCheckpoint()
            found = new.count()
            total, path = total + found, path.union(new)
        return total
    finally:
        spark.conf.set(PARTITIONS, str(before))


def timed(seconds: Seconds, what: str, action: Callable[[], Any]) -> Any:
    start = time.perf_counter()
    result = action()
    seconds.setdefault(what, []).append(time.perf_counter() - start)
    print(f"{what}: {seconds[what][-1]:.2f} s", file=sys.stderr, flush=True)
    return result


def one_round(spark: SparkSession, facts: pa.Table, seconds: Seconds) -> int:
    """Everything once; the number of paths, which all have found."""
    edges, change = spark.createDataFrame(facts), spark.createDataFrame(facts.slice(0, 1))
    found = {
        timed(seconds, "plain loop", lambda: loop(spark, edges)),
        timed(seconds, "tuned loop", lambda: loop(spark, edges, 2)),
    }
    with Session(PROGRAM, spark=spark, executor="dataframe") as s:
        timed(seconds, "session: Bootstrap", lambda: s.bootstrap({"edge": edges}))
        found.add(timed(seconds, "session: count of the DataFrame", lambda: s["path"].count()))
        timed(seconds, "session: deletion of an edge", lambda: s.update(delete={"edge": change}))
        timed(seconds, "session: insertion of an edge", lambda: s.update(insert={"edge": change}))
        found.add(s["path"].count())
    engine = DataFrames(check(parse(PROGRAM)), spark, EngineOptions(), "elastic")
    timed(seconds, "spread out: Bootstrap", lambda: engine.bootstrap({"edge": edges}))
    found.add(engine.count("path"))
    for what, delete, insert in (("deletion", {"edge": change}, {}), ("insertion", {}, {"edge": change})):
        report = timed(
            seconds, f"spread out: {what} of an edge", lambda d=delete, i=insert: engine.update(FrameChange(d, i))
        )
        print(f"    {report.strategy}: {report.why}; {report.actions} actions", file=sys.stderr, flush=True)
    found.add(engine.count("path"))
    engine.close()
    (paths,) = found
    return int(paths)


def main(nodes: int, edges: int, rounds: int) -> None:
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false").config("spark.log.level", "ERROR").config("spark.driver.memory", "2g")
        .getOrCreate()
    )  # fmt: skip
    rng = random.Random(1)
    facts = table([(rng.randrange(nodes), rng.randrange(nodes)) for _ in range(edges)])
    one_round(spark, facts, {})
    seconds: Seconds = {}
    for _ in range(rounds):
        paths = one_round(spark, facts, seconds)
    medians = {what: statistics.median(found) for what, found in seconds.items()}
    print(f"\n{nodes:,} nodes, {edges:,} edges, {paths:,} paths; medians of {rounds}\n")
    print("| | seconds | of the tuned loop | of its own Bootstrap |\n|---|---|---|---|")
    for what, median in medians.items():
        own = medians.get(f"{what.partition(':')[0]}: Bootstrap")
        share = f"{median / own:.2f}" if own else ""
        print(f"| {what} | {median:.2f} | {median / medians['tuned loop']:.2f} | {share} |")
    spark.stop()


if __name__ == "__main__":
    main(*(int(arg) for arg in (*sys.argv[1:], *("1000", "3000", "3")[len(sys.argv) - 1 :])[:3]))
