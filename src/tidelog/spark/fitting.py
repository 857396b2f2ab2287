"""Columns of a user's DataFrame as those of SPARK_TYPES, by Spark's own expressions.

A number that does not fit makes the job fail with its relation, attribute and value, whatever the session's settings
say about overflow (`spark.sql.ansi.enabled`).
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from tidelog.analysis.types import RelationInfo
from tidelog.spark.dataframe.faults import FACTS, raised
from tidelog.spark.frames import SPARK_TYPES
from tidelog.values import Kind

_LARGEST = {Kind.NUMBER: 2**63 - 1, Kind.UNSIGNED: 2**64 - 1}


def fitting(frame: DataFrame, info: RelationInfo) -> list[Column]:
    """The attributes, from columns of their names whose types have been checked."""
    types = dict(frame.dtypes)
    return [_fitting(name, types[name], kind, info) for name, kind in zip(info.attributes, info.kinds, strict=True)]


def _fitting(name: str, found: str, kind: Kind, info: RelationInfo) -> Column:
    column, value = f"`{name}`", f"cast(`{name}` AS {SPARK_TYPES[kind]})"
    if found.startswith("decimal") and kind in _LARGEST:
        wrong = f"{column} > {_LARGEST[kind]}BD"
        if kind is Kind.NUMBER:
            wrong += f" OR {column} < {-(2**63)}BD"
        value = _unless(wrong, "does not fit into 64 bits", name, value, info)
    elif found == "bigint" and kind is Kind.FLOAT:
        wrong = f"cast({value} AS decimal(38,0)) <> {column}"
        value = _unless(wrong, "is not exactly a float", name, value, info)
    return F.expr(value).alias(name)


def _unless(wrong: str, what: str, name: str, value: str, info: RelationInfo) -> str:
    where = f"facts of relation `{info.name}`: attribute `{name}`: ".replace("'", "''")
    problem = raised(FACTS, f"'{where}'", f"cast(`{name}` AS string)", f"' {what}'")
    return f"CASE WHEN {wrong} THEN {problem} ELSE {value} END"
