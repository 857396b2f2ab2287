"""A worker's rows as DataFrames: fetched by tasks, symbols decoded by a join with the worker's dictionary.

A DataFrame is lazy, and reads when it is used: rows of an epoch can be read while the session is in it (see
`exchange`). Nothing passes through the driver.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from tidelog.analysis.types import RelationInfo
from tidelog.spark.frames import SPARK_TYPES
from tidelog.spark.resident.crew import Crew
from tidelog.spark.resident.exchange import SYMBOLS
from tidelog.spark.resident.tasks import ROWS, fetcher
from tidelog.values import Kind

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

BROADCAST = 500_000
"""Symbols up to which the dictionary is sent to all tasks, instead of shuffling rows."""
MOST_PARTITIONS = 64

_FETCHED = {
    Kind.NUMBER: "bigint",
    Kind.UNSIGNED: "bigint",
    Kind.FLOAT: "double",
    Kind.SYMBOL: "bigint",
    Kind.RECORD: "string",
}


class Results:
    """Makes DataFrames of what a crew's worker holds."""

    def __init__(self, crew: Crew) -> None:
        self.crew, self.spark = crew, crew.spark

    def frame(self, info: RelationInfo, source: str, epoch: int, total: int, symbols: int) -> DataFrame:
        """Rows as values. `total` is how many there are, `symbols` how many the dictionary has."""
        from pyspark.sql import functions as F

        schema = ", ".join(f"c{i} {_FETCHED[kind]}" for i, kind in enumerate(info.kinds)) or "c0 boolean"
        rows = self._fetched(source, epoch, total, schema)
        if not info.arity:
            return rows.toDF("_")
        if Kind.SYMBOL in info.kinds:
            rows = self._with_texts(rows, info, symbols)
        return rows.select(
            *(
                _value(F, i, kind).alias(name)
                for i, (name, kind) in enumerate(zip(info.attributes, info.kinds, strict=True))
            )
        )

    def _fetched(self, source: str, epoch: int, total: int, schema: str) -> DataFrame:
        assert self.crew.worker is not None
        partitions = max(1, min(MOST_PARTITIONS, -(-total // (4 * ROWS))))
        fetch = fetcher(self.crew.worker.address, self.crew.keys.of_a_client(), source, epoch, total, partitions)
        return self.spark.range(0, partitions, 1, partitions).mapInArrow(fetch, schema)

    def _with_texts(self, rows: DataFrame, info: RelationInfo, symbols: int) -> DataFrame:
        dictionary = self._fetched(SYMBOLS, 0, symbols, "id bigint, text string")
        if symbols <= BROADCAST:
            dictionary = dictionary.hint("broadcast")
        for i, kind in enumerate(info.kinds):
            if kind is Kind.SYMBOL:
                rows = rows.join(dictionary.toDF(f"c{i}", f"t{i}"), f"c{i}")
        return rows


def _value(F: Any, i: int, kind: Kind) -> Any:
    """A column as a value."""
    match kind:
        case Kind.SYMBOL:
            return F.col(f"t{i}")
        case Kind.UNSIGNED:
            wide = F.col(f"c{i}").cast(SPARK_TYPES[kind])
            return F.when(F.col(f"c{i}") < 0, (wide + F.lit(Decimal(2**64))).cast("decimal(20,0)")).otherwise(wide)
    return F.col(f"c{i}")
