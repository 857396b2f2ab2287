"""A worker's rows as DataFrames.

Few rows come here with the answer to a command, and are a local relation: Spark needs no job to show them, and they
stay what they are. Others are fetched by tasks, texts and all, when the DataFrame is used: rows of an epoch can be read
while the session is in it (see `exchange`), and nothing passes through the driver. (A join of ids with the dictionary
in Spark took five times as long: decision 0009.)

What is always true: who asks twice for the same rows gets the same DataFrame, so that its columns can be told apart
from those of others and are equal to themselves.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from tidelog.analysis.types import RelationInfo
from tidelog.spark.files import ROWS
from tidelog.spark.frames import SPARK_TYPES
from tidelog.spark.local_frames import counted, local_frame
from tidelog.spark.resident.commands import FetchRows
from tidelog.spark.resident.crew import WorkerCrew
from tidelog.spark.resident.tasks import fetcher
from tidelog.spark.resident.transfers import Rows, Wanted
from tidelog.spark.slots import shares
from tidelog.values import Kind
from tidelog.wire.rendezvous import WorkerLost

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SMALL = 10_000
"""Rows that are brought here at once."""
_FETCHED = {
    Kind.NUMBER: "bigint",
    Kind.UNSIGNED: "bigint",
    Kind.FLOAT: "double",
    Kind.SYMBOL: "string",
    Kind.RECORD: "string",
}


class Results:
    """Makes DataFrames of what a crew's worker holds."""

    def __init__(self, crew: WorkerCrew) -> None:
        self.crew, self.spark = crew, crew.spark
        self._made: dict[Wanted, DataFrame] = {}  # of one epoch and one worker
        self._of: tuple[int, str] = (0, "")

    def frame(self, info: RelationInfo, wanted: Wanted, total: int) -> DataFrame:
        """Rows as values. `total` is how many there are."""
        assert self.crew.worker is not None
        if self._of != (wanted.epoch, self.crew.worker.address):
            self._of, self._made = (wanted.epoch, self.crew.worker.address), {}
        if wanted not in self._made:
            self._made[wanted] = self._frame(info, wanted, total)
        return self._made[wanted]

    def _frame(self, info: RelationInfo, wanted: Wanted, total: int) -> DataFrame:
        if total <= SMALL:
            try:
                _, (rows,) = self.crew.tell(FetchRows(wanted, total), Rows)
                return local_frame(self.spark, _table(rows, info), info)
            except WorkerLost:
                pass  # the task that looks for them says so
        return counted(self._lazy(info, wanted, total), total)

    def _lazy(self, info: RelationInfo, wanted: Wanted, total: int) -> DataFrame:
        from pyspark.sql import functions as F

        schema = ", ".join(f"c{i} {_FETCHED[kind]}" for i, kind in enumerate(info.kinds)) or "c0 boolean"
        rows = self._by_tasks(wanted, total, schema)
        if not info.arity:
            return rows.toDF("_")
        return rows.select(
            *(
                _value(F, i, kind).alias(name)
                for i, (name, kind) in enumerate(zip(info.attributes, info.kinds, strict=True))
            )
        )

    def _by_tasks(self, wanted: Wanted, total: int, schema: str) -> DataFrame:
        assert self.crew.worker is not None
        partitions = shares(self.spark, -(-total // ROWS))
        fetch = fetcher(self.crew.worker.address, self.crew.keys.of_a_client(), wanted, total, partitions)
        return self.spark.range(0, partitions, 1, partitions).mapInArrow(fetch, schema)


def _table(rows: pa.Table, info: RelationInfo) -> pa.Table:
    """Rows of an exchange as those of the relation."""
    if not info.arity:
        return rows
    columns = [
        pc.cast(column, pa.uint64(), safe=False) if kind is Kind.UNSIGNED else column
        for column, kind in zip(rows.columns, info.kinds, strict=True)
    ]
    return pa.table(columns, names=list(info.attributes))


def _value(F: Any, i: int, kind: Kind) -> Any:
    """A column as a value."""
    column = F.col(f"c{i}")
    if kind is not Kind.UNSIGNED:
        return column
    wide = column.cast(SPARK_TYPES[kind])
    return F.when(column < 0, (wide + F.lit(Decimal(2**64))).cast("decimal(20,0)")).otherwise(wide)
