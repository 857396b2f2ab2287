"""Aggregates as Spark aggregations, with the meaning of `evaluate/aggregates.py`.

Sums wrap around; floats are added in the order of their values, so that a group does not depend on how its members
came, nor on the executor.
"""

from __future__ import annotations

from tidelog.errors import InternalError
from tidelog.spark.dataframe.sql import Sql
from tidelog.spark.dataframe.values import NOTHING, unsigned_decimal, unsigned_order, wrapped
from tidelog.values import Kind


def has_value_without_matches(op: str) -> bool:
    return op in ("count", "sum")


def fold(op: str, kind: Kind, value: Sql | None) -> Sql:
    """The aggregate over the values of a group; null if it has no value for a group without matches."""
    if op == "count":
        return "count(1)"
    if value is None:
        raise InternalError(f"{op} of nothing")
    match op:
        case "sum" if kind is Kind.FLOAT:
            return _added(value)
        case "sum":
            return f"coalesce({wrapped(f'sum(cast({value} AS decimal(19,0)))')}, 0L)"
        case "mean":
            return f"{_float_sum(kind, value)} / nullif(count(1), 0) + {NOTHING['double']}"  # no -0.0
    return _extreme(op, kind, value)


def _float_sum(kind: Kind, value: Sql) -> Sql:
    if kind is Kind.FLOAT:
        return _added(value)
    number = unsigned_decimal(value) if kind is Kind.UNSIGNED else f"cast({value} AS decimal(19,0))"
    return f"cast(sum({number}) AS double)"


def _added(value: Sql) -> Sql:
    return f"aggregate(array_sort(collect_list({value})), {NOTHING['double']}, (total, x) -> total + x)"


def _extreme(op: str, kind: Kind, value: Sql) -> Sql:
    if kind is Kind.UNSIGNED:
        return unsigned_order(f"{op}({unsigned_order(value)})")
    return f"{op}({value})"  # of floats, NaN is the greatest
