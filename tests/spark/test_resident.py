"""The resident worker: a store in a Spark task that serves epochs, and what happens when it is lost."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import zmq

import tidelog
from tidelog.errors import TidelogError
from tidelog.spark.resident import results
from tidelog.spark.resident.commands import COMMANDS, WorkerBeat
from tidelog.spark.resident.transfers import TRANSFERS, Get, Side, Wanted
from tidelog.wire.codec import MalformedMessage
from tidelog.wire.keys import Keys

PROGRAM = """
.type List = [head: number, tail: List]
.decl edge(from: symbol, to: symbol, weight: number)
.input edge
.decl path(from: symbol, to: symbol)
.output path
path(x, y) :- edge(x, y, _).
path(x, z) :- path(x, y), edge(y, z, _).
.decl odd(u: unsigned, f: float, l: List)
.input odd
.decl copy(u: unsigned, f: float, l: List)
copy(u, f, l) :- odd(u, f, l).
"""
EDGES = [("a", "b", 1), ("b", "c", 2)]
SCHEMA = "from string, to string, weight int"


def rows(frame: Any) -> set[tuple[Any, ...]]:
    found = [tuple(row) for row in frame.collect()]
    assert len(found) == len(set(found))
    return set(found)


@pytest.fixture
def session(spark: Any) -> Iterator[tidelog.Session]:
    with tidelog.Session(PROGRAM, spark=spark) as found:
        found.bootstrap({"edge": spark.createDataFrame(EDGES, SCHEMA)})
        yield found


def worker(session: tidelog.Session) -> Any:
    return session._backend._crew.worker  # type: ignore[attr-defined]


def test_facts_come_from_frames_and_from_python_and_results_are_frames(spark: Any, session: tidelog.Session) -> None:
    assert rows(session["path"]) == {("a", "b"), ("b", "c"), ("a", "c")}
    gone = spark.createDataFrame([(1, "a", "b")], "weight bigint, from string, to string")  # by name, in another order
    epoch = session.update(
        insert={"edge": [("c", "d", 3)], "odd": [(2**64 - 1, 0.5, "[1, [2, nil]]"), (7, -1.0, "nil")]},
        delete={"edge": gone},
    )
    assert (epoch.number, epoch.strategy) == (2, "update")
    assert rows(epoch.inserted["path"]) == {("c", "d"), ("b", "d")}
    assert rows(epoch.deleted["path"]) == {("a", "b"), ("a", "c")}
    assert epoch.inserted.count("copy") == 2
    assert rows(session["copy"]) == {(Decimal(2**64 - 1), 0.5, "[1, [2, nil]]"), (Decimal(7), -1.0, "nil")}
    assert rows(session.query('path(X, "d")')) == {("c",), ("b",)}
    assert rows(session["edge"]) == {("b", "c", 2), ("c", "d", 3)}


def test_the_same_relation_is_the_same_frame_until_the_next_epoch(spark: Any, session: tidelog.Session) -> None:
    path, edge = session["path"], session["edge"]
    assert session["path"] is path
    joined = session["path"].join(session["edge"], session["path"]["from"] == session["edge"]["from"])
    assert joined.select(path["to"], edge["weight"]).count() == 3
    twice = path.alias("p").join(session["path"].alias("q"), "to")
    assert twice.count() == 5
    epoch = session.update(insert={"edge": [("c", "d", 3)]})
    assert session["path"] is not path
    assert epoch.inserted["path"] is epoch.inserted["path"]


def test_small_updates_and_results_need_no_job(spark: Any, session: tidelog.Session) -> None:
    import pyarrow as pa

    local = spark.createDataFrame(pa.table({"weight": [3], "TO": ["d"], "from": ["c"]}))
    context = spark.sparkContext
    elsewhere = len(context.statusTracker().getJobIdsForGroup(None))  # threads that bring facts have no group
    context.setJobGroup("small", "small")
    try:
        epoch = session.update(insert={"edge": local})
        assert session["path"].count() == 6
        assert len(session["path"].collect()) == 6
        assert session["path"].where("to = 'd'").select("from").take(1)
        session["path"].show()
        assert (epoch.inserted["path"].count(), epoch.deleted["path"].count()) == (3, 0)
        assert session.query('path(X, "d")').count() == 3
        assert len(epoch.inserted["path"].collect()) == 3
        assert rows(epoch.changes["path"]) == {(x, "d", "insert", epoch.number) for x in "abc"}
    finally:
        context.setJobGroup("tests", "tests")
    assert list(context.statusTracker().getJobIdsForGroup("small")) == []
    assert len(context.statusTracker().getJobIdsForGroup(None)) == elsewhere


def test_large_frames_go_by_many_tasks_and_every_row_counts_once(spark: Any) -> None:
    program = ".decl e(x: number, s: symbol)\n.input e\n.decl n(c: number)\nn(c) :- c = count : { e(_, _) }.\n"
    frame = spark.range(0, 300_000, 1, 7).selectExpr("id", "concat('s', id % 1000) as s").toDF("x", "s")
    with tidelog.Session(program, spark=spark) as s:
        assert s.bootstrap({"e": frame}).inserted.count("e") == 300_000
        assert rows(s["n"]) == {(300_000,)}
        back = s["e"]
        assert back.count() == 300_000
        assert back.exceptAll(frame).count() == 0


def test_all_that_is_wrong_with_a_change_is_said_and_nothing_changes(spark: Any, session: tidelog.Session) -> None:
    with pytest.raises(TidelogError) as raised:
        session.update(
            insert={"edge": spark.createDataFrame([("a", 1)], "from string, to int"), "path": [("a", "b")]},
            delete={"odd": spark.createDataFrame([("x", 1.0, "nil")], "u string, f double, l string")},
        )
    assert raised.value.codes == ("TL1203", "TL0631", "TL1104")
    with pytest.raises(TidelogError, match="attribute `to`: null is not a value"):
        session.update(insert={"edge": spark.createDataFrame([("a", None, 1)], SCHEMA)})
    with pytest.raises(TidelogError, match="TL0633"):
        session.update(insert={"odd": spark.createDataFrame([(-1, 1.0, "nil")], "u bigint, f double, l string")})
    assert session.epoch == 1
    assert rows(session["path"]) == {("a", "b"), ("b", "c"), ("a", "c")}


def test_a_frame_of_an_epoch_that_is_over_says_so_unless_it_is_small(
    session: tidelog.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = session["path"]
    session.update(insert={"edge": [("x", "y", 1)]})
    assert rows(small) == {("a", "b"), ("b", "c"), ("a", "c")}
    monkeypatch.setattr(results, "SMALL", 0)
    before = session["path"]
    assert rows(before) == {("a", "b"), ("b", "c"), ("a", "c"), ("x", "y")}
    session.update(insert={"edge": [("c", "d", 1)]})
    with pytest.raises(Exception, match="TL1210"):
        before.collect()


def test_a_killed_worker_is_replaced_and_nothing_is_lost(session: tidelog.Session) -> None:
    session.update(insert={"edge": [("c", "d", 1)]}, delete={"edge": [("a", "b", 1)]})
    lost = worker(session).pid
    os.kill(lost, signal.SIGKILL)
    start = time.monotonic()
    epoch = session.update(insert={"edge": [("d", "e", 1)]})
    assert time.monotonic() - start < 60
    assert epoch.number == 3
    assert worker(session).pid != lost
    assert rows(session["path"]) == {("b", "c"), ("b", "d"), ("b", "e"), ("c", "d"), ("c", "e"), ("d", "e")}


def test_a_worker_that_hangs_is_killed_and_replaced(session: tidelog.Session) -> None:
    lost = worker(session).pid
    os.kill(lost, signal.SIGSTOP)
    assert rows(session["path"]) == {("a", "b"), ("b", "c"), ("a", "c")}
    assert worker(session).pid != lost
    deadline = time.monotonic() + 60  # Spark gives a task some seconds before it kills its process
    while is_running(lost):
        assert time.monotonic() < deadline
        time.sleep(0.1)


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_state_directory_is_where_a_new_worker_begins(spark: Any, tmp_path: Path) -> None:
    with tidelog.Session(PROGRAM, spark=spark, state=tmp_path / "state") as s:
        s.bootstrap({"edge": EDGES})
        s.update(insert={"edge": [("c", "d", 1)]}, batch=("feed", 7))
        os.kill(worker(s).pid, signal.SIGKILL)
        again = s.update(insert={"edge": [("x", "y", 1)]}, batch=("feed", 7))
        assert (again.number, again.strategy) == (2, "none")
        assert rows(s["path"]) == {("a", "b"), ("b", "c"), ("a", "c"), ("c", "d"), ("b", "d"), ("a", "d")}
    with tidelog.Session(PROGRAM, state=tmp_path / "state") as s:  # and so can a process without Spark
        assert (s.epoch, s["path"].count()) == (2, 6)
        with pytest.raises(TidelogError, match="is being written by"):
            tidelog.Session(PROGRAM, spark=spark, state=tmp_path / "state")


def test_functors_go_to_the_worker(spark: Any, tmp_path: Path) -> None:
    (tmp_path / "f.py").write_text("STEP = 2\n\ndef inc(x):\n    return x + STEP\n")
    program = ".functor inc(x: number): number\n.decl p(x: number)\np(@inc(1)).\n"
    with tidelog.Session(program, spark=spark, functors=tmp_path / "f.py") as s:
        s.bootstrap({})
        assert rows(s["p"]) == {(3,)}
    with pytest.raises(TidelogError, match="TL0812"):
        tidelog.Session(program, spark=spark)


# ---- who may talk


def stranger(address: str, keys: Keys | None) -> zmq.Socket[bytes]:
    socket: zmq.Socket[bytes] = zmq.Context.instance().socket(zmq.DEALER)
    socket.linger = 0
    if keys is not None:
        keys.join(socket)
    socket.connect(address)
    return socket


def test_a_peer_without_the_key_gets_nothing(session: tidelog.Session) -> None:
    member, crew = worker(session), session._backend._crew  # type: ignore[attr-defined]
    forged = Keys.new()
    half = Keys(crew.keys.server, forged.client, forged.client_secret)  # knows whom to ask, but is nobody
    for address, question in (
        (member.address, TRANSFERS.frames(Get(Wanted("path", Side.ROWS, 1), 0, 10))),
        (crew.rendezvous.address, COMMANDS.frames(WorkerBeat(0, crew.attempt))),
    ):
        for keys in (None, forged, half):
            with stranger(address, keys) as socket:
                with contextlib.suppress(zmq.Again):  # turned away already: nobody to send to, and ZeroMQ would wait
                    socket.send_multipart(question, zmq.NOBLOCK)
                assert not socket.poll(300)
        with stranger(address, crew.keys.of_a_client()) as socket:
            socket.send_multipart(question)
            assert socket.poll(10_000)


@pytest.mark.parametrize(
    "frame",
    [b"", b"{}", b"\x80\x04.", b"[1]", b'["Nobody",1,{}]', b'["CountRows","1",{"relation":"p"}]',
     b'["CountRows",true,{"relation":"p"}]', b'["CountRows",1,{"relation":7}]', b'["CountRows",1,{}]',
     b'["Close",1,{"more":2}]', b'["Put",1,{"part":"a","relation":"p"}]'],
)  # fmt: skip
def test_what_is_no_message_is_not_looked_at(frame: bytes) -> None:
    with pytest.raises(MalformedMessage):
        COMMANDS.parcel([frame])


def test_garbage_from_a_peer_with_the_key_does_no_harm(session: tidelog.Session) -> None:
    crew = session._backend._crew  # type: ignore[attr-defined]
    for address in (worker(session).address, crew.rendezvous.address):
        with stranger(address, crew.keys.of_a_client()) as socket:
            socket.send_multipart([b"\x80\x04\x95garbage", b"more"])
            socket.send_multipart(COMMANDS.frames(WorkerBeat(99, 99)))
            socket.poll(500)
    assert rows(session["path"]) == {("a", "b"), ("b", "c"), ("a", "c")}


# ---- processes of their own

ALONE = """
import os, sys, time
from pyspark.sql import SparkSession
import tidelog
spark = (SparkSession.builder.master(sys.argv[1]).config("spark.ui.enabled", "false").config("spark.log.level", "OFF")
         .config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1").getOrCreate())
try:
    s = tidelog.Session(".decl e(x: number)\\n.input e\\n", spark=spark)
except tidelog.TidelogError as problem:
    print(problem, flush=True)
    spark.stop()
    for executor in ("columnar", "dataframe"):
        try:
            tidelog.Session(".decl e(x: number)\\n.input e\\n", spark=spark, executor=executor)
        except tidelog.TidelogError as problem:
            print(problem, flush=True)
    sys.exit(3)
s.bootstrap({"e": [(1,)]})
print(s._backend._crew.worker.pid, flush=True)
time.sleep(1000)
"""


def alone(master: str) -> subprocess.Popen[str]:
    environment = os.environ | {"PYSPARK_PYTHON": sys.executable}
    return subprocess.Popen(
        [sys.executable, "-c", ALONE, master], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        env=environment,
    )  # fmt: skip


def test_too_few_task_slots_are_an_error_and_not_a_hang() -> None:
    with alone("local[1]") as process:
        output, _ = process.communicate(timeout=120)
    assert process.returncode == 3
    assert "error[TL1201]: Spark has 1 task slot: the resident worker takes 1" in output
    assert "local[2]" in output
    assert output.count("error[TL1240]: the SparkSession was stopped") == 2


def test_a_dead_driver_takes_its_worker_down() -> None:
    with alone("local[2]") as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        os.kill(pid, 0)
        process.kill()
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    pytest.fail(f"worker {pid} outlives its driver")
