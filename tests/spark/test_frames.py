"""What the DataFrame executor promises beside its results: where it runs, what it costs, how it fails."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from frame_subject import FrameSubject

from strategies.engine import checked_program
from tidelog.epochs.engine import EngineOptions
from tidelog.errors import Source, TidelogError
from tidelog.spark.dataframe import tables
from tidelog.spark.dataframe.engine import DataFrames
from tidelog.spark.dataframe.holder import FrameHolder

RUN = Path(__file__).parent / "frame_run.py"
SOURCE = str(Path(__file__).parents[2] / "src")
CLOSURE = """
.decl edge(x: number, y: number)
.input edge
.decl path(x: number, y: number)
path(x, y) :- edge(x, y).
path(x, z) :- path(x, y), edge(y, z).
"""


@pytest.mark.parametrize("kind", ["connect", "defaults"])
def test_a_session_of_any_kind_will_do(kind: str) -> None:
    run = subprocess.run(
        [sys.executable, str(RUN), kind],
        capture_output=True, text=True, timeout=300, check=False,
        env=os.environ | {"PYSPARK_PYTHON": sys.executable, "PYTHONPATH": SOURCE},  # tasks have folders of their own
    )  # fmt: skip
    lines = [line for line in run.stdout.splitlines() if line.startswith("found ")]
    assert lines, run.stderr[-2000:]
    before, after = json.loads(lines[0].removeprefix("found "))
    assert before == {
        "path": [[1, 2, 1, 1], [1, 3, 2, 1], [1, 4, 3, 1], [2, 3, 1, 1], [2, 4, 2, 1], [3, 4, 1, 1]],
        "sink": [[4, "4.000000", 1, 1]],
    }
    assert after == {
        "path": [[1, 2, 1, 1], [1, 3, 1, 1], [1, 4, 2, 1], [3, 4, 1, 1], [8, 8, 1, 1]],
        "sink": [[2, "2.000000", 1, 1], [4, "4.000000", 1, 1]],
    }


def jobs_of(spark: Any, group: str, text: str, edges: set[tuple[int, int]]) -> tuple[int, int]:
    """How many actions and Spark jobs a bootstrap takes."""
    subject = FrameSubject(spark, text)
    frames = subject.frames({"edge": edges})
    spark.sparkContext.setJobGroup(group, group)
    try:
        report = subject.engine.bootstrap(frames)
    finally:
        spark.sparkContext.setJobGroup("tests", "tests")
    return report.actions, len(spark.sparkContext.statusTracker().getJobIdsForGroup(group))


def test_the_number_of_jobs_does_not_grow_with_the_number_of_rules(spark: Any) -> None:
    edges = {(1, 2), (2, 3)}
    more = "".join(f"path(x, z) :- path(x, y), path(y, z), x != {n}.\n" for n in range(6))
    few, many = jobs_of(spark, "few rules", CLOSURE, edges), jobs_of(spark, "many rules", CLOSURE + more, edges)
    assert few[0] == 4  # the facts, two iterations that find something and one that does not
    assert many == few


def test_large_relations_are_spread_over_tasks_and_large_changes_start_over(
    spark: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the limits for small ones out of the way."""
    monkeypatch.setattr(tables, "SMALL", 0)
    subject = FrameSubject(spark, CLOSURE, "elastic")
    chain = {(i, i + 1) for i in range(6)}
    subject.bootstrap({"edge": chain})
    said = {}
    for reason, seconds in (("many derivations", None), ("a long time", 1e-6), ("enough time", 1e6)):
        stratum = ("path",)
        subject.engine.frames.old.seconds = {} if seconds is None else {stratum: seconds}
        monkeypatch.setattr(FrameHolder, "least_budget", 1 if seconds is None else 10**6)
        report = subject.update({"edge": {(2, 3)} & chain}, {"edge": {(2, 3)} - chain})
        chain ^= {(2, 3)}
        said[reason] = report.strategy, report.why
        cut = set() if (2, 3) in chain else {(i, j) for i in range(3) for j in range(3, 7)}
        assert subject.rows("path") == {(i, j) for i in range(7) for j in range(i + 1, 7)} - cut
    assert said["many derivations"][0] == said["a long time"][0] == "bootstrap"
    assert "Update needed more than 0.2" in said["many derivations"][1]
    assert "Update would have taken longer" in said["a long time"][1]
    assert said["enough time"][0] == "update"


def test_a_fault_names_its_rule_and_changes_nothing(spark: Any) -> None:
    text = CLOSURE + ".decl q(x: number)\nq(10 / (x - 3)) :- edge(x, _).\n"
    subject = FrameSubject(spark, text)
    subject.bootstrap({"edge": {(1, 2)}})
    before = subject.state()
    with pytest.raises(TidelogError, match="10 / 0: division by zero") as problem:
        subject.update({}, {"edge": {(3, 4)}})
    assert problem.value.diagnostics[0].code == "TL0801"
    assert subject.state() == before


def test_functors_of_the_user_and_queries(spark: Any) -> None:
    text = CLOSURE + ".functor twice(x: number): number\n.decl t(x: number)\nt(@twice(x)) :- edge(x, _).\n"
    engine = DataFrames(checked_program(text), spark, EngineOptions(functors={"twice": lambda x: 2 * x}))
    engine.bootstrap({"edge": FrameSubject(spark, CLOSURE).frame("edge", {(1, 2), (5, 6)})})
    info, answers = engine.query(Source("<query>", "t(X), X > 2, !edge(X, _)"))
    assert (info.attributes, [tuple(row) for row in answers.collect()]) == (("X",), [(10,)])


def test_what_cannot_be_done_is_refused_before_anything_runs() -> None:
    text = ".decl s(x: symbol)\n.input s\n.decl r(n: number)\nr(ord(x)) :- s(x).\nr(as(x, number)) :- s(x).\n"
    with pytest.raises(TidelogError) as problem:
        DataFrames(checked_program(text), None, EngineOptions())  # type: ignore[arg-type]
    assert [d.code for d in problem.value.diagnostics] == ["TL1251", "TL1252"]
