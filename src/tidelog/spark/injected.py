"""The SparkSession that a user hands in: that it is one, that it lives, and that its tasks can run Tidelog.

What is wrong with it is known before anything is submitted: a job that fails has Spark write a page of Java. The Python
of the tasks is only asked where it can be another one than this; on a cluster by a job that needs no Python itself.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from tidelog.errors import error
from tidelog.spark.slots import classic_context
from tidelog.version import VERSION

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_MAKING = 'make one with `SparkSession.builder.master("local[2]").getOrCreate()`'
_SHIPPED = ("spark.submit.pyFiles", "spark.archives", "spark.yarn.dist.archives", "spark.pyspark.virtualenv.enabled")
"""Settings with which tasks have other packages than their Python alone."""
_NEEDED = ("tidelog", "numpy", "pyarrow", "zmq")
_MARK = "tidelog-answer "
_QUESTION = f"""
import json, sys
from importlib.util import find_spec
missing = [name for name in {_NEEDED!r} if find_spec(name) is None]
version = "" if "tidelog" in missing else __import__("tidelog.version", fromlist=["VERSION"]).VERSION
print("{_MARK}" + json.dumps([sys.executable, "%d.%d" % sys.version_info[:2], missing, version]))
"""
_ANSWERING = 60.0
"""Seconds that a Python of this machine may take to answer."""
_sound: set[str] = set()  # applications whose tasks' Python was found to be right


def check_session(spark: Any) -> None:
    """Raise if this is no SparkSession, or one that was stopped."""
    if not (hasattr(type(spark), "createDataFrame") and hasattr(type(spark), "range")):
        what = f"the text {spark!r}" if isinstance(spark, str) else f"a {type(spark).__name__}"
        raise error("TL1240", f"`spark=` takes a SparkSession, not {what}", help=_MAKING)
    if is_stopped(spark):
        raise error("TL1240", "the SparkSession was stopped", help=f"{_MAKING}, and close sessions before you stop it")


def is_stopped(spark: SparkSession) -> bool:
    context = classic_context(spark)
    if context is None:
        return bool(getattr(spark, "is_stopped", False))
    try:
        return context._jsc is None or bool(context._jsc.sc().isStopped())
    except Exception:  # its JVM is gone
        return True


class _Python(NamedTuple):
    """The Python of a task, and what it has of what a task needs."""

    executable: str
    version: str
    missing: list[str]
    tidelog: str


def check_python(spark: SparkSession) -> None:
    """Raise if Spark's tasks cannot run Tidelog. Where nothing is known, nothing is said: the first job will tell."""
    context = classic_context(spark)
    if context is None or str(context.applicationId) in _sound:
        return
    wanted = str(getattr(context, "pythonExec", sys.executable))
    local = str(context.master).startswith("local")
    if (local and _is_this_environment(wanted)) or _has_shipped_packages(context):
        return
    answer = _asked_here(wanted) if local else _asked_in_a_task(context, wanted)
    if answer is None:
        return
    found = next((line for line in answer.splitlines() if line.startswith(_MARK)), None)
    python = None if found is None else _Python(*json.loads(found.removeprefix(_MARK)))
    wrong = f"cannot be run there: {_last_line(answer)}" if python is None else _difference(python)
    if wrong:
        raise error("TL1206", f"Spark's tasks run {wanted if python is None else python.executable}, which {wrong}",
                    help=f"set PYSPARK_PYTHON={sys.executable} in the environment before the SparkSession is made, or "
                    "activate the environment that has Tidelog"
                    + ("" if local else f"; on other machines, install Tidelog {VERSION} in the Python of the tasks"),
                    )  # fmt: skip
    _sound.add(str(context.applicationId))


def _is_this_environment(python: str) -> bool:
    """Links are not followed: an environment's Python is one to the Python that it was made with."""
    found = shutil.which(python)
    return found is not None and os.path.dirname(os.path.abspath(found)) == os.path.dirname(sys.executable)


def _has_shipped_packages(context: Any) -> bool:
    return bool(getattr(context, "_python_includes", ())) or any(context.getConf().get(key) for key in _SHIPPED)


def _asked_here(python: str) -> str | None:
    """On this machine, where tasks find what this process finds."""
    try:
        done = subprocess.run(
            [python, "-c", _QUESTION], capture_output=True, text=True, timeout=_ANSWERING, check=False
        )
    except subprocess.TimeoutExpired:
        return None
    except OSError as problem:
        return str(problem)
    return done.stdout + done.stderr


def _asked_in_a_task(context: Any, python: str) -> str | None:
    """On an executor, by a job that has no Python of its own."""
    command = f"{shlex.quote(python)} -c {shlex.quote(_QUESTION)} 2>&1; true"
    try:
        lists = context._jvm.java.util
        one, words = lists.ArrayList(), lists.ArrayList()
        one.add("")
        for word in ("sh", "-c", command):
            words.add(word)
        return "\n".join(context._jsc.parallelize(one, 1).pipe(words).collect())
    except Exception:  # not part of PySpark's interface: another version may lack it
        return None


def _difference(python: _Python) -> str:
    here = ".".join(map(str, sys.version_info[:2]))
    if python.version != here:
        return f"is Python {python.version}, and this process has Python {here}"
    if "tidelog" in python.missing:
        return "has no Tidelog"
    if python.missing:
        return f"lacks {', '.join(python.missing)}"
    return f"has Tidelog {python.tidelog}, and this is {VERSION}" if python.tidelog != VERSION else ""


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or ["it says nothing"])[-1]
