"""A relation of a state in pieces that tasks can read side by side.

What is always true: the pieces are of one manifest, so together they are the relation at the end of one epoch, each
tuple once. A relation of one piece is read like any other (`reader`); of several, each is a part of the snapshot
without the tuples that changed later, and one is these tuples as they are. If a compaction removes a file before all
pieces are read, the reader is told to begin again. Cost: every piece reads the changes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pyarrow as pa

from tidelog.plain import dataclass
from tidelog.state import problems
from tidelog.state.columns import EQUIVALENCE
from tidelog.state.files import Files
from tidelog.state.load import open_parquet, read_batches
from tidelog.state.manifest import Manifest, StoredRelation
from tidelog.state.reader import (
    changes_until,
    plain,
    read_consistently,
    read_relation,
    remaining,
    stored_relation,
    without,
)


@dataclass(frozen=True)
class Piece:
    """Row groups of the relation's snapshot, or none of them: the tuples that changed since. Without `stored` it is the
    whole relation, at the epoch or at the last."""

    name: str
    epoch: int | None
    stored: StoredRelation | None = None
    groups: tuple[int, ...] = ()


def relation_pieces(place: str | os.PathLike[str], name: str, epoch: int | None, most: int) -> list[Piece]:
    """At most so many pieces and one, if the snapshot has more than one row group."""

    def divide(files: Files, manifest: Manifest) -> list[Piece]:
        wanted = manifest.epoch if epoch is None else epoch
        stored = stored_relation(files, manifest, name, wanted)
        groups = open_parquet(files, stored.snapshot).num_row_groups
        if groups < 2 or most < 2 or stored.kind == EQUIVALENCE:
            return [Piece(name, epoch)]
        shares = [tuple(range(groups))[i::most] for i in range(min(most, groups))]
        changed = [()] if changes_until(files, stored, wanted) is not None else []
        return [Piece(name, wanted, stored, share) for share in [*shares, *changed]]

    return read_consistently(Files.at(place), divide)


def read_piece(place: str | os.PathLike[str], piece: Piece) -> Iterator[pa.Table]:
    """The tuples of a piece, with `_iteration` and `_count`, some at a time."""
    if piece.stored is None or piece.epoch is None:
        yield read_relation(place, piece.name, piece.epoch)
        return
    files, stored = Files.at(place), piece.stored
    try:
        changes = changes_until(files, stored, piece.epoch)
        if not piece.groups:
            assert changes is not None
            yield remaining(changes)
            return
        file = open_parquet(files, stored.snapshot)
        for number in piece.groups:
            table = plain(pa.Table.from_batches(read_batches(files, stored.snapshot, file, number)))
            yield table if changes is None else without(table, changes)
    except FileNotFoundError:
        raise problems.restless(files.where) from None
