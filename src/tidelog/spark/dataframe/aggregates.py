"""Aggregates as Spark aggregations, with the meaning of `evaluate/aggregates.py`.

Sums wrap around; floats are added in the order of their values, so that a group does not depend on how its members
came, nor on the executor.
"""

from __future__ import annotations

import math

from pyspark.sql import Column
from pyspark.sql import functions as F

from tidelog.errors import InternalError
from tidelog.spark.dataframe.values import unsigned_decimal, unsigned_order, wrapped
from tidelog.values import Kind


def has_value_without_matches(op: str) -> bool:
    return op in ("count", "sum")


def fold(op: str, kind: Kind, value: Column | None) -> Column:
    """The aggregate over the values of a group; null if it has no value for a group without matches."""
    if op == "count":
        return F.count(F.lit(1))
    if value is None:
        raise InternalError(f"{op} of nothing")
    match op:
        case "sum":
            return _sum(kind, value)
        case "mean":
            return F.when(F.count(F.lit(1)) > 0, _float_sum(kind, value) / F.nullif(F.count(F.lit(1)), F.lit(0)))
    return _extreme(op, kind, value)


def _sum(kind: Kind, value: Column) -> Column:
    if kind is Kind.FLOAT:
        return _added(value)
    return F.coalesce(wrapped(F.sum(value.cast("decimal(19,0)"))), F.lit(0).cast("bigint"))


def _float_sum(kind: Kind, value: Column) -> Column:
    if kind is Kind.FLOAT:
        return _added(value)
    number = unsigned_decimal(value) if kind is Kind.UNSIGNED else value.cast("decimal(19,0)")
    return F.sum(number).cast("double")


def _added(value: Column) -> Column:
    return F.aggregate(F.array_sort(F.collect_list(value)), F.lit(0.0), lambda total, x: total + x)


def _extreme(op: str, kind: Kind, value: Column) -> Column:
    chosen = F.min if op == "min" else F.max
    if kind is Kind.UNSIGNED:
        return unsigned_order(chosen(unsigned_order(value)))
    if kind is Kind.FLOAT:  # NaN among the values makes a NaN; to Spark it is the greatest
        return F.when(F.bool_or(F.isnan(value)), F.lit(math.nan)).otherwise(chosen(value))
    return chosen(value)
