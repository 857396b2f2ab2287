"""The suite of programs (`tests/program_cases.py`): both executors, epoch after epoch, find what is expected.

A Spark job costs more than all of a small program; so by default the DataFrame executor runs a few of the cases, and
all of them with `TIDELOG_FUZZ` set (`TIDELOG_FUZZ=20 pytest tests/spark`).
"""

from __future__ import annotations

import os
from typing import Any

import pyarrow as pa
import pytest
from frame_subject import external

from program_cases import CASES, Case, Tables, lines, table_rows
from tidelog.analysis.checked import Checked
from tidelog.analysis.names.inlining import inline_relations
from tidelog.epochs.engine import EngineOptions
from tidelog.session import Session
from tidelog.spark.dataframe.engine import DataFrames
from tidelog.spark.dataframe.holder import FrameChange


class Columnar:
    """A local session."""

    def __init__(self, checked: Checked, request: pytest.FixtureRequest) -> None:
        self.session = Session(checked)

    def bootstrap(self, facts: Tables) -> None:
        self.session.bootstrap(facts)

    def update(self, delete: Tables, insert: Tables) -> None:
        self.session.update(insert, delete)

    def rows(self, name: str) -> list[tuple[Any, ...]]:
        return table_rows(self.session[name].to_arrow(), len(self.session[name].attributes))


class Frames:
    """The DataFrame executor."""

    def __init__(self, checked: Checked, request: pytest.FixtureRequest) -> None:
        self.spark = request.getfixturevalue("spark")
        self.engine = DataFrames(checked, self.spark, EngineOptions(), "update-paper")

    def bootstrap(self, facts: Tables) -> None:
        self.engine.bootstrap(self.frames(facts))

    def update(self, delete: Tables, insert: Tables) -> None:
        self.engine.update(FrameChange(self.frames(delete), self.frames(insert)))

    def frames(self, tables: Tables) -> dict[str, Any]:
        return {name: self.spark.createDataFrame(external(table)) for name, table in tables.items()}

    def rows(self, name: str) -> list[tuple[Any, ...]]:
        table: pa.Table = self.engine.rows(name).toArrow()
        assert table.num_rows == self.engine.count(name)
        return table_rows(table, self.engine.checked.relations[name].arity)


EXECUTORS = {"columnar": Columnar, "dataframe": Frames}
ON_SPARK = {
    "stratified_negation",
    "facts_of_derived_relations",
    "counts",
    "arithmetic_wraps_around",
    "texts",
    "records",
}
RUNS = [
    (executor, case)
    for executor in EXECUTORS
    for case in CASES
    if executor == "columnar" or case.name in ON_SPARK or os.environ.get("TIDELOG_FUZZ")
]


@pytest.mark.parametrize(("executor", "case"), RUNS, ids=lambda given: getattr(given, "name", given))
def test_every_epoch_is_as_expected(executor: str, case: Case, request: pytest.FixtureRequest) -> None:
    checked = case.checked
    running = EXECUTORS[executor](checked, request)
    running.bootstrap(case.facts(checked))
    names = checked.relations.keys() - inline_relations(checked.program)
    epochs = case.epochs(checked)
    for number in range(len(epochs) + 1):
        if number:
            running.update(*epochs[number - 1])
        expected = case.expected(number)
        found = {name: lines(checked, name, running.rows(name)) for name in names if name in expected}
        assert found == {name: expected[name] for name in found}, f"epoch {number}"
        assert found
