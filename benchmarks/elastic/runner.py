"""Runs jobs one after the other and keeps their records, a line of JSON for each epoch.

What is always true: every epoch of a job that was started gets a record, also those that it did not come to: after the
time limit they say "timeout", beyond the memory limit "out of memory", after an error "failed". Records are written as
they come, so that an interrupted run keeps what it has.
"""

from __future__ import annotations

import json
import os
import platform
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.batch.workloads import REPOSITORY
from benchmarks.elastic.jobs import EpochKey, Job

Record = dict[str, Any]


class Records:
    """The file of records; it only grows. A later record of an epoch takes the place of an earlier one."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.run = ""

    def begin_run(self, description: Record) -> None:
        """What is appended from now on belongs to this run."""
        self.run = description["run"]
        self.append(description)

    def append(self, record: Record) -> None:
        if "run" not in record:
            record = {**record, "of": self.run}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write("\n" * self._torn() + json.dumps(record) + "\n")

    def _torn(self) -> bool:
        """Whether the last line was not finished."""
        if not self.path.stat().st_size:
            return False
        with self.path.open("rb") as file:
            file.seek(-1, os.SEEK_END)
            return file.read(1) != b"\n"

    def read(self) -> list[Record]:
        """The last record of each epoch, those of runs first."""
        found: dict[tuple[object, ...], Record] = {}
        if self.path.is_file():
            for line in self.path.read_text(encoding="utf-8").splitlines():
                try:
                    record = json.loads(line)
                except json.JSONDecodeError:  # the run was interrupted while it wrote
                    continue
                found[identity(record)] = record
        return list(found.values())


def identity(record: Record) -> tuple[object, ...]:
    if "run" in record:
        return ("run", record["run"])
    fields = ("experiment", "kind", "workload", "strategy", "variant", "repetition", "size", "number", "step")
    return tuple(record[name] for name in fields)


def describe_run(arguments: list[str]) -> Record:
    """The machine and the version, for the record."""
    command = ["git", "-C", str(REPOSITORY), "describe", "--always", "--dirty"]
    commit = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    return {
        "run": time.strftime("%Y-%m-%d %H:%M:%S"), "commit": commit, "cores": os.cpu_count(), "load": os.getloadavg(),
        "machine": _processor(), "python": platform.python_version(), "arguments": arguments,
    }  # fmt: skip


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.machine()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


@dataclass(frozen=True)
class Bounds:
    """What a process may take."""

    seconds: float
    memory: float = float("inf")  # bytes


class OutOfMemory(Exception):
    """A process holds more memory than it may."""


ENDED = ("ok", "left out", "timeout", "out of memory")


def run_all(wanted: Iterable[Job], records: Records, bounds: Bounds, resume: bool) -> None:
    """Run the jobs; with `resume`, those that came to their end or their limit before are left alone."""
    ended = {identity(r) for r in records.read() if r.get("status") in ENDED} if resume else set()
    for job in wanted:
        if resume and all(identity(_record(job, key)) in ended for key in job.epochs()):
            continue
        start = time.perf_counter()
        outcome = run_job(job, records, bounds)
        what = f"{job.experiment} {job.workload} {job.strategy} {job.variant}".rstrip()
        print(f"{what}: {outcome}, {time.perf_counter() - start:.1f} s, load {os.getloadavg()[0]:.1f}", file=sys.stderr)


def run_job(job: Job, records: Records, bounds: Bounds) -> str:
    """Run one job in a process of its own; how it ended."""
    missing = dict.fromkeys(job.epochs())
    with tempfile.TemporaryFile("w+", encoding="utf-8") as errors:
        child = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.elastic.child", job.to_json()],
            stdout=subprocess.PIPE, stderr=errors, text=True, cwd=REPOSITORY,
        )  # fmt: skip
        outcome = "ok"
        try:
            for line in lines_of(child, bounds):
                record = json.loads(line)
                records.append(record)
                missing.pop(EpochKey(record["size"], record["number"], record["step"]))
                outcome = "unavailable" if record["status"] == "unavailable" else outcome
            if child.wait():
                errors.seek(0)
                outcome = "failed"
        except TimeoutError:
            outcome = "timeout"
        except OutOfMemory:
            outcome = "out of memory"
        finally:
            child.kill()
            child.wait()
        if outcome == "failed":
            why = errors.read().strip().splitlines()[-1:] or [f"it ended with status {child.returncode}"]
            print(f"{job.workload} {job.strategy}: {why[0]}", file=sys.stderr)
        else:
            why = [f"its process may take {bounds.seconds:g} s and {bounds.memory / 2**30:.1f} GiB"]
    for key in missing:
        records.append(_record(job, key) | {"status": outcome, "why": why[0], "limit": bounds.seconds})
    return outcome


def lines_of(child: subprocess.Popen[str], bounds: Bounds) -> Iterator[str]:
    """The lines that a process prints; TimeoutError or OutOfMemory once it takes more than it may."""
    deadline = time.monotonic() + bounds.seconds
    lines: queue.Queue[str | None] = queue.Queue()

    def read() -> None:
        assert child.stdout is not None
        for line in child.stdout:
            lines.put(line)
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()
    while True:
        if resident(child.pid) > bounds.memory:  # also of a process that prints more often than it is waited for
            raise OutOfMemory
        try:
            line = lines.get(timeout=min(0.5, max(0.0, deadline - time.monotonic())))
        except queue.Empty:
            if time.monotonic() >= deadline:
                raise TimeoutError from None
            continue
        if line is None:
            return
        yield line


def resident(pid: int) -> int:
    """The memory that a process holds, in bytes."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGESIZE")
    except (OSError, IndexError):
        return 0


def _record(job: Job, key: EpochKey) -> Record:
    return {**job.name(), "size": key.size, "number": key.number, "step": key.step}
