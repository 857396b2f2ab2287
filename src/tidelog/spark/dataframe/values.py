"""Values as Spark columns: what each kind is inside the executor, and how it comes in and goes out.

Inside, a column is one of three Spark types, so that relations of different columns can lie in one frame:

    number    bigint
    unsigned  bigint, the same 64 bits: sums, joins and groups are those of numbers
    float     double, never -0.0; NaN is one value to Spark's joins, groups and comparisons, the greatest of all
    symbol    string
    record    string, a text that lists the fields with their lengths (`records.py`)

What is always true: no column of a relation is ever null. Outside (the session's DataFrames), unsigned is decimal(20,0)
and a record is its text in Soufflé's syntax.
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from tidelog.analysis.types import Type
from tidelog.plan.steps import Const
from tidelog.spark.dataframe.records import record_of_text, text_of_record
from tidelog.spark.dataframe.sql import Sql, float_literal, number_literal, text_literal
from tidelog.values import Kind, canonical

SPARK_TYPES = {
    Kind.NUMBER: "bigint",
    Kind.UNSIGNED: "bigint",
    Kind.FLOAT: "double",
    Kind.SYMBOL: "string",
    Kind.RECORD: "string",
}
NOTHING = {"bigint": "0L", "double": float_literal(0.0), "string": "''"}
"""What stands in a column of a frame that the relation of the row does not have."""

TWO_TO_64, TWO_TO_63 = "18446744073709551616BD", "9223372036854775808BD"
LEAST = number_literal(-(2**63))


def plain(const: Const) -> int | float | str:
    """The value of a literal as columns hold it."""
    value = const.value
    if const.kind is Kind.UNSIGNED and isinstance(value, int) and value >= 2**63:
        return value - 2**64
    if const.kind is Kind.FLOAT:
        return canonical(float(value))
    return str(value) if const.kind is Kind.RECORD else value  # nil, or a branch of an enumeration


def constant(const: Const) -> Sql:
    """A literal of a plan."""
    value = plain(const)
    if isinstance(value, str):
        return text_literal(value)
    return float_literal(value) if isinstance(value, float) else number_literal(value)


def come_in(name: str, declared: Type) -> Column:
    """A column of a user's frame as it is inside."""
    match declared.kind:
        case Kind.UNSIGNED:
            number = f"cast({name} AS decimal(20,0))"
            return F.expr(
                f"CASE WHEN {number} >= {TWO_TO_63} THEN cast({number} - {TWO_TO_64} AS bigint) "
                f"ELSE cast({number} AS bigint) END"
            )
        case Kind.RECORD:
            return record_of_text(declared)(F.col(name))
        case Kind.FLOAT:
            return F.expr(f"cast({name} AS double) + {NOTHING['double']}")  # no -0.0
    return F.expr(f"cast({name} AS {SPARK_TYPES[declared.kind]})")


def go_out(name: str, declared: Type) -> Column:
    """A column of a relation as users see it."""
    match declared.kind:
        case Kind.UNSIGNED:
            return F.expr(unsigned_decimal(name))
        case Kind.RECORD:
            return text_of_record(declared)(F.col(name))
    return F.col(name)


def unsigned_decimal(value: Sql) -> Sql:
    """The value of 64 bits as an unsigned number."""
    number = f"cast({value} AS decimal(20,0))"
    return f"CASE WHEN {value} < 0 THEN cast({number} + {TWO_TO_64} AS decimal(20,0)) ELSE {number} END"


def wrapped(decimal: Sql) -> Sql:
    """A decimal of any size, rounded to 64 bits as arithmetic does that wraps around."""
    return f"cast(pmod({decimal} + {TWO_TO_63}, {TWO_TO_64}) - {TWO_TO_63} AS bigint)"


def unsigned_order(value: Sql) -> Sql:
    """Bits that are ordered as numbers in the way the value is as an unsigned number; and back."""
    return f"({value} ^ {LEAST})"
