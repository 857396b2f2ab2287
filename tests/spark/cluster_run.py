"""What the cluster test runs in a process of its own, which has a JVM of its own: `cluster_run.py MASTER EXECUTOR`.

It prints one JSON object per line; a line on standard input lets the DataFrame executor's run go on.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from pyspark.sql import SparkSession

import tidelog
from tidelog.spark.dataframe import small
from tidelog.spark.slots import task_slots

REACH = """
.decl edge(x: number, y: number)
.input edge
.decl path(x: number, y: number)
.output path
path(x, y) :- edge(x, y).
path(x, z) :- path(x, y), edge(y, z).
"""
LENGTH = 6


def say(**what: Any) -> None:
    print(json.dumps(what), flush=True)


class Announcer:
    """Says when the evaluation has come to its second iteration, so that the test can kill a worker then."""

    said = False

    def stratum(self, number: int, total: int, relations: tuple[str, ...]) -> None:
        pass

    def progress(self, iteration: int, tuples: int) -> None:
        if iteration >= 2 and not Announcer.said:
            Announcer.said = True
            say(iteration=iteration)
            sys.stdin.readline()


def main(master: str, executor: str) -> None:
    spark = (
        SparkSession.builder.master(master)
        .config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.ui.enabled", "false").config("spark.log.level", "OFF")
        .config("spark.executor.memory", "512m").config("spark.sql.shuffle.partitions", "4")
        .getOrCreate()
    )  # fmt: skip
    say(slots=task_slots(spark))
    chain = spark.range(0, LENGTH, 1, 4).selectExpr("id as x", "id + 1 as y")
    observer = Announcer() if executor == "dataframe" else None
    small.MOST_FACTS = -1  # it is about relations in the workers
    state = "kept" if executor == "columnar" else None  # relative: the driver's folder is not the executors'
    with tidelog.Session(REACH, spark=spark, executor=executor, observer=observer, state=state) as session:
        epoch = session.bootstrap({"edge": chain})
        say(epoch=epoch.number, paths=epoch.inserted.count("path"), rows=session["path"].count())
        cut = spark.createDataFrame([(LENGTH // 2, LENGTH // 2 + 1)], "x bigint, y bigint")
        epoch = session.update(delete={"edge": cut}, insert={"edge": [(1000, 0)]})
        say(epoch=epoch.number, gone=epoch.deleted.count("path"), come=epoch.inserted.count("path"),
            rows=session["path"].count(), first=session.query("path(1000, X)").count())  # fmt: skip
    if executor == "columnar":
        try:
            tidelog.Session(REACH, spark=spark, state="/proc/self/cwd/elsewhere")  # another place for each process
        except tidelog.TidelogError as problem:
            say(refused=str(problem))
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
