"""A real standalone Spark cluster on loopback: a master and workers, each a process, from the pip package."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType

import pyspark

SPARK_CLASS = Path(pyspark.__file__).parent / "bin" / "spark-class"
HOST = "127.0.0.1"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


class Cluster:
    """A master, and workers that are started later; what is still there in the end is killed."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, free_port()
        self.master_url = f"spark://{HOST}:{self.port}"
        self.processes: list[subprocess.Popen[bytes]] = []
        master = ("master.Master", "--host", HOST, "--port", str(self.port), "--webui-port", str(free_port()))
        self.master = self._start("master", *master)
        self._wait_for_the_master()
        self.workers: list[subprocess.Popen[bytes]] = []

    def start_workers(self, number: int, cores: int = 2) -> None:
        worker = ("worker.Worker", "--host", HOST, "--webui-port", "0", "--cores", str(cores), "--memory", "1g")
        for i in range(len(self.workers), len(self.workers) + number):
            work = str(self.folder / f"work{i}")
            self.workers.append(self._start(f"worker{i}", *worker, "--work-dir", work, self.master_url))

    def _start(self, name: str, what: str, *arguments: str) -> subprocess.Popen[bytes]:
        environment = os.environ | {
            "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": HOST, "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_LOCAL_DIRS": str(self.folder / "local"), "SPARK_NO_DAEMONIZE": "1",
        }  # fmt: skip
        with (self.folder / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(
                [str(SPARK_CLASS), f"org.apache.spark.deploy.{what}", *arguments], stdout=log, stderr=log,
                env=environment, start_new_session=True,
            )  # fmt: skip
        self.processes.append(process)
        return process

    def _wait_for_the_master(self) -> None:
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            with socket.socket() as probe:
                if probe.connect_ex((HOST, self.port)) == 0:
                    return
            time.sleep(0.1)
        raise TimeoutError((self.folder / "master.log").read_text())

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        """The process with its children: a worker goes with its executors, as when a machine is lost."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def __enter__(self) -> Cluster:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in reversed(self.processes):
            self.kill(process)
