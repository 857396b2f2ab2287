"""One Spark session per test process, small and without a user interface; tests never change or stop it.

`spark` is a classic session. What needs other settings (the defaults, Spark Connect) runs in a process of its own: a
process has one JVM.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A session with two cores on this machine; Spark's own files are under pytest's temporary folder."""
    sql = pytest.importorskip("pyspark.sql")
    logging.getLogger("py4j").setLevel(logging.WARNING)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    place = tmp_path_factory.mktemp("spark")
    session = (
        sql.SparkSession.builder.master("local[2]")
        .appName("tidelog tests")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1")  # a short life is no time to optimise
        .config("spark.driver.memory", "1g")
        .config("spark.local.dir", str(place / "local"))
        .config("spark.sql.warehouse.dir", str(place / "warehouse"))
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.ui.enabled", "false")
        .config("spark.log.level", "ERROR")
        .getOrCreate()
    )
    drop_connections_that_are_cut_off()
    yield session
    session.stop()


def drop_connections_that_are_cut_off() -> None:
    """A test whose time is over is interrupted, most likely while it waits for an answer of the JVM. py4j would give
    that answer to the next question of the thread, and so on: all that follows failed with errors such as
    `SparkSession does not exist in the JVM`. (It thinks of KeyboardInterrupt, not of others.)"""
    from py4j.clientserver import ClientServerConnection

    ask = ClientServerConnection.send_command

    def send_command(self: Any, command: str) -> Any:
        try:
            return ask(self, command)
        except BaseException as problem:
            if not isinstance(problem, Exception):
                self.close(reset=True)
            raise

    ClientServerConnection.send_command = send_command
