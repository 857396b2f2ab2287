"""The life of a session on Spark: what it is begun with, the slot that it keeps, and how it ends."""

from __future__ import annotations

import os
import signal
import sys
import time
import venv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tidelog
from tidelog.errors import TidelogError
from tidelog.spark import injected
from tidelog.spark.resident.transfers import failure
from tidelog.spark.slots import claimed, shares

COUNTING = """
.decl start(x: number)
.input start
.decl n(x: number)
n(x) :- start(x).
n(x + 1) :- n(x), x < 50000000.
"""
EDGES = ".decl edge(x: number, y: number)\n.input edge\n.decl p(x: number, y: number)\np(x, y) :- edge(x, y).\n"


def pid(session: tidelog.Session) -> int:
    return int(session._backend._crew.worker.pid)  # type: ignore[attr-defined]


def soon(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 60
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


# ---- what it is begun with


@pytest.mark.parametrize("executor", ["columnar", "dataframe"])
@pytest.mark.parametrize("given", ["local[2]", 7, object(), tidelog])
def test_what_is_no_spark_session_is_refused(given: Any, executor: str) -> None:
    with pytest.raises(TidelogError, match=r"TL1240.*takes a SparkSession, not (the text 'local\[2\]'|an? \w+)"):
        tidelog.Session(EDGES, spark=given, executor=executor)


def test_a_builder_or_a_context_is_no_session_either(spark: Any) -> None:
    for given in (type(spark).builder, spark.sparkContext, spark.range(1), type(spark)):
        with pytest.raises(TidelogError, match="takes a SparkSession, not a") as raised:
            tidelog.Session(EDGES, spark=given)
        assert "getOrCreate" in str(raised.value)


def test_tasks_whose_python_has_no_tidelog_are_found_before_a_job_fails(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    venv.create(tmp_path / "bare", with_pip=False)
    other = str(tmp_path / "bare" / "bin" / "python3")
    context = spark.sparkContext
    for answer in (injected._asked_here(sys.executable), injected._asked_in_a_task(context, sys.executable)):
        assert answer is not None
        assert answer.startswith(injected._MARK)
        assert f'"{tidelog.__version__}"' in answer
    assert '["tidelog"' in str(injected._asked_in_a_task(context, other))
    monkeypatch.setattr(context, "pythonExec", other)
    with pytest.raises(TidelogError) as raised:
        tidelog.Session(EDGES, spark=spark)
    assert f"error[TL1206]: Spark's tasks run {other}, which has no Tidelog" in str(raised.value)
    assert f"PYSPARK_PYTHON={sys.executable}" in str(raised.value)
    monkeypatch.setattr(context, "pythonExec", "/nowhere/python")
    with pytest.raises(TidelogError, match=r"tasks run /nowhere/python, which cannot be run there: .*No such file"):
        tidelog.Session(EDGES, spark=spark)
    assert claimed(spark) == 0


# ---- its slot


def test_sessions_that_are_open_keep_their_slots_and_one_is_left_for_other_jobs(spark: Any) -> None:
    with tidelog.Session(EDGES, spark=spark) as first:
        first.bootstrap({"edge": [(1, 2)]})
        assert (claimed(spark), shares(spark, 10)) == (1, 1)
        with pytest.raises(TidelogError) as raised, tidelog.Session(EDGES, spark=spark) as second:
            second.bootstrap({"edge": [(1, 2)]})
        said = str(raised.value)
        assert "error[TL1201]: Spark has 2 task slots, of which another session that is open keeps 1" in said
        assert "close() sessions that are no longer needed" in said
        assert "local[3]" in said
        assert spark.range(10).count() == 10
        assert first["p"].count() == 1
    assert (claimed(spark), shares(spark, 10)) == (0, 2)


def test_a_session_that_is_forgotten_gives_its_slot_back(spark: Any) -> None:
    """Of two slots, one can be kept: every new session waits until the last one's is free."""
    session = tidelog.Session(EDGES, spark=spark)
    session.bootstrap({"edge": [(1, 2)]})
    del session
    assert soon(lambda: claimed(spark) == 0)
    session = tidelog.Session(EDGES, spark=spark)
    epoch = session.bootstrap({"edge": [(1, 2), (2, 3)]})
    cycle: list[Any] = [session]
    cycle.append(cycle)
    del session, cycle  # only a search for garbage finds it
    assert epoch.inserted["p"].count() == 2  # and an epoch keeps what it needs
    del epoch
    with tidelog.Session(EDGES, spark=spark) as session:
        assert session.bootstrap({"edge": [(1, 2)]}).number == 1
        assert claimed(spark) == 1


def test_a_cell_of_a_notebook_that_makes_a_session_can_be_run_again(spark: Any) -> None:
    """The first session goes when the name is bound to the second, which exists by then."""
    for _ in range(3):
        session = tidelog.Session(EDGES, spark=spark)
        session.bootstrap({"edge": [(1, 2)]})
        assert session["p"].count() == 1
        assert claimed(spark) == 1
    session.close()


def test_a_session_that_found_no_room_begins_when_there_is_some(spark: Any) -> None:
    with tidelog.Session(EDGES, spark=spark) as first, tidelog.Session(EDGES, spark=spark) as second:
        with pytest.raises(TidelogError, match="TL1102"):
            second.count("p")
        with pytest.raises(TidelogError, match="TL1201"):
            second.bootstrap({"edge": [(1, 2)]})
        first.close()
        assert second.bootstrap({"edge": [(1, 2)]}).number == 1


# ---- memory, and workers that are lost


def test_a_memory_limit_is_an_error_and_the_worker_stays(spark: Any) -> None:
    limits = tidelog.Limits(max_memory="200M")
    with tidelog.Session(COUNTING, spark=spark, strategy="batch", limits=limits) as s:
        before = pid(s)
        with pytest.raises(TidelogError, match=r"TL0903.*memory limit of 200 MiB was reached"):
            s.bootstrap({"start": [(0,)]})
        with pytest.raises(TidelogError, match=r"TL0903.*was reached while taking facts from Spark's tasks"):
            s.bootstrap({"start": spark.range(0, 40_000_000, 1, 4).toDF("x")})
        assert (pid(s), s._backend._crew.attempt) == (before, 1)  # type: ignore[attr-defined]


def test_memory_that_the_system_does_not_give_is_an_error_with_words() -> None:
    (diagnostic,) = failure(MemoryError("Unable to allocate 3.00 TiB")).problems
    assert diagnostic.code == "TL1241"
    assert diagnostic.message.endswith(": Unable to allocate 3.00 TiB")


def test_an_evaluation_that_kills_its_workers_is_tried_twice(spark: Any, tmp_path: Path) -> None:
    tries = tmp_path / "tries"

    def die(x: int) -> int:
        with tries.open("a") as file:
            file.write("x")
        os.kill(os.getpid(), signal.SIGKILL)
        return x

    program = ".functor die(x: number): number\n.decl e(x: number)\n.input e\n.decl p(x: number)\np(@die(x)) :- e(x).\n"
    with tidelog.Session(program, spark=spark, functors={"die": die}) as s:
        with pytest.raises(TidelogError, match=r"TL1208.*2 workers were lost") as raised:
            s.bootstrap({"e": [(1,)]})
        assert tries.read_text() == "xx"
        assert "MiB of memory when it was last heard of" in str(raised.value)
        assert "most likely they needed more memory" in str(raised.value)


def test_facts_and_reads_right_after_the_loss_of_a_worker(spark: Any) -> None:
    many = 200_000  # more than come with the answer to a command
    with tidelog.Session(EDGES, spark=spark) as s:
        first = s.bootstrap({"edge": spark.range(many).selectExpr("id as x", "id + 1 as y")})
        old = s["p"]
        os.kill(pid(s), signal.SIGKILL)
        epoch = s.update(insert={"edge": spark.range(many, many + 2).selectExpr("id as x", "id + 1 as y")})
        assert epoch.number == 2
        os.kill(pid(s), signal.SIGKILL)
        assert s["p"].count() == many + 2
        assert s.count("p") == many + 2
        assert first.inserted["p"].count() == many  # the new worker has done the first epoch, too
        with pytest.raises(Exception, match=r"TL1243.*is gone: it was lost, or its session is closed"):
            old.collect()
