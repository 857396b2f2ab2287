"""Loading a state: files straight into the arrays of the store.

A snapshot's columns are read a row group at a time, by two threads, and written into the rows of a relation, which then
builds its identity table once. The changes since are entered in order; of several on one tuple the last counts. Rows
of deleted tuples stay, marked, as they do in a session. Cost: the bytes of the rows and their iterations, once, and a
row group in flight per thread. Indexes are built when updates need them, in the background.
"""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from tidelog.analysis.types import TypeSystem
from tidelog.errors import TidelogError
from tidelog.io.codec import encode_column
from tidelog.state import problems
from tidelog.state.columns import CHANGE, COUNT, GIVEN, ITERATION, Shape
from tidelog.state.files import Files
from tidelog.state.manifest import StoredFile, StoredRelation
from tidelog.store import Database, Relation
from tidelog.store.layout import NEVER
from tidelog.values import Kind

READERS = 2
_NARROW = 1 << 31


class Loader:
    """Fills relations of a database from the files of a state."""

    def __init__(self, files: Files, types: TypeSystem, database: Database) -> None:
        self.files, self.types, self.database = files, types, database
        self._dictionaries = threading.Lock()  # symbols and records are not made by two threads at a time

    def load(self, shape: Shape, stored: StoredRelation, relation: Relation) -> None:
        """The tuples of a relation, with their iterations and counts."""
        self._load_snapshot(shape, stored.snapshot, relation)
        for change in stored.changes:
            self._apply(shape, change, relation)
        relation.iteration = 0
        found = int((relation.now() != NEVER).sum()) if relation.stateful and stored.changes else relation.count
        if found != stored.tuples:
            raise problems.damaged(
                self.files.where, f"relation {shape.name}", f"it has {found:,} tuples instead of {stored.tuples:,}"
            )

    def _load_snapshot(self, shape: Shape, stored: StoredFile, relation: Relation) -> None:
        file = open_parquet(self.files, stored, shape)
        groups = [file.metadata.row_group(i) for i in range(file.num_row_groups)]
        starts = np.cumsum([0, *(group.num_rows for group in groups)])
        rows, iterations = relation.make_room(stored.rows, _is_wide(shape, groups))
        limits: list[tuple[list[int], list[int]]] = []

        def load_groups(first: int) -> None:
            mine = file if first == 0 else open_parquet(self.files, stored, shape)
            for number in range(first, len(groups), READERS):
                table = read_group(self.files, stored, mine, number)
                part = slice(int(starts[number]), int(starts[number + 1]))
                limits.append(self._fill_rows(shape, table, rows[part]))
                if iterations is not None:
                    iterations[part] = table.column(ITERATION).to_numpy()
                    counts = table.column(COUNT).to_numpy()
                    many = np.flatnonzero(counts != 1)
                    relation.set_derived(many + part.start, counts[many])

        with ThreadPoolExecutor(READERS) as pool:
            list(pool.map(load_groups, range(min(READERS, len(groups)))))
        lows = [min(column) for column in zip(*(low for low, _ in limits), strict=True)]
        highs = [max(column) for column in zip(*(high for _, high in limits), strict=True)]
        relation.take_rows(stored.rows, lows, highs)

    def _fill_rows(self, shape: Shape, table: pa.Table, rows: Any) -> tuple[list[int], list[int]]:
        """Write the tuples of a table into rows; the least and greatest word of each column."""
        lows, highs = [], []
        for i in range(shape.info.arity):
            words = self._words(shape, table.column(i), i)
            rows[:, i] = words
            lows.append(int(words.min(initial=0)))
            highs.append(int(words.max(initial=0)))
        return lows, highs

    def _words(self, shape: Shape, column: Any, i: int) -> Any:
        kind, declared = shape.info.kinds[i], self.types.types[shape.info.types[i]]
        if kind in (Kind.SYMBOL, Kind.RECORD):
            with self._dictionaries:
                return encode_column(column, kind, declared, self.database)
        return encode_column(column, kind, declared, self.database)

    def _apply(self, shape: Shape, stored: StoredFile, relation: Relation) -> None:
        table = read_table(self.files, stored, shape)
        words = np.empty((table.num_rows, shape.info.arity), np.int64)
        for i in range(shape.info.arity):
            words[:, i] = self._words(shape, table.column(i), i)
        deleted = pc.equal(table.column(CHANGE).cast(pa.string()), "delete").to_numpy(zero_copy_only=False)
        if shape.kind == GIVEN:
            self._apply_facts(words, deleted, relation)
            return
        iterations = np.where(deleted, NEVER, table.column(ITERATION).fill_null(0).to_numpy())
        counts = table.column(COUNT).fill_null(0).to_numpy()
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


def read_group(files: Files, stored: StoredFile, file: Any, number: int) -> pa.Table:
    try:
        return file.read_row_group(number, use_threads=False)
    except (pa.ArrowException, OSError) as problem:
        raise problems.damaged(files.where, stored.name, _reason(problem)) from None


def read_table(files: Files, stored: StoredFile, shape: Shape | None = None) -> pa.Table:
    """All of a file."""
    file = open_parquet(files, stored, shape)
    try:
        return file.read()
    except (pa.ArrowException, OSError) as problem:
        raise problems.damaged(files.where, stored.name, _reason(problem)) from None


def _reason(problem: Exception) -> str:
    return str(problem).partition("\n")[0] or type(problem).__name__


def _is_wide(shape: Shape, groups: list[Any]) -> bool:
    """Whether some value needs more than 32 bits, by the statistics of the file."""
    for i, kind in enumerate(shape.info.kinds):
        if kind is Kind.FLOAT:
            return True
        if kind in (Kind.SYMBOL, Kind.RECORD):
            continue
        for group in groups:
            found = group.column(i).statistics
            if not group.num_rows:
                continue
            if found is None or not found.has_min_max or found.max >= _NARROW or found.min < -_NARROW:
                return True
    return False


def missing(files: Files, problem: FileNotFoundError) -> TidelogError:
    return problems.damaged(files.where, str(problem.filename or "a file"), "it is not there")
