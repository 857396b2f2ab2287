"""Writing relations: snapshots of all tuples, and the changes of an epoch.

What a `Picture` holds stays as it is while later epochs go on: rows are never written again, and iterations and counts
are copied. So a snapshot can be written in the background. Cost: a picture takes 8 bytes per tuple; writing goes
through a piece of `ROW_GROUP` tuples at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import numpy as np

from tidelog.analysis.types import TypeSystem
from tidelog.evaluate.effects import Effect
from tidelog.plain import dataclass
from tidelog.state.columns import (
    GIVEN,
    ROW_GROUP,
    Shape,
    change_table,
    parquet_writer,
    snapshot_table,
)
from tidelog.state.files import Files
from tidelog.state.manifest import CHANGES, SNAPSHOTS, StoredFile
from tidelog.store import NEVER, Database, Relation


@dataclass
class Picture:
    """A relation as it is at the end of an epoch. `there` are the numbers of its tuples, or None for all rows: tuples
    that lie close together are in the order of their keys, which makes them small, and quick to enter into a table."""

    shape: Shape
    rows: Any
    iterations: Any
    counts: Any
    there: Any

    @property
    def tuples(self) -> int:
        return len(self.rows if self.there is None else self.there)

    def pieces(self) -> Iterator[tuple[Any, Any, Any]]:
        """Rows, iterations and counts; at least one piece."""
        for start in range(0, max(self.tuples, 1), ROW_GROUP):
            part: Any = slice(start, min(start + ROW_GROUP, self.tuples))
            if self.there is not None:
                part = self.there[part]
            yield self.rows[part], self.iterations[part], self.counts[part]


def picture(shape: Shape, relation: Relation, lasting: bool = False) -> Picture:
    """The relation now; a `lasting` picture stays as it is when the relation changes."""
    rows = relation.rows()
    if shape.kind == GIVEN:
        return Picture(shape, rows, np.zeros(len(rows), np.int32), np.ones(len(rows), np.int32), None)
    now, less = relation.now(), relation.derived_less_one()
    if lasting:
        now, less = now.copy(), less.copy()
    there = relation.key_order()
    if relation.dirty:
        there = np.flatnonzero(now != NEVER) if there is None else there[now[there] != NEVER]
    return Picture(shape, rows, now, _Counts(less), there)


class _Counts:
    """The counts of rows, made when asked for: most are 1, and memory that was never written costs nothing."""

    def __init__(self, less_one: Any) -> None:
        self._less_one = less_one

    def __getitem__(self, part: Any) -> Any:
        return self._less_one[part] + 1


def write_snapshot(files: Files, picture: Picture, epoch: int, types: TypeSystem, database: Database) -> StoredFile:
    """All tuples of a relation in one file; not safe before it is synced."""
    shape = picture.shape

    def fill(sink: Any) -> None:
        with parquet_writer(sink, shape.snapshot_schema) as writer:
            for rows, iterations, counts in picture.pieces():
                writer.write_table(snapshot_table(shape, rows, iterations, counts, types, database))

    name = file_name(SNAPSHOTS, shape.file, epoch)
    written = files.write(name, fill)
    return StoredFile(name, 0, epoch, picture.tuples, written.bytes, written.sha256)


def write_changes(
    files: Files, shape: Shape, effect: Effect, epoch: int, types: TypeSystem, database: Database
) -> StoredFile:
    """The changes of one epoch in one file."""

    def fill(sink: Any) -> None:
        with parquet_writer(sink, shape.change_schema) as writer:
            writer.write_table(change_table(shape, effect, epoch, types, database), row_group_size=ROW_GROUP)

    name = file_name(CHANGES, shape.file, epoch)
    written = files.write(name, fill)
    return StoredFile(name, epoch, epoch, len(effect), written.bytes, written.sha256)


def file_name(folder: str, relation: str, epoch: int, first: int | None = None) -> str:
    """A name that no other file has: of a relation, an epoch, and the first of several if it holds more than one."""
    span = f"{epoch:010}" if first is None else f"{first:010}-{epoch:010}"
    return f"{folder}/{quote(relation, safe='@(),')}-{span}.parquet"
