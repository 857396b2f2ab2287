"""A stream on Spark Connect: `python connect_stream.py FOLDER EXECUTOR` prints what its epochs found.

The server is a process of its own on this machine, at a port that nobody else has.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyspark
from pyspark.sql import SparkSession

import tidelog

PROGRAM = """
.decl edge(from: number, to: number)
.input edge
.decl back(a: number, b: number)
back(b, a) :- edge(a, b).
"""


@contextmanager
def server(folder: Path) -> Iterator[str]:
    """The address of a Spark Connect server, once it listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    settings = {
        "spark.connect.grpc.binding.address": "127.0.0.1", "spark.connect.grpc.binding.port": port,
        "spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1", "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": 2, "spark.log.level": "ERROR",
        "spark.sql.warehouse.dir": folder / "warehouse",
    }  # fmt: skip
    submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    command = [
        str(submit),
        "--master",
        "local[2]",
        "--class",
        "org.apache.spark.sql.connect.service.SparkConnectServer",
    ]
    command += [part for key, value in settings.items() for part in ("--conf", f"{key}={value}")]
    process = subprocess.Popen([*command, "spark-internal"], stdout=sys.stderr)
    try:
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline and process.poll() is None:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.2)
        yield f"sc://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(60)


def main(folder: Path, executor: str) -> None:
    with server(folder) as address:
        spark = SparkSession.builder.remote(address).getOrCreate()
        try:
            run(spark, folder, executor)
        finally:
            spark.stop()  # before its server


def run(spark: SparkSession, folder: Path, executor: str) -> None:
    told: list[Any] = []

    def stream() -> Any:
        reader = spark.readStream.schema("TO bigint, _change_type string, FROM bigint").option("maxFilesPerTrigger", 1)
        return reader.csv(str(folder / "in"))

    with tidelog.Session(PROGRAM, spark=spark, executor=executor) as s:
        s.bootstrap({"edge": [(0, 1)]})
        query = s.apply_stream(
            stream(), checkpoint=folder / "checkpoint", trigger={"availableNow": True},
            on_epoch=lambda epoch: told.append([epoch.number, sorted(map(list, epoch.changes["back"].collect()))]),
        )  # fmt: skip
        while query.isActive:
            time.sleep(0.1)
        found = {"told": told, "edge": sorted(map(list, s["edge"].collect())), "problem": str(query.exception()),
                 "epoch": s.epoch}  # fmt: skip
    print("found", json.dumps(found), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
