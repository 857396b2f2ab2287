"""Why Spark does not start, in words for whoever asked for it.

What can be seen beforehand is looked at beforehand: whether there is a Java, and whether anybody listens where a
standalone master should be, for which Spark itself would wait a minute. The rest is read from what Spark said.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import socket
from pathlib import Path

from tidelog.errors import TidelogError, error
from tidelog.spark.words import spark_words

NEEDED_JAVA = 17
OTHERWISE = "or run with --local, which needs no Spark"
_STANDALONE = "spark://"
_CONNECTING = 5.0
"""Seconds that a machine may take to say whether anybody listens at a port."""
_CLASS_VERSION = re.compile(r"class file versions? up to (\d+)")
_FIRST_CLASS_VERSION = 44  # of a Java 0, so to say: that of Java 17 is 61
_WRONG_MASTER = re.compile(r"Could not parse Master URL|Master must either be|Could not parse .*Master", re.IGNORECASE)
_TELLING = re.compile(r"(?:Exception|Error)\b.*: |^Error: |^ERROR |: error")


def check_java() -> None:
    """Raise if the Java that Spark will start is not there."""
    home = os.environ.get("JAVA_HOME")
    if home:  # Spark looks nowhere else then
        java = Path(home) / "bin" / "java"
        if not os.access(java, os.X_OK):
            raise error("TL1213", f"JAVA_HOME is {home}, and there is no Java: {java} cannot be run",
                        help=f"let JAVA_HOME name the folder of a Java {NEEDED_JAVA} or newer, or unset it to use the "
                        f"`java` of the PATH, {OTHERWISE}")  # fmt: skip
    elif shutil.which("java") is None:
        raise error("TL1213", f"Spark needs Java {NEEDED_JAVA} or newer, and there is none on this machine",
                    help=f"install a JRE and set JAVA_HOME, {OTHERWISE}")  # fmt: skip


def check_master(master: str) -> None:
    """Raise if there is no such master, so far as this can be known without Spark."""
    if not master.strip():
        raise _no_master(master)
    if not master.startswith(_STANDALONE):
        return
    problems = []
    for address in master.removeprefix(_STANDALONE).split(","):
        host, _, port = address.rpartition(":")
        if not host or not port.isdigit() or int(port) >= 1 << 16:
            raise _no_master(master)
        try:
            socket.create_connection((host.strip("[]"), int(port)), _CONNECTING).close()
        except OSError as problem:
            problems.append(f"{address} ({(problem.strerror or str(problem)).lower()})")
        else:
            return  # of several masters one may be down
    raise error("TL1215", f"Spark did not start: no master answers at {', '.join(problems)}",
                help=f"check the master's address and whether it runs, {OTHERWISE}")  # fmt: skip


def _no_master(master: str) -> TidelogError:
    return error(
        "TL1215", f"Spark did not start: `{master}` is no master that it knows",
        help=f"name one such as local[2], spark://host:7077, yarn or k8s://https://host:6443, {OTHERWISE}",
    )  # fmt: skip


def not_started(master: str, problem: BaseException, log: Path | None) -> TidelogError:
    """The error for a user of a command. `log` has what the JVM wrote, and stays."""
    written = log.read_text(errors="replace") if log is not None and log.exists() else ""
    said = f"{problem}\n{written}"
    if found := _CLASS_VERSION.search(said):
        old = int(found[1]) - _FIRST_CLASS_VERSION
        return error("TL1213", f"Spark needs Java {NEEDED_JAVA} or newer, and {_java()} is Java {old}",
                     help=f"install a newer JRE and let JAVA_HOME name its folder, {OTHERWISE}")  # fmt: skip
    if _WRONG_MASTER.search(said):
        return _no_master(master)
    where = f"; all that Spark wrote is in {log}" if written.strip() else ""
    return error("TL1215", f"Spark did not start on {master}: {_words(problem, written)}",
                 help=f"check Spark's settings and the master's address{where}; {OTHERWISE}")  # fmt: skip


def _words(problem: BaseException, written: str) -> str:
    """What the JVM wrote last about an error says more than that it has ended."""
    if "JAVA_GATEWAY_EXITED" in str(problem) or isinstance(problem, OSError):
        with contextlib.suppress(StopIteration):
            return spark_words(Exception(next(line for line in written.splitlines() if _TELLING.search(line))))
        lines = [line.strip() for line in written.splitlines() if line.strip()]
        if lines:
            return lines[-1]
    return spark_words(problem)


def _java() -> str:
    home = os.environ.get("JAVA_HOME")
    return str(Path(home) / "bin" / "java") if home else shutil.which("java") or "java"
