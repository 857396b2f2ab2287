"""The line that tells what went wrong, out of the many that Spark writes: of errors that Spark really raises."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from tidelog.errors import error
from tidelog.spark.words import spark_words

Batches = Iterable[pa.RecordBatch]


def failing_tasks() -> dict[str, Any]:
    """Functions for tasks, by what goes wrong: inner ones, which travel without this module."""

    def overflowing(batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            try:
                pc.cast(pa.array([Decimal(10**30)]), pa.int64())
            except ZeroDivisionError as problem:  # a line of the trace that has the word Error in it
                raise ValueError("never") from problem
            yield batch

    def chained(batches: Batches) -> Iterator[pa.RecordBatch]:
        for _ in batches:
            try:
                raise KeyError("inner Error")
            except KeyError as problem:
                raise RuntimeError("the outer one\nin two lines") from problem
        yield from ()

    def refused(batches: Batches) -> Iterator[pa.RecordBatch]:
        for _ in batches:
            raise error("TL1210", "the tuples are gone", help="ask again")
        yield from ()

    def killed(batches: Batches) -> Iterator[pa.RecordBatch]:
        os.kill(os.getpid(), signal.SIGKILL)
        yield from batches

    return {"overflow": overflowing, "chain": chained, "refusal": refused, "kill": killed}


def words(act: Callable[[], Any]) -> str:
    with pytest.raises(Exception) as raised:
        act()
    return spark_words(raised.value)


def test_errors_of_python_in_tasks(spark: Any) -> None:
    one, tasks = spark.range(0, 1, 1, 1), failing_tasks()

    def failing(how: str, barrier: bool = False) -> str:
        return words(lambda: one.mapInArrow(tasks[how], "id long", barrier=barrier).collect())

    assert failing("overflow") == "ArrowInvalid: Integer value out of bounds"
    assert failing("chain") == "RuntimeError: the outer one"
    assert failing("refusal") == "error[TL1210]: the tuples are gone"
    assert failing("kill") == "Python worker exited unexpectedly (crashed)."
    assert failing("kill", barrier=True) == "Python worker exited unexpectedly (crashed)."
    numbers = spark.sparkContext.parallelize([0], 1)
    assert words(lambda: numbers.map(lambda x: 1 / x).collect()) == "ZeroDivisionError: division by zero"


def test_errors_of_spark_and_of_java(spark: Any, tmp_path: Path) -> None:
    overflow = "select cast(9223372036854775807 as bigint) + id from range(1, 2, 1, 1)"
    assert words(lambda: spark.sql(overflow).collect()).startswith("[ARITHMETIC_OVERFLOW] long overflow.")
    assert words(lambda: spark.read.parquet("/nowhere/x")) == ("[PATH_NOT_FOUND] Path does not exist: file:/nowhere/x.")
    assert words(lambda: spark.table("nothing")).startswith("[TABLE_OR_VIEW_NOT_FOUND] The table or view `nothing`")
    assert words(lambda: spark.sql("selec 1")).startswith("[PARSE_SYNTAX_ERROR] Syntax error at or near 'selec'.")
    nosuch = words(lambda: spark.read.format("nosuch").load("/x"))
    assert nosuch.startswith("[DATA_SOURCE_NOT_FOUND] Failed to find the data source: nosuch.")
    bad = tmp_path / "bad.parquet"
    bad.write_bytes(b"PAR1garbage")
    assert words(lambda: spark.read.parquet(str(bad))).startswith("[FAILED_READ_FILE.CANNOT_READ_FILE_FOOTER]")
    java = "select java_method('java.lang.Integer', 'parseInt', 'x') from range(0, 1, 1, 1)"
    assert words(lambda: spark.sql(java).collect()) == 'NumberFormatException: For input string: "x"'
    unwritable = words(lambda: spark.range(0, 1, 1, 1).write.parquet("/proc/x"))
    assert unwritable.startswith("IOException: Mkdirs failed to create file:/proc/x/")


def test_the_loss_of_an_executor_and_errors_without_words() -> None:
    lost = (
        "An error occurred while calling o12.collectToPython.\n"
        ": org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 3.0 failed 4 times, most "
        "recent failure: Lost task 0.3 in stage 3.0 (TID 9) (10.0.0.7 executor 2): ExecutorLostFailure (executor 2 "
        "exited caused by one of the running tasks) Reason: Command exited with code 137\n"
        "Driver stacktrace:\n\tat org.apache.spark.scheduler.DAGScheduler.abortStage(DAGScheduler.scala:2927)\n"
    )
    assert spark_words(Exception(lost)) == (
        "ExecutorLostFailure (executor 2 exited caused by one of the running tasks) "
        "Reason: Command exited with code 137"
    )
    assert spark_words(TimeoutError()) == "TimeoutError"
