"""Loading a state: files straight into the arrays of the store.

A snapshot's columns are read by two threads, a batch of rows at a time, and written into the rows of a relation, which
then builds its identity table once. The changes since are entered in order; of several on one tuple the last counts.
Rows of deleted tuples stay, marked, as they do in a session. Cost: the bytes of the rows and their iterations, once.
Indexes are built when updates need them, in the background.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tidelog.analysis.types import TypeSystem
from tidelog.io.codec import encode_column
from tidelog.io.columns import CHANGE
from tidelog.state import problems
from tidelog.state.columns import COUNT, GIVEN, ITERATION, Shape
from tidelog.state.files import Files
from tidelog.state.manifest import StoredFile, StoredRelation
from tidelog.store import NEVER, Database, Relation
from tidelog.store.bulk_rows import Room
from tidelog.values import Kind

READERS = 2
BATCH = 1 << 16
"""Rows that are decoded at a time: their memory is used again for the next, and is still in the cache."""
_NARROW = 1 << 31


class Loader:
    """Fills relations of a database from the files of a state."""

    def __init__(self, files: Files, types: TypeSystem, database: Database) -> None:
        self.files, self.types, self.database = files, types, database
        self._dictionaries = threading.Lock()  # symbols and records are not made by two threads at a time

    def load_all(self, wanted: list[tuple[Shape, StoredRelation, Relation]]) -> None:
        """The tuples of relations, with their iterations and counts. All readers read a snapshot, the largest first;
        who reads the last of it builds the identity table, while the others go on to the next."""
        loadings = [_Loading(self, shape, stored.snapshot, relation) for shape, stored, relation in wanted]
        loadings.sort(key=lambda loading: -loading.stored.rows)
        with ThreadPoolExecutor(READERS) as pool:
            list(pool.map(lambda loading: loading.read_share(), [one for one in loadings for _ in range(READERS)]))
        for shape, stored, relation in wanted:
            for change in stored.changes:
                self._apply(shape, change, relation)
            relation.iteration = 0
            self._check(shape, stored, relation)

    def load(self, shape: Shape, stored: StoredRelation, relation: Relation) -> None:
        self.load_all([(shape, stored, relation)])

    def _check(self, shape: Shape, stored: StoredRelation, relation: Relation) -> None:
        found = int((relation.now() != NEVER).sum()) if relation.stateful and stored.changes else relation.count
        if found != stored.tuples:
            raise problems.damaged(
                self.files.where, f"relation {shape.name}", f"it has {found:,} tuples instead of {stored.tuples:,}"
            )

    def words(self, shape: Shape, column: Any, i: int) -> Any:
        kind, declared = shape.info.kinds[i], self.types.types[shape.info.types[i]]
        if kind in (Kind.SYMBOL, Kind.RECORD):
            with self._dictionaries:
                return encode_column(column, kind, declared, self.database)
        return numbers_of(column, np.int64)

    def _apply(self, shape: Shape, stored: StoredFile, relation: Relation) -> None:
        table = read_table(self.files, stored, shape)
        words = np.empty((table.num_rows, shape.info.arity), np.int64)
        for i in range(shape.info.arity):
            words[:, i] = self.words(shape, table.column(i), i)
        deleted = _deletions(table.column(CHANGE))
        if shape.kind == GIVEN:
            self._apply_facts(words, deleted, relation)
            return
        iterations = np.where(deleted, NEVER, numbers_of(table.column(ITERATION), np.int32))
        counts = np.where(deleted, 0, numbers_of(table.column(COUNT), np.int32))
        relation.put_states(relation.enter_absent(words), iterations, counts)
        relation.dirty = True

    def _apply_facts(self, words: Any, deleted: Any, relation: Relation) -> None:
        """Of a relation without state: a row never dies in it, so those that stay are entered anew."""
        scratch = self.database.create(f"{relation.name}@gone", relation.arity)
        scratch.insert(words[deleted])
        kept = relation.rows().astype(np.int64)
        kept = kept[~scratch.contains(kept)]
        self.database.drop(scratch.name)
        relation.clear()
        relation.insert(np.concatenate((kept, words[~deleted])))
        relation.settle()


class _Loading:
    """A snapshot on its way into a relation. Each of its readers takes every so many of the row groups."""

    def __init__(self, loader: Loader, shape: Shape, stored: StoredFile, relation: Relation) -> None:
        self.loader, self.shape, self.stored, self.relation = loader, shape, stored, relation
        self._lock = threading.Lock()
        self._shares = self._unread = READERS
        self._room: Room | None = None

    def read_share(self) -> None:
        file = open_parquet(self.loader.files, self.stored, self.shape)
        groups = [file.metadata.row_group(i) for i in range(file.num_row_groups)]
        often = _often_derived(groups)
        with self._lock:
            self._shares -= 1
            first = self._shares
            if self._room is None:
                self._room = self.relation.make_room(self.stored.rows, _is_wide(self.shape, groups), often)
            room = self._room
        starts = np.cumsum([0, *(group.num_rows for group in groups)])
        for number in range(first, len(groups), READERS):
            at = int(starts[number])
            for batch in read_batches(self.loader.files, self.stored, file, number):
                self._enter(batch, room, slice(at, at + batch.num_rows), often)
                at += batch.num_rows
        with self._lock:
            self._unread -= 1
            last = self._unread == 0
        if last:
            self.relation.take_rows(self.stored.rows, *self._limits(groups, room.rows))

    def _enter(self, batch: Any, room: Room, part: slice, often: bool) -> None:
        for i in range(self.shape.info.arity):
            room.rows[part, i] = self.loader.words(self.shape, pa.chunked_array([batch.column(i)]), i)
        if room.iterations is not None:
            _fill_states(batch, room.iterations[part], room.derived_less_one[part], often)

    def _limits(self, groups: list[Any], rows: Any) -> tuple[list[int], list[int]]:
        """The least and greatest word of each column: those of numbers are in the file, others are looked for."""
        lows, highs = [], []
        for i, kind in enumerate(self.shape.info.kinds):
            found = _limits_of_numbers(groups, i) if kind is Kind.NUMBER else None
            low, high = found or (int(rows[:, i].min(initial=0)), int(rows[:, i].max(initial=0)))
            lows.append(low)
            highs.append(high)
        return lows, highs


def open_parquet(files: Files, stored: StoredFile, shape: Shape | None = None) -> Any:
    """A file of the state, after a look at whether it is whole. `FileNotFoundError` if it is not there."""
    try:
        source = files.open(stored.name)
        if source.size() != stored.bytes:
            raise problems.damaged(
                files.where, stored.name, f"it has {source.size():,} bytes instead of {stored.bytes:,}"
            )
        texts = [] if shape is None else [f.name for f in shape.fields if pa.types.is_dictionary(f.type)]
        file = pq.ParquetFile(source, read_dictionary=texts, page_checksum_verification=True)
    except FileNotFoundError:
        raise
    except (pa.ArrowException, OSError) as problem:
        raise problems.damaged(files.where, stored.name, _reason(problem)) from None
    if file.metadata.num_rows != stored.rows:
        raise problems.damaged(
            files.where, stored.name, f"it has {file.metadata.num_rows:,} rows instead of {stored.rows:,}"
        )
    return file


def read_batches(files: Files, stored: StoredFile, file: Any, number: int) -> Iterator[Any]:
    """The rows of a row group, some at a time."""
    try:
        yield from file.iter_batches(BATCH, row_groups=[number], use_threads=False)
    except (pa.ArrowException, OSError) as problem:
        raise problems.damaged(files.where, stored.name, _reason(problem)) from None


def _fill_states(batch: Any, iterations: Any, less_one: Any, often: bool) -> None:
    iterations[:] = numbers_of(batch.column(ITERATION), np.int32)
    counts = numbers_of(batch.column(COUNT), np.int32)
    if often:
        np.subtract(counts, 1, out=less_one)
    else:
        many = np.flatnonzero(counts != 1)
        less_one[many] = counts[many] - 1


def read_table(files: Files, stored: StoredFile, shape: Shape | None = None) -> pa.Table:
    """All of a file."""
    file = open_parquet(files, stored, shape)
    try:
        return file.read()
    except (pa.ArrowException, OSError) as problem:
        raise problems.damaged(files.where, stored.name, _reason(problem)) from None


def _reason(problem: Exception) -> str:
    return str(problem).partition("\n")[0] or type(problem).__name__


def _limits_of_numbers(groups: list[Any], column: int) -> tuple[int, int] | None:
    """The limits of a column of integers, if the file has them."""
    found = [group.column(column).statistics for group in groups if group.num_rows]
    if not found or not all(one is not None and one.has_min_max for one in found):
        return None
    return min(one.min for one in found), max(one.max for one in found)


def _is_wide(shape: Shape, groups: list[Any]) -> bool:
    """Whether some value needs more than 32 bits."""
    for i, kind in enumerate(shape.info.kinds):
        if kind is Kind.FLOAT:
            return True
        if kind in (Kind.NUMBER, Kind.UNSIGNED) and any(group.num_rows for group in groups):
            limits = _limits_of_numbers(groups, i)
            if limits is None or limits[0] < -_NARROW or limits[1] >= _NARROW:
                return True
    return False


def _often_derived(groups: list[Any]) -> bool:
    """Whether many tuples may have more than one derivation."""
    counts = [group.column(group.num_columns - 1) for group in groups]
    return sum(count.total_compressed_size for count in counts) > sum(group.num_rows for group in groups) // 16


def _deletions(changes: Any) -> Any:
    """Which of the changes are deletions."""
    coded = changes.unify_dictionaries()
    kinds = coded.chunk(0).dictionary.to_pylist() if coded.num_chunks else []
    codes = numbers_of(pa.chunked_array([chunk.indices for chunk in coded.chunks], pa.int8()), np.int8)
    return np.isin(codes, [code for code, kind in enumerate(kinds) if kind == "delete"])


def numbers_of(column: Any, dtype: Any) -> Any:
    """The words of a column of numbers, any word for a null; without a copy if it is in one piece. (`to_numpy` would
    import pandas, which takes half a second; so would a comparison with a value of Python.)"""
    pieces = [
        np.frombuffer(chunk.buffers()[1], dtype, len(chunk), chunk.offset * np.dtype(dtype).itemsize)
        for chunk in (column.chunks if isinstance(column, pa.ChunkedArray) else [column])
        if len(chunk)
    ]
    return pieces[0] if len(pieces) == 1 else np.concatenate([np.zeros(0, dtype), *pieces])
