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

from spark.cluster import Cluster
from spark.cluster_run import LENGTH

RUN = Path(__file__).parent / "cluster_run.py"
PATHS = LENGTH * (LENGTH + 1) // 2
LEFT, RIGHT = LENGTH // 2, LENGTH - LENGTH // 2 - 1  # edges on both sides of the one that is cut
AFTER = LEFT * (LEFT + 1) // 2 + RIGHT * (RIGHT + 1) // 2 + LEFT + 1


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with Cluster(tmp_path_factory.mktemp("cluster")) as found:
        yield found


def started(cluster: Cluster, executor: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(RUN), cluster.master_url, executor], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=(cluster.folder / f"{executor}.log").open("wb"), text=True,
        env=os.environ | {"PYSPARK_PYTHON": sys.executable},
    )  # fmt: skip


def line(process: subprocess.Popen[str]) -> dict[str, Any]:
    assert process.stdout is not None
    text = process.stdout.readline()
    assert text, "the run ended early; see its log in the temporary folder"
    return json.loads(text)


def check_results(process: subprocess.Popen[str]) -> None:
    assert line(process) == {"epoch": 1, "paths": PATHS, "rows": PATHS}
    changed = line(process)
    assert changed["gone"] == (LEFT + 1) * (RIGHT + 1)
    assert changed == {"epoch": 2, "gone": changed["gone"], "come": LEFT + 1, "rows": AFTER, "first": LEFT + 1}
    assert process.wait(60) == 0


def test_the_resident_worker_serves_a_session_on_a_cluster(cluster: Cluster) -> None:
    with started(cluster, "columnar") as process:
        check_results(process)


def test_a_run_of_dataframes_survives_the_loss_of_a_worker(cluster: Cluster) -> None:
    with started(cluster, "dataframe") as process:
        assert line(process)["iteration"] >= 2
        cluster.kill(cluster.workers[0])
        assert process.stdin is not None
        process.stdin.write("go on\n")
        process.stdin.flush()
        check_results(process)
