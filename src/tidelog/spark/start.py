"""A Spark session of our own, for commands that are started without one.

Sessions that a user hands in are never configured or stopped; this one is both.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from tidelog.errors import error

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOCAL = "local[*]"
_SUBMITTED = "PYSPARK_GATEWAY_PORT"
"""Set by spark-submit, which then has settings of its own."""


@contextlib.contextmanager
def started(master: str | None, say: Callable[[str], None]) -> Iterator[SparkSession]:
    """A session on a master, `local[*]` unless one is named or `spark-submit` has started us; stopped in the end."""
    submitted = _SUBMITTED in os.environ
    if not submitted and not _has_java():
        raise error("TL1213", "Spark needs Java 17 or newer, and there is none on this machine",
                    help="install a JRE and set JAVA_HOME, or run with --local, which needs no Spark")  # fmt: skip
    spark = _session(master, submitted)
    try:
        say(f"Spark {spark.version} on {spark.sparkContext.master} (--local runs without it)")
        yield spark
    finally:
        spark.stop()


def _session(master: str | None, submitted: bool) -> SparkSession:
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # tasks need this environment, with Tidelog in it
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName("tidelog").config("spark.ui.showConsoleProgress", "false")
    if not submitted:
        builder = builder.master(master or LOCAL).config("spark.log.level", "ERROR")
        if (master or LOCAL).startswith("local"):
            builder = builder.config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1")
            builder = builder.config("spark.ui.enabled", "false")
    elif master is not None:
        raise error("TL1214", "spark-submit has a --master of its own", help="give it there, before the program")
    try:
        with _quietly():
            return builder.getOrCreate()
    except (PySparkException, RuntimeError, OSError) as problem:
        words = str(problem).strip().splitlines() or [type(problem).__name__]
        raise error("TL1215", f"Spark did not start on {master or LOCAL}: {words[0]}",
                    help="check the master's address, or run with --local") from None  # fmt: skip
    except Exception as problem:  # py4j's errors have no common base that is public
        words = [line for line in str(problem).splitlines() if "Exception" in line or "Error" in line]
        raise error("TL1215", f"Spark did not start on {master or LOCAL}: {(words or ['unknown reason'])[0].strip()}",
                    help="check the master's address, or run with --local") from None  # fmt: skip


@contextlib.contextmanager
def _quietly() -> Iterator[None]:
    """While the JVM starts it writes to standard error what no user of a command wants to read; after that, only
    errors. If it does not start, what it wrote is all there is to go by, and is shown."""
    sys.stderr.flush()
    kept = os.dup(2)
    with tempfile.TemporaryFile() as aside:
        os.dup2(aside.fileno(), 2)
        try:
            yield
        except BaseException:
            os.dup2(kept, 2)
            aside.seek(0)
            sys.stderr.write(aside.read().decode(errors="replace"))
            raise
        finally:
            os.dup2(kept, 2)
            os.close(kept)


def _has_java() -> bool:
    home = os.environ.get("JAVA_HOME")
    return bool(home and (Path(home) / "bin" / "java").exists()) or shutil.which("java") is not None
