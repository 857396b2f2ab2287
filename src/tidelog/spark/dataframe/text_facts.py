"""Facts of the program's text: one frame for those of a relation, whatever their number."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa
from pyspark.sql import SparkSession

from tidelog.plan import steps
from tidelog.spark.dataframe.sql import Query, of_frame
from tidelog.spark.dataframe.tables import ALONE, column
from tidelog.spark.dataframe.values import SPARK_TYPES, plain
from tidelog.values import Kind

ARROW = {"bigint": pa.int64(), "double": pa.float64(), "string": pa.string()}
Row = tuple[steps.Const, ...]


def split_facts(plans: Iterable[steps.Plan]) -> tuple[dict[str, list[Row]], list[steps.Plan]]:
    """The facts among the plans, by relation, and the other plans."""
    facts: dict[str, list[Row]] = {}
    others = []
    for plan in plans:
        match plan.steps:
            case (steps.Emit(relation=name, args=args),) if all(isinstance(arg, steps.Const) for arg in args):
                facts.setdefault(name, []).append(args)  # type: ignore[arg-type]
            case _:
                others.append(plan)
    return facts, others


def rows_of(facts: list[Row], kinds: tuple[Kind, ...], spark: SparkSession) -> Query:
    """A query with a row for each fact."""
    columns = [
        pa.array([plain(row[i]) for row in facts], ARROW[SPARK_TYPES[kind]]) for i, kind in enumerate(kinds)
    ] or [pa.array([True] * len(facts))]
    names = [column(i) for i in range(len(kinds))] or [ALONE]
    return of_frame(spark.createDataFrame(pa.table(columns, names=names)), names)
