"""A worker's rows as DataFrames: fetched by tasks, texts and all.

A DataFrame is lazy, and reads when it is used: rows of an epoch can be read while the session is in it (see
`exchange`). Nothing passes through the driver. (A join of ids with the dictionary in Spark took five times as long:
decision 0009.)
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from tidelog.analysis.types import RelationInfo
from tidelog.spark.files import ROWS
from tidelog.spark.frames import SPARK_TYPES
from tidelog.spark.resident.crew import Crew
from tidelog.spark.resident.tasks import fetcher
from tidelog.spark.slots import shares
from tidelog.values import Kind

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_FETCHED = {
    Kind.NUMBER: "bigint",
    Kind.UNSIGNED: "bigint",
    Kind.FLOAT: "double",
    Kind.SYMBOL: "string",
    Kind.RECORD: "string",
}


class Results:
    """Makes DataFrames of what a crew's worker holds."""

    def __init__(self, crew: Crew) -> None:
        self.crew, self.spark = crew, crew.spark

    def frame(self, info: RelationInfo, source: str, epoch: int, total: int) -> DataFrame:
        """Rows as values. `total` is how many there are."""
        from pyspark.sql import functions as F

        schema = ", ".join(f"c{i} {_FETCHED[kind]}" for i, kind in enumerate(info.kinds)) or "c0 boolean"
        rows = self._fetched(source, epoch, total, schema)
        if not info.arity:
            return rows.toDF("_")
        return rows.select(
            *(
                _value(F, i, kind).alias(name)
                for i, (name, kind) in enumerate(zip(info.attributes, info.kinds, strict=True))
            )
        )

    def _fetched(self, source: str, epoch: int, total: int, schema: str) -> DataFrame:
        assert self.crew.worker is not None
        partitions = shares(self.spark, -(-total // ROWS))
        fetch = fetcher(self.crew.worker.address, self.crew.keys.of_a_client(), source, epoch, total, partitions)
        return self.spark.range(0, partitions, 1, partitions).mapInArrow(fetch, schema)


def _value(F: Any, i: int, kind: Kind) -> Any:
    """A column as a value."""
    column = F.col(f"c{i}")
    if kind is not Kind.UNSIGNED:
        return column
    wide = column.cast(SPARK_TYPES[kind])
    return F.when(column < 0, (wide + F.lit(Decimal(2**64))).cast("decimal(20,0)")).otherwise(wide)
