"""A Python data source over state directories: relations as DataFrames, without a session.

    spark.dataSource.register(TidelogDataSource)
    spark.read.format("tidelog").option("state", folder).load("path")
    spark.read.format("tidelog").option("state", folder).option("epoch", 3).load("path")
    spark.read.format("tidelog").option("state", folder).option("changes", 3).load("path")

`epoch` names the epoch at whose end the relation is read, instead of the last. With `changes` what is read is the
change feed of the epochs after the given one, as `epoch.changes` has it. What is always true: one epoch is seen, whole,
and the writer of the state is never held up. Cost: that of reading the relation's files, by several tasks if there is
much.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from tidelog.errors import TidelogError, error
from tidelog.io.columns import CHANGE, EPOCH
from tidelog.plain import dataclass
from tidelog.state.columns import COUNT, ITERATION
from tidelog.state.pieces import Piece, read_piece, relation_pieces
from tidelog.state.reader import read_changes, relation_names, relation_schema

MOST_PIECES = 16
_SPARK_TYPES = {
    pa.int64(): "bigint",
    pa.uint64(): "decimal(20,0)",
    pa.float64(): "double",
    pa.string(): "string",
}


@dataclass(frozen=True)
class Request:
    """What is to be read."""

    state: str
    relation: str
    epoch: int | None
    changes: int | None


class TidelogDataSource(DataSource):
    """See the module's docstring."""

    @classmethod
    def name(cls) -> str:
        return "tidelog"

    def schema(self) -> str:
        request = request_of(self.options)
        fields = relation_schema(request.state, request.relation)
        named = [f"`{f.name}` {_SPARK_TYPES[f.type]}" for f in fields if f.name not in (ITERATION, COUNT)]
        if request.changes is None:
            return ", ".join(named) or "`_` boolean"
        return ", ".join([*named, f"{CHANGE} string", f"{EPOCH} bigint"])

    def reader(self, schema: StructType) -> DataSourceReader:
        return StateReader(request_of(self.options))


class StatePartition(InputPartition):
    """A piece of a relation; None stands for its changes."""

    def __init__(self, piece: Piece | None) -> None:
        super().__init__(None)
        self.piece = piece


class StateReader(DataSourceReader):
    """Reads what a request asks for, in a task for each piece."""

    def __init__(self, request: Request) -> None:
        self.request = request

    def partitions(self) -> Sequence[InputPartition]:
        asked = self.request
        if asked.changes is not None:
            return [StatePartition(None)]
        return [
            StatePartition(piece) for piece in relation_pieces(asked.state, asked.relation, asked.epoch, MOST_PIECES)
        ]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        assert isinstance(partition, StatePartition)
        for table in self._tables(partition.piece):
            yield from _decimals(table).combine_chunks().to_batches()

    def _tables(self, piece: Piece | None) -> Iterator[pa.Table]:
        asked = self.request
        if piece is None:
            yield read_changes(asked.state, asked.relation, asked.changes or 0)
        else:
            yield from map(_shown, read_piece(asked.state, piece))


def request_of(options: Mapping[str, str]) -> Request:
    """What the options say; all that is wrong with them is raised at once."""
    found: list[TidelogError] = []
    if "state" not in options:
        found.append(error("TL1231", "which state is to be read?", help='say .option("state", folder)'))
    elif "path" not in options:
        found.append(error("TL1231", "which relation is to be read?",
                           help=f"say .load(name), one of {', '.join(relation_names(options['state']))}"))  # fmt: skip
    numbers = {key: _number(key, options[key], found) for key in ("epoch", "changes") if key in options}
    if len(numbers) == 2:
        found.append(error("TL1231", "`epoch` and `changes` exclude each other",
                           help="read a relation at an epoch, or the changes since one"))  # fmt: skip
    if found:
        raise TidelogError([d for problem in found for d in problem.diagnostics])
    return Request(options["state"], options["path"], numbers.get("epoch"), numbers.get("changes"))


def _number(key: str, text: str, found: list[TidelogError]) -> int | None:
    if text.isascii() and text.isdigit():
        return int(text)
    found.append(error("TL1231", f"the option `{key}` is the number of an epoch, not `{text}`"))
    return None


def _shown(table: pa.Table) -> pa.Table:
    """The tuples without what only evaluation needs; those of a relation without attributes have a column `_`."""
    kept = table.drop_columns([ITERATION, COUNT])
    if kept.num_columns:
        return kept
    return pa.table({"_": pa.array([True] * table.num_rows, pa.bool_())})


def _decimals(table: pa.Table) -> pa.Table:
    """Unsigned numbers as the decimals that Spark has for them."""
    columns = [
        pc.cast(column, pa.decimal128(20, 0)) if column.type == pa.uint64() else column for column in table.columns
    ]
    return pa.table(columns, names=table.column_names)
