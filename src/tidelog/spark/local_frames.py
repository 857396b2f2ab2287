"""Tables of this process as DataFrames, and small DataFrames as tables of this process, without Spark jobs.

Spark's optimizer answers `collect`, `show`, `take`, filters and projections of a *local relation* on the driver, and an
Arrow table of up to some megabytes becomes one. A count it would still compute by jobs: a frame whose size is known
says it itself.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from tidelog.analysis.types import RelationInfo
from tidelog.io.numbers import ARROW_TYPES
from tidelog.spark.frames import as_decimals, schema_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FEW = 1000
"""Rows of a DataFrame that are brought here rather than handed to tasks."""
_CHEAP = re.compile(r"[ :+*-]*(\(\d+\) )?(LocalTableScan|Scan (ExistingRDD|OneRowRelation)|Project|Filter|Union)\b")
"""A line of a physical plan that looks at rows that exist."""
_ARROW = {"bigint": pa.int64(), "int": pa.int64(), "smallint": pa.int64(), "tinyint": pa.int64(),
          "float": pa.float64(), "double": pa.float64(), "string": pa.string()}  # fmt: skip


def local_frame(spark: SparkSession, table: pa.Table | None, info: RelationInfo) -> DataFrame:
    """A table of this process as a DataFrame of the relation's types."""
    if not info.arity:
        held = table is not None and table.num_rows > 0
        table = pa.table({"_": pa.array([True] * held, pa.bool_())})
    elif table is None:
        table = pa.table([pa.array([], ARROW_TYPES[kind]) for kind in info.kinds], names=list(info.attributes))
    columns = as_decimals(table, info.kinds) if info.arity else table
    return counted(spark.createDataFrame(columns, schema_of(info)), table.num_rows)


def counted(frame: DataFrame, rows: int) -> DataFrame:
    """The same, which knows how many rows it has. (Frames made of it do not.)"""
    setattr(frame, "count", lambda: rows)  # noqa: B010
    return frame


def few_rows(frame: DataFrame) -> pa.Table | None:
    """The rows of a DataFrame, if they are few and it costs next to nothing to look; None if tasks should bring them.
    Those of a local relation need no job. Those of a list of rows, which PySpark makes an RDD of, need one that takes
    as long as Spark's own `collect()`: the rows are in the driver, but a Python task gives them their form."""
    types = frame.dtypes
    if not all(kind in _ARROW or kind.startswith("decimal(") for _, kind in types) or not is_cheap(frame):
        return None
    rows = frame.limit(FEW + 1).collect()
    if len(rows) > FEW:
        return None
    columns = [pa.array([row[i] for row in rows], _ARROW.get(kind)) for i, (_, kind) in enumerate(types)]
    return pa.table(columns, names=[name for name, _ in types])


def is_cheap(frame: DataFrame) -> bool:
    """Whether the first rows of a frame cost no more than looking at rows that exist."""
    try:
        if frame.isLocal():
            return True
        plan: Any = frame._jdf.queryExecution().executedPlan()  # not public: other sessions may lack it
        lines = str(plan.toString()).splitlines()
    except Exception:
        return False
    return all(_CHEAP.match(line) for line in lines if line.strip())
