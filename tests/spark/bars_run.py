"""A session on a Spark that draws bars of stages, beside a job of the user's that takes two seconds. Prints the stages
that Spark takes for active: once the session serves, and after its end."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from typing import Any

from pyspark.sql import SparkSession

import tidelog

EDGES = ".decl edge(x: number, y: number)\n.input edge\n.decl p(x: number, y: number)\np(x, y) :- edge(x, y).\n"


def slowly(batches: Iterable[Any]) -> Iterator[Any]:
    time.sleep(2.0)
    yield from batches


def active(spark: SparkSession) -> int:
    return int(spark.sparkContext._jsc.sc().statusStore().activeStages().size())


def main() -> None:
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "true")
        .config("spark.log.level", "ERROR")
        .getOrCreate()
    )
    with tidelog.Session(EDGES, spark=spark) as session:
        session.bootstrap({"edge": [(1, 2)]})
        print("served", active(spark), flush=True)
        print("the session serves", file=sys.stderr, flush=True)
        assert spark.range(2).coalesce(1).mapInArrow(slowly, "id bigint").count() == 2
        assert session["p"].count() == 1
    print("closed", active(spark), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
