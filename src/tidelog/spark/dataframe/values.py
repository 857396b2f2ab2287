"""Values as Spark columns: what each kind is inside the executor, and how it comes in and goes out.

Inside, a column is one of three Spark types, so that relations of different columns can lie in one frame:

    number    bigint
    unsigned  bigint, the same 64 bits: sums, joins and groups are those of numbers
    float     double; Spark holds 0.0 and -0.0 for the same value in joins and groups, and so do relations here
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
from tidelog.values import Kind

SPARK_TYPES = {
    Kind.NUMBER: "bigint",
    Kind.UNSIGNED: "bigint",
    Kind.FLOAT: "double",
    Kind.SYMBOL: "string",
    Kind.RECORD: "string",
}
OUTSIDE_TYPES = SPARK_TYPES | {Kind.UNSIGNED: "decimal(20,0)"}

NOTHING = {"bigint": 0, "double": 0.0, "string": ""}
"""What stands in a column of a frame that the relation of the row does not have."""

_TWO_TO_64 = "18446744073709551616BD"
_TWO_TO_63 = "9223372036854775808BD"


def plain(const: Const) -> int | float | str:
    """The value of a literal as columns hold it."""
    value = const.value
    if const.kind is Kind.UNSIGNED and isinstance(value, int) and value >= 2**63:
        return value - 2**64
    if const.kind is Kind.FLOAT:
        return float(value) + 0.0
    return str(value) if const.kind is Kind.RECORD else value  # nil, or a branch of an enumeration


def constant(const: Const) -> Column:
    """A literal of a plan."""
    return F.lit(plain(const)).cast(SPARK_TYPES[const.kind])


def come_in(column: Column, declared: Type) -> Column:
    """A column of a user's frame as it is inside."""
    match declared.kind:
        case Kind.UNSIGNED:
            number = column.cast("decimal(20,0)")
            wrapped = (number - F.expr(_TWO_TO_64)).cast("bigint")
            return F.when(number >= F.expr(_TWO_TO_63), wrapped).otherwise(number.cast("bigint"))
        case Kind.RECORD:
            return record_of_text(declared)(column)
        case Kind.FLOAT:
            return column.cast("double") + F.lit(0.0)  # no -0.0
    return column.cast(SPARK_TYPES[declared.kind])


def go_out(column: Column, declared: Type) -> Column:
    """A column of a relation as users see it."""
    match declared.kind:
        case Kind.UNSIGNED:
            return unsigned_decimal(column).cast("decimal(20,0)")
        case Kind.RECORD:
            return text_of_record(declared)(column)
    return column


def unsigned_decimal(column: Column) -> Column:
    """The value of 64 bits as an unsigned number."""
    number = column.cast("decimal(20,0)")
    return F.when(column < 0, (number + F.expr(_TWO_TO_64)).cast("decimal(20,0)")).otherwise(number)


def wrapped(decimal: Column) -> Column:
    """A decimal of any size, rounded to 64 bits as arithmetic does that wraps around."""
    shifted = F.pmod(decimal + F.expr(_TWO_TO_63), F.expr(_TWO_TO_64))
    return (shifted - F.expr(_TWO_TO_63)).cast("bigint")


def unsigned_order(column: Column) -> Column:
    """Bits that are ordered as numbers in the way the column is as unsigned numbers, and back."""
    return column.bitwiseXOR(F.lit(-(2**63)))
