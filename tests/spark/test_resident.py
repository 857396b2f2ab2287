"""The resident worker: a store in a Spark task that serves epochs, and what happens when it is lost."""

from __future__ import annotations

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
from tidelog.spark.resident.keys import Keys
from tidelog.spark.resident.messages import Beat, Get, Malformed, frames_of, message_of

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
    assert raised.value.codes == ("TL1203", "TL1202", "TL1104")
    with pytest.raises(TidelogError, match="attribute `to`: null is not a value"):
        session.update(insert={"edge": spark.createDataFrame([("a", None, 1)], SCHEMA)})
    with pytest.raises(TidelogError, match="TL0633"):
        session.update(insert={"odd": spark.createDataFrame([(-1, 1.0, "nil")], "u bigint, f double, l string")})
    assert session.epoch == 1
    assert rows(session["path"]) == {("a", "b"), ("b", "c"), ("a", "c")}


def test_a_frame_of_an_epoch_that_is_over_says_so(session: tidelog.Session) -> None:
    before = session["path"]
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
    with pytest.raises(ProcessLookupError):
        os.kill(lost, 0)


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
    if keys is None:
        socket.connect(address)
    else:
        keys.connect(socket, address)
    return socket


def test_a_peer_without_the_key_gets_nothing(session: tidelog.Session) -> None:
    member, crew = worker(session), session._backend._crew  # type: ignore[attr-defined]
    forged = Keys.new()
    half = Keys(crew.keys.server, forged.client, forged.client_secret)  # knows whom to ask, but is nobody
    for address, question in (
        (member.address, Get("rows path", 1, 0, 10)),
        (crew.rendezvous.address, Beat(0, crew.attempt)),
    ):
        for keys in (None, forged, half):
            with stranger(address, keys) as socket:
                socket.send_multipart(frames_of(question))
                assert not socket.poll(300)
        with stranger(address, crew.keys.of_a_client()) as socket:
            socket.send_multipart(frames_of(question))
            assert socket.poll(10_000)


@pytest.mark.parametrize(
    "frame",
    [b"", b"{}", b"\x80\x04.", b'{"kind": "Nobody"}', b'{"kind": "Count", "command": "1", "relation": "p"}',
     b'{"kind": "Count", "command": true, "relation": "p"}', b'{"kind": "Close", "command": 1, "more": 2}', b"[1]"],
)  # fmt: skip
def test_what_is_no_message_is_not_looked_at(frame: bytes) -> None:
    with pytest.raises(Malformed):
        message_of([frame])


def test_garbage_from_a_peer_with_the_key_does_no_harm(session: tidelog.Session) -> None:
    crew = session._backend._crew  # type: ignore[attr-defined]
    for address in (worker(session).address, crew.rendezvous.address):
        with stranger(address, crew.keys.of_a_client()) as socket:
            socket.send_multipart([b"\x80\x04\x95garbage", b"more"])
            socket.send_multipart(frames_of(Beat(99, 99)))
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
