"""The log: a change set, written before it is evaluated.

An entry is one Parquet file, there as a whole or not at all: a row per fact, with its relation, its change type, and
a column for each attribute of each changed relation. When its epoch is in the manifest the entry has served and is
removed. One that is found for the epoch after the manifest's was not acknowledged; whoever opens the state next
evaluates it.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from tidelog.epochs.changes import NetChange
from tidelog.evaluate.bindings import Words
from tidelog.io.arrow_memory import reader_of
from tidelog.io.codec import encode_column
from tidelog.io.columns import CHANGE
from tidelog.state.columns import Shape, parquet_writer, values
from tidelog.state.files import Files
from tidelog.state.manifest import LOG
from tidelog.store import Database

RELATION = "_relation"
_BATCH = b"tidelog.batch"


class Log:
    """The entries of a state directory. Facts are those of `shapes`, in words of the database."""

    def __init__(self, files: Files, shapes: Mapping[str, Shape], types: Any, database: Database) -> None:
        self.files, self.shapes, self.types, self.database = files, shapes, types, database

    def write(self, epoch: int, change: NetChange) -> None:
        table = self._table(change)

        def fill(sink: Any) -> None:
            with parquet_writer(sink, table.schema) as writer:
                writer.write_table(table)

        self.files.replace(_name(epoch), fill)

    def remove(self, epoch: int) -> None:
        """Forget an entry; one that cannot be removed now is passed over later."""
        with contextlib.suppress(OSError):
            self.files.remove(_name(epoch))

    def entry(self, epoch: int) -> NetChange | None:
        """The change set of an epoch, if its entry is there and whole."""
        try:
            table = pq.read_table(reader_of(self.files.read(_name(epoch))))
        except (OSError, pa.ArrowException):
            return None
        batch = json.loads(table.schema.metadata.get(_BATCH, b"null"))
        delete, insert = (self._side(table, change) for change in ("delete", "insert"))
        return NetChange(delete, insert, (batch[0], batch[1]) if batch else None)

    def _table(self, change: NetChange) -> pa.Table:
        parts = []
        for kind, side in (("delete", change.delete), ("insert", change.insert)):
            for name, rows in side.items():
                shape = self.shapes[name]
                columns = {
                    f"{name}.{column}": found
                    for column, found in zip(shape.names, values(shape, rows, self.types, self.database), strict=True)
                }
                said = {RELATION: name, CHANGE: kind}
                parts.append(pa.table({k: pa.repeat(v, len(rows)) for k, v in said.items()} | columns))
        table = pa.concat_tables(parts, promote_options="default") if parts else pa.table({})
        return table.replace_schema_metadata({_BATCH: json.dumps(change.batch)})

    def _side(self, table: pa.Table, change: str) -> dict[str, Words]:
        if not table.num_rows:
            return {}
        table = table.filter(pc.equal(table.column(CHANGE), change))
        return {
            name: self._words(self.shapes[name], table.filter(pc.equal(table.column(RELATION), name)))
            for name in pc.unique(table.column(RELATION)).to_pylist()
        }

    def _words(self, shape: Shape, table: pa.Table) -> Words:
        words = np.empty((table.num_rows, shape.info.arity), np.int64)
        for i, (name, kind) in enumerate(zip(shape.names, shape.info.kinds, strict=True)):
            declared = self.types.types[shape.info.types[i]]
            column = table.column(f"{shape.name}.{name}")
            words[:, i] = encode_column(column, kind, declared, self.database)
        return words


def _name(epoch: int) -> str:
    return f"{LOG}/{epoch:010}.parquet"
