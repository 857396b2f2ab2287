"""A Spark session of our own, for commands that are started without one.

Sessions that a user hands in are never configured or stopped; this one is both. It starts in a thread, so that whoever
asks for it can do something else meanwhile: a JVM takes some seconds. On this machine's own cores, a worker for the
session to come starts beside it (`resident/own_process.py`). What the JVM writes goes to a file, which is only kept if
Spark does not start.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from importlib import import_module
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from tidelog.errors import TidelogError, error
from tidelog.spark.no_start import check_java, check_master, not_started
from tidelog.spark.words import spark_words

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tidelog.spark.resident.own_process import Reserve

LOCAL = "local[*]"
_SUBMITTED = "PYSPARK_GATEWAY_PORT"
"""Set by spark-submit, which then has settings of its own."""
LOST = (ConnectionRefusedError, ConnectionResetError)
"""What is raised when the JVM is gone."""
_ONLY_THIS_MACHINE = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.ui.enabled": "false",
}


def is_submitted() -> bool:
    """Whether spark-submit has started this process."""
    return _SUBMITTED in os.environ


class Starting:
    """A session that is on its way. `columnar`: whether a resident worker will be needed."""

    def __init__(self, master: str | None, columnar: bool = True) -> None:
        self.submitted = is_submitted()
        if self.submitted and master is not None:
            raise error("TL1214", "spark-submit has a --master of its own", help="give it there, before the program")
        self.master = master if master is not None else LOCAL
        if not self.submitted:
            check_java()
            check_master(self.master)
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # tasks need this environment, with Tidelog in it
        self._session: Future[SparkSession] = Future()
        self._log: Path | None = None
        threading.Thread(target=self._start, name="tidelog-spark", daemon=True).start()
        self._columnar = columnar
        self._reserve = self._new_reserve() if columnar else None

    def _new_reserve(self) -> Reserve | None:
        if self.submitted or not self.master.startswith("local"):
            return None
        from tidelog.spark.resident.own_process import Reserve  # the JVM is on its way before this is imported

        return Reserve()

    def session(self) -> SparkSession:
        """The session, once it is there. What works on it is imported meanwhile."""
        import_module(
            "tidelog.spark.resident.columnar_session" if self._columnar else "tidelog.spark.dataframe.dataframe_session"
        )
        spark = self._session.result()
        if self._reserve is not None:
            self._reserve.serve(spark)
        return spark

    def _start(self) -> None:
        try:
            self._session.set_result(self._submitted_session() if self.submitted else self._new_session())
        except TidelogError as problem:
            self._session.set_exception(problem)
        except BaseException as problem:  # py4j's errors have no common base that is public
            self._session.set_exception(not_started(self.master, problem, self._log))
            self._log = None  # it is for the user now

    def _submitted_session(self) -> SparkSession:
        from pyspark.sql import SparkSession

        return SparkSession.builder.appName("tidelog").config("spark.ui.showConsoleProgress", "false").getOrCreate()

    def _new_session(self) -> SparkSession:
        from pyspark import SparkConf, SparkContext
        from pyspark.java_gateway import launch_gateway
        from pyspark.sql import SparkSession

        conf = SparkConf(loadDefaults=False).setMaster(self.master).setAppName("tidelog")
        conf.set("spark.ui.showConsoleProgress", "false").set("spark.log.level", "ERROR")
        if self.master.startswith("local"):
            conf.setAll(list(_ONLY_THIS_MACHINE.items()))
        gateway = SparkContext._gateway  # a process has one JVM
        if gateway is None:
            with self._new_log() as log:
                gateway = launch_gateway(conf, {"stdout": log, "stderr": log})  # type: ignore[no-untyped-call]
        SparkContext(conf=conf, gateway=gateway)
        return SparkSession.builder.getOrCreate()

    def _new_log(self) -> IO[Any]:
        descriptor, name = tempfile.mkstemp(prefix="tidelog-spark-", suffix=".log")
        self._log = Path(name)
        return os.fdopen(descriptor, "wb")

    def stop(self) -> None:
        """The end, whether it has come or not: a JVM that is still starting ends with this process."""
        if self._reserve is not None:
            self._reserve.close()
        if self._session.done() and self._session.exception() is None:
            with contextlib.suppress(Exception):  # its JVM may be what has failed
                self._session.result().stop()
        if self._log is not None:
            self._log.unlink(missing_ok=True)


@contextlib.contextmanager
def starting(
    master: str | None, say: Callable[[str], None], columnar: bool = True
) -> Iterator[Callable[[], SparkSession]]:
    """A session on a master, `local[*]` unless one is named or `spark-submit` has started us, that begins to start;
    what is given waits for it and says where it is. It is stopped in the end."""
    coming = Starting(master, columnar)

    def session() -> SparkSession:
        spark = coming.session()
        say(f"Spark {spark.version} on {spark.sparkContext.master}")
        return spark

    try:
        yield session
    except Exception as problem:
        if isinstance(problem, LOST) or type(problem).__module__.startswith(("pyspark.", "py4j.")):
            raise error("TL1244", f"Spark failed: {spark_words(problem)}") from problem
        raise
    finally:
        coming.stop()


@contextlib.contextmanager
def started(master: str | None, say: Callable[[str], None], columnar: bool = True) -> Iterator[SparkSession]:
    """The same for those who have nothing to do meanwhile."""
    with starting(master, say, columnar) as session:
        yield session()
