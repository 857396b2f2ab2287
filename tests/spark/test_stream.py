"""Streams: every micro-batch is one epoch, applied exactly once, whatever ends when."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tidelog import Session, TidelogError
from tidelog.session import checked_program
from tidelog.spark.resident import history

PROGRAM = checked_program("""
    .decl edge(a: number, b: number)
    .input edge
    .decl colour(a: number, c: symbol)
    .input colour
    .decl path(a: number, b: number)
    path(a, b) :- edge(a, b).
    path(a, c) :- path(a, b), edge(b, c).
    .output path
""")
EDGES = "a bigint, b bigint"
SOURCE = str(Path(__file__).parents[2] / "src")
FEED = EDGES + ", _change_type string"
NOW = {"availableNow": True}


class Source:
    """A folder of CSV files and the stream that reads them, one file a batch."""

    def __init__(self, spark: Any, folder: Path, schema: str) -> None:
        self.spark, self.folder, self.schema, self.files = spark, folder, schema, 0
        folder.mkdir()

    def write(self, *lines: str) -> None:
        self.files += 1
        hidden = self.folder / f".{self.files}"
        hidden.write_text("".join(f"{line}\n" for line in lines))
        os.utime(hidden, (self.files, self.files))  # the oldest file comes first
        hidden.rename(self.folder / f"{self.files}.csv")

    def stream(self) -> Any:
        reader = self.spark.readStream.schema(self.schema).option("maxFilesPerTrigger", 1)
        return reader.csv(str(self.folder))


def rows(frame: Any) -> set[tuple[Any, ...]]:
    return {tuple(row) for row in frame.collect()}


def finished(query: Any) -> None:
    assert query.awaitTermination(120), "the stream should have ended"


def test_each_batch_is_one_epoch_and_a_replayed_one_changes_nothing(spark: Any, tmp_path: Path) -> None:
    source = Source(spark, tmp_path / "in", FEED)
    state, checkpoint = tmp_path / "state", tmp_path / "checkpoint"
    source.write("1,2,insert", "2,3,insert")
    source.write("2,3,delete", "2,4,insert")
    told: list[tuple[int, Any]] = []
    with Session(PROGRAM, spark=spark, state=state) as s:
        s.bootstrap({})
        finished(
            s.apply_stream(
                source.stream(), "edge", name="edges", checkpoint=checkpoint, trigger=NOW,
                on_epoch=lambda epoch: told.append((epoch.number, rows(epoch.changes["path"]))),
            )
        )  # fmt: skip
        assert told == [
            (2, {(1, 2, "insert", 2), (2, 3, "insert", 2), (1, 3, "insert", 2)}),
            (3, {(2, 3, "delete", 3), (1, 3, "delete", 3), (2, 4, "insert", 3), (1, 4, "insert", 3)}),
        ]
        assert s._backend._history is None  # the state has it all

    (checkpoint / "commits" / "1").unlink()  # as if Spark had ended between our epoch and its own note of it
    (checkpoint / "commits" / ".1.crc").unlink(missing_ok=True)
    source.write("4,5,insert")
    again: list[str] = []
    with Session(PROGRAM, spark=spark, state=state) as s:
        finished(
            s.apply_stream(
                source.stream(), "edge", name="edges", checkpoint=checkpoint, trigger=NOW,
                on_epoch=lambda epoch: again.append(f"{epoch.number} {epoch.strategy}"),
            )
        )  # fmt: skip
        assert again == ["3 none", "4 update"]
        assert rows(s["path"]) == {(1, 2), (2, 4), (1, 4), (4, 5), (2, 5), (1, 5)}


def test_several_streams_feed_one_session_that_survives_its_worker(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "LONGEST", 2)
    edges, colours = Source(spark, tmp_path / "edges", EDGES), Source(spark, tmp_path / "colours", "c string, a int")
    with Session(PROGRAM, spark=spark) as s:
        s.bootstrap({"edge": [(0, 1)]})
        for number in range(1, 3):
            edges.write(f"{number},{number + 1}")
            colours.write(f"colour{number},{number}")
        queries = [
            s.apply_stream(edges.stream(), "edge", trigger={"processingTime": "0 seconds"}),
            s.apply_stream(colours.stream(), "colour", trigger={"processingTime": "0 seconds"}),
        ]
        for query in queries:
            query.processAllAvailable()
        assert s.epoch == 5
        kept = s._backend._history
        assert len(kept.changes) <= 2
        assert kept.epoch + len(kept.changes) - 1 == 5

        os.kill(s._backend._crew.worker.pid, signal.SIGKILL)
        edges.write("3,4")
        queries[0].processAllAvailable()
        assert s.epoch == 6
        assert rows(s["colour"]) == {(n, f"colour{n}") for n in range(1, 3)}
        assert len(rows(s["path"])) == 10
        with pytest.raises(TidelogError, match="no relation `edgy`"):
            s.apply_stream(edges.stream(), "edgy")
        with pytest.raises(TidelogError, match="say relation="):
            s.apply_stream(edges.stream())
        with pytest.raises(TidelogError, match="TL1203"):
            s.apply_stream(edges.stream().toDF("a", "c"), "colour")
        with pytest.raises(TidelogError, match="this is no stream"):
            s.apply_stream(s["edge"], "edge")

        edges.write("4,nothing")
        with pytest.raises(Exception, match=r"TL0632.*null is not a value") as stopped:
            queries[0].processAllAvailable()
        assert "edge" in str(stopped.value)
        assert (queries[0].isActive, queries[1].isActive, s.epoch) == (False, True, 6)
    assert not queries[1].isActive


def test_the_executor_of_dataframes_is_fed_in_the_same_way(spark: Any, tmp_path: Path) -> None:
    program = (
        ".decl edge(a: number, b: number)\n.input edge\n.decl back(a: number, b: number)\nback(b, a) :- edge(a, b).\n"
    )
    source = Source(spark, tmp_path / "in", FEED + ", _commit_version bigint")
    source.write("1,2,insert,1", "2,3,insert,1", "2,3,delete,2", "3,4,delete,2", "3,4,insert,3")
    told: list[Any] = []
    with Session(program, spark=spark, executor="dataframe") as s:
        s.bootstrap({"edge": [(0, 1), (2, 3)]})
        finished(s.apply_stream(source.stream(), trigger=NOW, on_epoch=lambda e: told.append(rows(e.changes["back"]))))
        assert told == [{(2, 1, "insert", 2), (4, 3, "insert", 2), (3, 2, "delete", 2)}]
        assert rows(s["back"]) == {(1, 0), (2, 1), (4, 3)}


def test_a_stream_on_spark_connect_feeds_the_session_in_the_client(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for number, text in enumerate(("2,insert,1\n3,insert,2\n", "2,delete,1\n", "5,insert,nothing\n")):
        (tmp_path / "in" / f"{number}.csv").write_text(text)
        os.utime(tmp_path / "in" / f"{number}.csv", (number, number))  # the oldest file comes first
    run = subprocess.run(
        [sys.executable, str(Path(__file__).parent / "connect_stream.py"), str(tmp_path), "dataframe"],
        capture_output=True, text=True, timeout=560, check=False,
        env=os.environ | {"PYSPARK_PYTHON": sys.executable, "PYTHONPATH": SOURCE},
    )  # fmt: skip
    lines = [line for line in run.stdout.splitlines() if "found {" in line]
    assert lines, run.stderr[-3000:]
    found = json.loads(lines[0].partition("found ")[2])
    assert found["told"] == [
        [2, [[2, 1, "insert", 2], [3, 2, "insert", 2]]],
        [3, [[2, 1, "delete", 3]]],
    ]
    assert found["edge"] == [[0, 1], [2, 3]]
    assert "attribute `from`: null is not a value" in found["problem"]
    assert found["epoch"] == 3


def test_a_session_without_spark_says_that_it_takes_no_streams() -> None:
    with Session(PROGRAM) as s, pytest.raises(TidelogError, match="TL1224"):
        s.apply_stream(None)


@pytest.mark.parametrize(
    ("source", "options"),
    [("rate", {"rowsPerSecond": "20"}), ("rate-micro-batch", {"rowsPerBatch": "5"})],
)
def test_a_source_that_makes_its_own_rows_feeds_a_session(spark: Any, source: str, options: dict[str, str]) -> None:
    stream = spark.readStream.format(source).options(**options).load().selectExpr("value AS a", "value + 1 AS b")
    told: list[int] = []
    with Session(PROGRAM, spark=spark) as s:
        s.bootstrap({})
        query = s.apply_stream(stream, "edge", on_epoch=lambda epoch: told.append(epoch.inserted["edge"].count()))
        deadline = time.monotonic() + 90
        while sum(told) < 10 and time.monotonic() < deadline:
            assert query.exception() is None
            time.sleep(0.1)
        query.stop()
        edges = rows(s["edge"])
        assert len(edges) >= 10
        assert edges == {(n, n + 1) for n in range(len(edges))}, "each row once, and none left out"
        assert s["path"].count() == len(edges) * (len(edges) + 1) // 2
