"""Relations that are shared out to tasks of Spark, on this machine and on a standalone cluster that loses a machine."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from workers_run import LENGTH, PROGRAM

import tidelog
from spark.cluster import Cluster

RUN = Path(__file__).parent / "workers_run.py"
PATHS = LENGTH * (LENGTH + 1) // 2
GONE = 4 * (LENGTH - 3)  # from n0…n3 to n4…
BEFORE = {"epoch": 1, "paths": PATHS, "rows": PATHS, "joined": "n0n1", "last": LENGTH}


def follow(folder: Path, master: str, state: Path | None, end: Callable[[int], Any]) -> str:
    """Run it; `end` is given the process of the worker that the driver knows. What is said in the end."""
    log = folder / "workers.log"
    command = [sys.executable, str(RUN), master, *([] if state is None else [str(state)])]
    environment = os.environ | {"PYSPARK_PYTHON": sys.executable, "PYTHONPATH": str(Path(__file__).parents[1])}
    with (
        log.open("wb") as errors,
        subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env=environment,
            cwd=folder,
        ) as run,
    ):
        assert run.stdin is not None
        assert run.stdout is not None

        def line() -> dict[str, Any]:
            text = run.stdout.readline() if run.stdout is not None else ""
            assert text, f"the run ended early:\n{log.read_text()}"
            return dict(json.loads(text))

        try:
            assert line() == BEFORE
            assert line() == {"gone": GONE, "rows": GONE}
            end(line()["pid"])
            run.stdin.write("go on\n")
            run.stdin.flush()
            assert line() == {**BEFORE, "epoch": 3}
            said = run.stdout.read()
            assert run.wait(60) == 0
            return said
        finally:
            run.kill()


def test_workers_are_tasks_and_are_replaced_together(tmp_path: Path) -> None:
    refused = follow(tmp_path, "local[4]", None, lambda pid: os.kill(pid, signal.SIGKILL))
    assert "TL1201" in refused
    assert "take 4, and jobs" in refused


def test_workers_on_a_cluster_survive_the_loss_of_a_machine(tmp_path: Path) -> None:
    with Cluster(tmp_path) as cluster:
        cluster.start_workers(2)

        def lose_one(_: int) -> None:
            cluster.kill(cluster.workers[0])
            cluster.start_workers(1)

        follow(tmp_path, cluster.master_url, tmp_path / "state", lose_one)
    with tidelog.Session(PROGRAM, state=tmp_path / "state") as kept:
        assert (kept.epoch, kept.count("path")) == (3, PATHS)


def test_dataframes_have_no_workers(spark: Any) -> None:
    with pytest.raises(tidelog.TidelogError, match="TL1274"):
        tidelog.Session(PROGRAM, spark=spark, executor="dataframe", workers=2)
