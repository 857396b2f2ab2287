"""Ingest, run, update and results on a real standalone cluster of three processes on this machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tidelog
from spark.cluster import Cluster
from spark.cluster_run import LENGTH, REACH

RUN = Path(__file__).parent / "cluster_run.py"
PATHS = LENGTH * (LENGTH + 1) // 2
LEFT, RIGHT = LENGTH // 2, LENGTH - LENGTH // 2 - 1  # edges on both sides of the one that is cut
AFTER = LEFT * (LEFT + 1) // 2 + RIGHT * (RIGHT + 1) // 2 + LEFT + 1


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with Cluster(tmp_path_factory.mktemp("cluster")) as found:
        yield found


class Run:
    """`cluster_run.py` in a process of its own, which says things one line at a time."""

    def __init__(self, cluster: Cluster, executor: str) -> None:
        self.log, self.folder = cluster.folder / f"{executor}.log", cluster.folder
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, str(RUN), cluster.master_url, executor], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=log, text=True, env=os.environ | {"PYSPARK_PYTHON": sys.executable}, cwd=self.folder,
            )  # fmt: skip

    def line(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        text = self.process.stdout.readline()
        assert text, f"the run ended early:\n{self.log.read_text()}"
        return json.loads(text)

    def go_on(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("go on\n")
        self.process.stdin.flush()

    def check_results(self) -> None:
        assert self.line() == {"epoch": 1, "paths": PATHS, "rows": PATHS}
        changed = self.line()
        assert changed["gone"] == (LEFT + 1) * (RIGHT + 1)
        assert changed == {"epoch": 2, "gone": changed["gone"], "come": LEFT + 1, "rows": AFTER, "first": LEFT + 1}

    def check_end(self) -> None:
        assert self.process.wait(60) == 0

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *problem: object) -> None:
        self.process.kill()
        self.process.communicate()


def test_the_resident_worker_serves_a_session_on_a_cluster(cluster: Cluster) -> None:
    """The session begins before the cluster has executors, and waits for them. Its state is where the driver is; a
    place that driver and worker do not both see is refused."""
    with Run(cluster, "columnar") as run:
        assert run.line() == {"slots": 0}
        cluster.start_workers(2)
        run.check_results()
        refused = run.line()["refused"]
        run.check_end()
    assert "error[TL1242]: the state directory /proc/self/cwd/elsewhere of the driver is not there on " in refused
    assert not (run.folder / "elsewhere").exists()
    with tidelog.Session(REACH, state=run.folder / "kept") as kept:  # it was relative, and is the driver's
        assert (kept.epoch, kept["path"].count()) == (2, AFTER)
    assert not list((run.folder / "kept").glob("*.tmp"))


def test_a_run_of_dataframes_survives_the_loss_of_a_worker(cluster: Cluster) -> None:
    cluster.start_workers(2 - len(cluster.workers))
    with Run(cluster, "dataframe") as run:
        run.line()
        assert run.line()["iteration"] >= 2
        cluster.kill(cluster.workers[0])
        run.go_on()
        run.check_results()
        run.check_end()
