"""Equivalences in a state: the files have the pairs that an `eqrel` follows from, and readers are given what follows.

Cost: the pairs of an equivalence are as many as the square of its classes, and whoever reads them has them in memory; a
query or a session does not need them.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from tidelog.io.columns import CHANGE, EPOCH
from tidelog.state.columns import COUNT, ITERATION
from tidelog.store import PairRows, pair_changes
from tidelog.store.components import components
from tidelog.store.memory import Array


def closure(table: pa.Table) -> pa.Table:
    """All pairs that follow from these, with the columns of a snapshot; none has an iteration or derivations of its
    own, so these are 0 and 1."""
    elements, places = _numbered([table])
    pairs = np.asarray(PairRows(*components(places[0])))
    found = _columns(elements, pairs, table)
    for name, value in ((ITERATION, 0), (COUNT, 1)):
        found[name] = pa.array(np.full(len(pairs), value), pa.int32())
    return pa.table(found)


def closure_changes(states: Iterable[tuple[int, pa.Table]]) -> pa.Table:
    """What became of the pairs that follow: from tables of pairs at the end of epochs, in order, the first being where
    to begin."""
    epochs, tables = zip(*states, strict=True)
    elements, places = _numbered(tables)
    classes = [components(found) for found in places]
    parts = [_changes(elements, tables[0], (), epochs[0], "insert")]
    for epoch, before, after in zip(epochs[1:], classes, classes[1:], strict=False):
        come, gone = pair_changes(before, after)
        parts += [
            _changes(elements, tables[0], gone, epoch, "delete"),
            _changes(elements, tables[0], come, epoch, "insert"),
        ]
    return pa.concat_tables(parts)


def _changes(elements: pa.Array, like: pa.Table, pairs: PairRows | tuple[()], epoch: int, change: str) -> pa.Table:
    rows = np.asarray(pairs, np.int64).reshape(-1, 2)
    found = _columns(elements, rows, like)
    found[CHANGE] = pa.array([change] * len(rows), pa.string())
    found[EPOCH] = pa.array(np.full(len(rows), epoch), pa.int64())
    return pa.table(found)


def _numbered(tables: Iterable[pa.Table]) -> tuple[pa.Array, list[Array]]:
    """All elements of some tables of pairs, and the pairs of each table as places among them."""
    columns = [[table.column(i) for i in range(2)] for table in tables]
    chunks = [chunk for pair in columns for column in pair for chunk in column.chunks]
    coded = pa.chunked_array(chunks, columns[0][0].type).combine_chunks()
    if not pa.types.is_dictionary(coded.type):
        coded = coded.dictionary_encode()
    codes = coded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    lengths = np.cumsum([len(column) for pair in columns for column in pair])[:-1]
    halves = np.split(codes, lengths)
    return coded.dictionary, [np.column_stack((halves[i], halves[i + 1])) for i in range(0, len(halves), 2)]


def _columns(elements: pa.Array, pairs: Array, like: pa.Table) -> dict[str, pa.Array]:
    return {like.column_names[i]: elements.take(pa.array(np.ascontiguousarray(pairs[:, i]))) for i in range(2)}
