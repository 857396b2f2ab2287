"""The DataFrame executor under test: facts go in and states come out as the oracle has them."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import pyarrow as pa

import oracle
from state_oracle import Entry
from strategies.engine import checked_program
from strategies.epochs import Facts
from tidelog.analysis.types import RecordType, Type
from tidelog.epochs.engine import EngineOptions
from tidelog.io.record_text import base_type, parse
from tidelog.io.record_values import text_of_python
from tidelog.spark.dataframe.engine import DataFrames
from tidelog.spark.dataframe.holder import FrameChange
from tidelog.spark.dataframe.report import FrameReport
from tidelog.values import Kind

ARROW = {
    Kind.NUMBER: pa.int64(),
    Kind.UNSIGNED: pa.decimal128(20, 0),
    Kind.FLOAT: pa.float64(),
    Kind.SYMBOL: pa.string(),
    Kind.RECORD: pa.string(),
}


class FrameSubject:
    """An executor whose frames are turned into the oracle's values and back."""

    def __init__(self, spark: Any, text: str, strategy: str = "update-paper", **options: Any) -> None:
        self.spark = spark
        self.checked = checked_program(text)
        self.engine = DataFrames(self.checked, spark, EngineOptions(**options), strategy)

    def bootstrap(self, facts: Facts) -> FrameReport:
        return self.engine.bootstrap(self.frames(facts))

    def update(self, delete: Facts, insert: Facts) -> FrameReport:
        return self.engine.update(FrameChange(self.frames(delete), self.frames(insert)))

    def frames(self, facts: Facts) -> dict[str, Any]:
        return {name: self.frame(name, rows) for name, rows in facts.items()}

    def frame(self, name: str, rows: set[tuple[Any, ...]]) -> Any:
        info = self.checked.relations[name]
        types = [self.checked.types.types[t] for t in info.types]
        values = [[outside(v, t) for v, t in zip(row, types, strict=True)] for row in rows]
        columns = [pa.array([row[i] for row in values], ARROW[t.kind]) for i, t in enumerate(types)]
        if not columns:
            return self.spark.createDataFrame(pa.table({"_": pa.array([True] * len(rows))}))
        return self.spark.createDataFrame(pa.table(columns, names=list(info.attributes)))

    def rows(self, name: str) -> set[tuple[Any, ...]]:
        return self.values(name, self.engine.rows(name))

    def values(self, name: str, frame: Any) -> set[tuple[Any, ...]]:
        info = self.checked.relations[name]
        types = [self.checked.types.types[t] for t in info.types]
        table = frame.toArrow().to_pylist()
        found = {tuple(inside(v, t) for v, t in zip(row.values(), types, strict=False)) for row in table}
        assert len(found) == len(table), f"{name} holds a tuple twice"
        return found

    def relations(self) -> dict[str, set[tuple[Any, ...]]]:
        found = {name: self.rows(name) for name in self.checked.relations}
        assert {name: self.engine.count(name) for name in found} == {name: len(rows) for name, rows in found.items()}
        return found

    def state(self) -> dict[str, dict[tuple[Any, ...], Entry]]:
        found = {}
        for name, info in self.checked.relations.items():
            types = [self.checked.types.types[t] for t in info.types]
            rows = [tuple(row.values()) for row in self.engine.states(name).toArrow().to_pylist()]
            found[name] = {
                tuple(inside(v, t) for v, t in zip(row, types, strict=False)): Entry(*row[-2:]) for row in rows
            }
            assert len(found[name]) == len(rows) == self.engine.count(name), name
        return found


def external(table: pa.Table) -> pa.Table:
    """An Arrow table of facts with the types that the executor's frames have."""
    if table.num_columns == 0:
        return pa.table({"_": pa.array([True] * table.num_rows)})
    types = [pa.decimal128(20, 0) if t == pa.uint64() else t for t in table.schema.types]
    return table.cast(pa.schema(list(zip(table.column_names, types, strict=True))))


def outside(value: Any, declared: Type) -> Any:
    kind = declared.kind
    if kind is Kind.RECORD:
        return text_of_python(value, base_type(declared))
    return Decimal(value) if kind is Kind.UNSIGNED else value


def inside(value: Any, declared: Type) -> Any:
    if declared.kind is Kind.RECORD:
        return parse(value, declared, _made)
    if declared.kind is Kind.FLOAT:
        assert value != 0 or math.copysign(1, value) > 0, "there is one zero"
        return oracle.one_float(value)
    return int(value) if declared.kind is Kind.UNSIGNED else value


def _made(made: Any, values: list[Any]) -> tuple[Any, ...]:
    values = [oracle.one_float(value) if isinstance(value, float) else value for value in values]
    return tuple(values) if isinstance(made, RecordType) else (made.name, *values)
