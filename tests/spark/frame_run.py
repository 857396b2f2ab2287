"""A program on a Spark session of its own: `python frame_run.py connect|defaults` prints what two epochs found.

`connect` is a Spark Connect session, `defaults` a classic one with nothing set but its addresses.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession

from tidelog.analysis.check import check
from tidelog.epochs.engine import EngineOptions
from tidelog.lang.souffle import parse
from tidelog.spark.dataframe.engine import DataFrames
from tidelog.spark.dataframe.holder import FrameChange

PROGRAM = """
.decl edge(x: number, y: number)
.input edge
.decl path(x: number, y: number)
path(x, y) :- edge(x, y).
path(x, z) :- path(x, y), edge(y, z).
.decl sink(x: number, s: symbol)
sink(y, to_string(itof(y))) :- edge(_, y), !edge(y, _).
"""


def session(kind: str) -> SparkSession:
    if kind == "connect":
        return SparkSession.builder.remote("local[2]").getOrCreate()
    return (
        SparkSession.builder.master("local[2]")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .getOrCreate()
    )


def main(kind: str) -> None:
    spark = session(kind)

    def edges(*pairs: tuple[int, int]) -> Any:
        columns = [pa.array([pair[i] for pair in pairs], pa.int64()) for i in range(2)]
        return spark.createDataFrame(pa.table(columns, names=["x", "y"]))

    engine = DataFrames(check(parse(PROGRAM)), spark, EngineOptions(), "update-paper")
    engine.bootstrap({"edge": edges((1, 2), (2, 3), (3, 4))})
    found = [states(engine)]
    engine.update(FrameChange({"edge": edges((2, 3))}, {"edge": edges((1, 3), (8, 8))}))
    found.append(states(engine))
    engine.close()
    print("found", json.dumps(found), flush=True)
    spark.stop()


def states(engine: DataFrames) -> dict[str, list[Any]]:
    return {name: sorted(list(row) for row in engine.states(name).collect()) for name in ("path", "sink")}


if __name__ == "__main__":
    main(sys.argv[1])
