"""Facts of the program's text: one frame for those of a relation, whatever their number."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import SparkSession

from tidelog.plan import steps
from tidelog.spark.dataframe.sql import Select, of_frame
from tidelog.spark.dataframe.tables import ALONE, column
from tidelog.spark.dataframe.values import SPARK_TYPES, plain
from tidelog.values import Kind

ARROW = {"bigint": pa.int64(), "double": pa.float64(), "string": pa.string()}
Row = tuple[steps.Const, ...]


def rows_of(facts: list[Row], kinds: tuple[Kind, ...], spark: SparkSession) -> Select:
    """A query with a row for each fact."""
    columns = [
        pa.array([plain(row[i]) for row in facts], ARROW[SPARK_TYPES[kind]]) for i, kind in enumerate(kinds)
    ] or [pa.array([True] * len(facts))]
    names = [column(i) for i in range(len(kinds))] or [ALONE]
    return of_frame(spark.createDataFrame(pa.table(columns, names=names)), names)
