"""Reading a state without a session and without the lock: one relation, at the last epoch or at an earlier one.

What is always true: a reader takes one manifest and the files that it names, so it sees one epoch, whole, whatever a
writer does meanwhile. A file that a compaction has removed under its hands makes it begin again with the new manifest.
Nothing here needs the store or the evaluation: a snapshot is overlaid with the changes since, in Arrow. Cost: that of
reading the relation's files, and a join with its changes.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from tidelog.io.columns import CHANGE, EPOCH
from tidelog.state import problems
from tidelog.state.columns import COUNT, DECLARED, EQUIVALENCE, ITERATION
from tidelog.state.equivalences import closure, closure_changes
from tidelog.state.files import Files
from tidelog.state.load import read_table
from tidelog.state.manifest import Manifest, StoredRelation, read_manifest

Found = TypeVar("Found")
TRIES = 20


def relation_names(place: str | os.PathLike[str]) -> list[str]:
    """The relations of a program's state."""
    manifest = current_manifest(Files.at(place))
    return [name for name, stored in manifest.relations.items() if stored.kind in DECLARED]


def relation_schema(place: str | os.PathLike[str], name: str) -> pa.Schema:
    """The columns that `read_relation` gives."""

    def schema(files: Files, manifest: Manifest) -> pa.Schema:
        stored = stored_relation(files, manifest, name)
        with files.open(stored.snapshot.name) as source:
            return _plain_schema(pq.read_schema(source))

    return read_consistently(Files.at(place), schema)


def read_relation(place: str | os.PathLike[str], name: str, epoch: int | None = None) -> pa.Table:
    """The tuples of a relation, with `_iteration` and `_count`, as they were at the end of an epoch, or are now."""

    def read(files: Files, manifest: Manifest) -> pa.Table:
        wanted = manifest.epoch if epoch is None else epoch
        stored = stored_relation(files, manifest, name, wanted)
        found = tuples_at(files, stored, wanted)
        return closure(found) if stored.kind == EQUIVALENCE else found

    return read_consistently(Files.at(place), read)


def read_changes(place: str | os.PathLike[str], name: str, since: int) -> pa.Table:
    """What the epochs after `since` did to a relation, in order; without those of iterations and counts alone."""

    def read(files: Files, manifest: Manifest) -> pa.Table:
        stored = stored_relation(files, manifest, name, since)
        if stored.kind == EQUIVALENCE:
            epochs = [since, *range(since + 1, manifest.epoch + 1)] if stored.changes else [since]
            return closure_changes((epoch, tuples_at(files, stored, epoch)) for epoch in epochs)
        tables = [plain(read_table(files, file)) for file in stored.changes if file.last > since]
        if not tables:
            schema = _plain_schema(read_table(files, stored.snapshot).schema)
            extra = [pa.field(CHANGE, pa.string()), pa.field(EPOCH, pa.int64())]
            return pa.schema([f for f in schema if f.name not in (ITERATION, COUNT)] + extra).empty_table()
        table = pa.concat_tables(tables).drop_columns([ITERATION, COUNT])
        later = pc.greater(table.column(EPOCH), since)
        return table.filter(pc.and_(later, pc.not_equal(table.column(CHANGE), "update")))

    return read_consistently(Files.at(place), read)


def current_manifest(files: Files) -> Manifest:
    manifest = read_manifest(files)
    if manifest is None:
        raise problems.no_state(files.where)
    return manifest


def read_consistently(files: Files, read: Callable[[Files, Manifest], Found]) -> Found:
    """What `read` makes of one manifest and its files; again, if a file is gone and the manifest is another by now."""
    for _ in range(TRIES):
        manifest = current_manifest(files)
        try:
            return read(files, manifest)
        except FileNotFoundError as problem:
            if current_manifest(files) == manifest:
                raise problems.vanished(files.where, problem) from None
    raise problems.restless(files.where)


def stored_relation(files: Files, manifest: Manifest, name: str, epoch: int | None = None) -> StoredRelation:
    """What is stored of a relation, and of the epoch if one is named."""
    stored = manifest.relations.get(name)
    if stored is None:
        known = [known for known, found in manifest.relations.items() if found.kind in DECLARED]
        raise problems.unknown_relation(files.where, name, known)
    if epoch is not None and not stored.snapshot.last <= epoch <= manifest.epoch:
        raise problems.epoch_gone(files.where, name, epoch, stored.snapshot.last, manifest.epoch)
    return stored


def tuples_at(files: Files, stored: StoredRelation, epoch: int) -> pa.Table:
    """A relation at the end of an epoch: the snapshot without the tuples that changed later, and these as they are."""
    table = plain(read_table(files, stored.snapshot))
    changes = changes_until(files, stored, epoch)
    return table if changes is None else pa.concat_tables([without(table, changes), remaining(changes)])


def changes_until(files: Files, stored: StoredRelation, epoch: int) -> pa.Table | None:
    """The last change of each tuple that changed between the snapshot and the end of an epoch; None if none did."""
    tables = [plain(read_table(files, change)) for change in stored.changes if change.first <= epoch]
    if not tables:
        return None
    changes = pa.concat_tables(tables)
    return _last_of_each(changes.filter(pc.less_equal(changes.column(EPOCH), epoch)))


def remaining(changes: pa.Table) -> pa.Table:
    """The changed tuples that are there, as a snapshot has them."""
    return changes.filter(pc.not_equal(changes.column(CHANGE), "delete")).drop_columns([CHANGE, EPOCH])


def without(table: pa.Table, changes: pa.Table) -> pa.Table:
    """The rows of a snapshot that are not among the changes."""
    keys = _keys(table)
    if not keys:
        return table.slice(0, 0) if changes.num_rows else table
    numbered = _by_words(table, keys).append_column("#", pa.array(np.arange(table.num_rows)))
    kept = numbered.join(_by_words(changes, keys), keys, join_type="left anti", use_threads=False).column("#")
    return table.take(pc.take(kept, pc.sort_indices(kept)))


def _keys(table: pa.Table) -> list[str]:
    return [name for name in table.column_names if name not in (ITERATION, COUNT, CHANGE, EPOCH)]


def _last_of_each(changes: pa.Table) -> pa.Table:
    """Of several changes of a tuple the last."""
    keys = _keys(changes)
    if not keys:
        return changes.slice(max(changes.num_rows - 1, 0))
    numbered = _by_words(changes, keys).append_column("#", pa.array(np.arange(changes.num_rows)))
    last = numbered.group_by(keys, use_threads=False).aggregate([("#", "max")]).column("#_max")
    return changes.take(last)


def _by_words(table: pa.Table, keys: list[str]) -> pa.Table:
    """The keys as they are compared: floats by their bits."""
    columns = [table.column(key) for key in keys]
    bits = [c.combine_chunks().view(pa.int64()) if pa.types.is_floating(c.type) else c for c in columns]
    return pa.table(dict(zip(keys, bits, strict=True)))


def plain(table: pa.Table) -> pa.Table:
    """Texts as texts, because dictionaries cannot be joined, and columns of snapshots and changes of the same type."""
    return table.cast(_plain_schema(table.schema))


def _plain_schema(schema: pa.Schema) -> pa.Schema:
    return pa.schema([pa.field(f.name, _plain_type(f.type)) for f in schema])


def _plain_type(found: Any) -> Any:
    return found.value_type if pa.types.is_dictionary(found) else found
