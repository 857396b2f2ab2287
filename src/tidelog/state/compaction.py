"""Compaction: few files, and a state that is quick to load, whatever the number of epochs.

Files of changes are merged when they are many: the newest ones, and older ones as long as these are no larger than all
that are newer. So each file that is left is larger than all behind it, and a relation has at most `MOST` and a
logarithm of them; a change is copied a logarithm of times. When the changes are half as many as the tuples of the
snapshot, a new snapshot takes the place of both: its cost is shared by as many changes.

Both are done by a thread beside the epochs, and become part of the state with the manifest of a later epoch.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pyarrow as pa

from tidelog.analysis.types import TypeSystem
from tidelog.errors import TidelogError
from tidelog.plain import dataclass, replace
from tidelog.state.columns import ROW_GROUP, parquet_writer
from tidelog.state.files import Files
from tidelog.state.load import read_table
from tidelog.state.manifest import CHANGES, Manifest, StoredFile, StoredRelation
from tidelog.state.snapshot import Picture, file_name, write_snapshot
from tidelog.store import Database

MOST = 16
"""Files of changes of a relation before some are merged."""
WORTHWHILE = 4096
"""So many changes make a new snapshot worth its while, at least."""


@dataclass(frozen=True)
class Compacted:
    """A file that takes the place of others: `instead_of` of them, or (None) the snapshot and all changes up to it."""

    relation: str
    file: StoredFile
    instead_of: tuple[StoredFile, ...] | None

    def applied(self, stored: StoredRelation) -> StoredRelation | None:
        """The relation with this file; None if the relation has been replaced meanwhile."""
        if self.instead_of is None:
            if stored.snapshot.last >= self.file.last or not stored.changes:
                return None
            later = tuple(change for change in stored.changes if change.first > self.file.last)
            return replace(stored, snapshot=self.file, changes=later)
        if not set(self.instead_of) <= set(stored.changes):
            return None
        at = stored.changes.index(self.instead_of[0])
        rest = stored.changes[at + len(self.instead_of) :]
        return replace(stored, changes=(*stored.changes[:at], self.file, *rest))


def wants_snapshot(stored: StoredRelation) -> bool:
    return stored.changed_rows > max(WORTHWHILE, stored.snapshot.rows // 2)


def to_merge(stored: StoredRelation) -> tuple[StoredFile, ...]:
    """The files of changes that should become one: two at least, so that the new one has a name of its own."""
    if len(stored.changes) <= MOST:
        return ()
    newer, first, few = 0, len(stored.changes), max(2, MOST // 2)
    while first and (stored.changes[first - 1].rows <= newer or len(stored.changes) - first < few):
        first -= 1
        newer += stored.changes[first].rows
    return stored.changes[first:]


class Compactor:
    """Works beside the epochs of a session."""

    def __init__(self, files: Files, types: TypeSystem, database: Database) -> None:
        self.files, self.types, self.database = files, types, database
        self._done: list[Compacted] = []
        self._background = ThreadPoolExecutor(1, "tidelog-compact")
        self._work: Future[None] | None = None

    def start(self, manifest: Manifest, picture: Callable[[str], Picture]) -> None:
        """Begin with what is due, if nothing is under way or waits to be applied."""
        if self._work is not None:
            return
        snapshots = [name for name, stored in manifest.relations.items() if wants_snapshot(stored)]
        pictures = {name: picture(name) for name in snapshots}
        merges = {name: to_merge(stored) for name, stored in manifest.relations.items() if name not in pictures}
        merges = {name: files for name, files in merges.items() if files}
        if pictures or merges:
            self._work = self._background.submit(self._compact, manifest.epoch, pictures, merges)

    def _compact(self, epoch: int, pictures: dict[str, Picture], merges: dict[str, tuple[StoredFile, ...]]) -> None:
        """What fails here is left as it is: the state is complete without it, and the next epoch tries again."""
        with contextlib.suppress(OSError, TidelogError):
            for name, files in merges.items():
                merged = merge(self.files, name, files)
                self.files.sync(merged.name)
                self._done.append(Compacted(name, merged, files))
            for name, picture in pictures.items():
                file = write_snapshot(self.files, picture, epoch, self.types, self.database)
                self.files.sync(file.name)
                self._done.append(Compacted(name, file, None))

    def wait(self) -> None:
        if self._work is not None:
            self._work.result()

    def apply(self, manifest: Manifest) -> tuple[Manifest, list[str]]:
        """The manifest with what is done, once all that was under way is, and the files that are new in it."""
        if self._work is None or not self._work.done():
            return manifest, []
        self._work, done, self._done = None, self._done, []
        relations, fresh = dict(manifest.relations), []
        for compacted in done:
            stored = compacted.applied(relations[compacted.relation]) if compacted.relation in relations else None
            if stored is None:
                if compacted.file.name not in manifest.names():
                    with contextlib.suppress(OSError):
                        self.files.remove(compacted.file.name)
            else:
                relations[compacted.relation] = stored
                fresh.append(compacted.file.name)
        return replace(manifest, relations=relations), fresh


def merge(files: Files, relation: str, parts: tuple[StoredFile, ...]) -> StoredFile:
    """The changes of several files in one, in order."""
    table = pa.concat_tables([read_table(files, part) for part in parts]).unify_dictionaries()

    def fill(sink: Any) -> None:
        with parquet_writer(sink, table.schema) as writer:
            writer.write_table(table, row_group_size=ROW_GROUP)

    first, last = parts[0].first, parts[-1].last
    name = file_name(CHANGES, relation, last, first)
    written = files.write(name, fill)
    return StoredFile(name, first, last, table.num_rows, written.bytes, written.sha256)
