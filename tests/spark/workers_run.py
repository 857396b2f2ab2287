"""What the tests of workers on Spark run in a process of its own: `workers_run.py MASTER [STATE]`.

It prints one JSON object per line; a line on standard input lets it go on after something was killed.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from pyspark.sql import SparkSession

import tidelog
from tidelog.spark.resident.columnar_session import ColumnarSession

PROGRAM = """
.decl edge(x: symbol, y: symbol)
.input edge
.decl path(x: symbol, y: symbol)
.decl joined(t: symbol)
.decl ends(y: symbol, n: number)
.output path
path(x, y) :- edge(x, y).
path(x, z) :- path(x, y), path(y, z).
joined(cat(x, y)) :- path(x, y), edge(x, y).
ends(y, n) :- edge(_, y), n = count : { path(_, y) }.
"""
LENGTH = 12


def say(**what: Any) -> None:
    print(json.dumps(what), flush=True)


def tell(session: tidelog.Session) -> None:
    """What is there now; counts by the worker, and rows as DataFrames."""
    (last,) = session.query(f'ends("n{LENGTH}", n)').collect()
    say(
        epoch=session.epoch, paths=session.count("path"), rows=session["path"].count(),
        joined=session["joined"].orderBy("t").first()["t"], last=last["n"],
    )  # fmt: skip


def main(master: str, state: str | None = None) -> None:
    spark = (
        SparkSession.builder.master(master)
        .config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.ui.enabled", "false").config("spark.log.level", "OFF").config("spark.driver.memory", "512m")
        .config("spark.executor.memory", "512m").config("spark.sql.shuffle.partitions", "4")
        .getOrCreate()
    )  # fmt: skip
    chain = spark.range(0, LENGTH, 1, 3).selectExpr("concat('n', id) as x", "concat('n', id + 1) as y")
    with tidelog.Session(PROGRAM, spark=spark, workers=2, state=state) as session:
        session.bootstrap({"edge": chain})
        tell(session)
        epoch = session.update(delete={"edge": [("n3", "n4")]}, insert={"edge": chain.limit(1)})
        say(gone=epoch.deleted.count("path"), rows=epoch.deleted["path"].count())
        backend = session._backend
        assert isinstance(backend, ColumnarSession)
        assert backend._crew is not None
        assert backend._crew.worker is not None
        say(pid=backend._crew.worker.pid)
        sys.stdin.readline()
        session.update(insert={"edge": [("n3", "n4")]})
        tell(session)
    if master.startswith("local"):  # a cluster would be given time to have more executors
        try:
            tidelog.Session(PROGRAM, spark=spark, workers=3)
        except tidelog.TidelogError as problem:
            say(refused=str(problem))
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
