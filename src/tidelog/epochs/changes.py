"""Change sets, reduced to what they change.

The deletions of a change set are applied first, then its insertions: a fact that is both deleted and inserted ends up
present. What an engine gets is the net change; deleting what is absent and inserting what is present are left out. Of a
stream, a change set carries its batch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from tidelog.evaluate.bindings import Words
from tidelog.evaluate.rows import among, distinct
from tidelog.plain import dataclass, field

Batch = tuple[str, int]
"""The name of a stream and the number of a batch of it."""


@dataclass
class NetChange:
    """Every row of `delete` is a fact that is there, every row of `insert` one that is not, and no row is named twice.
    `absent` are the facts that were to be deleted and are not there, `present` those that were to be inserted and are;
    each distinct fact counts once."""

    delete: dict[str, Words] = field(default_factory=dict)
    insert: dict[str, Words] = field(default_factory=dict)
    batch: Batch | None = None
    absent: dict[str, Words] = field(default_factory=dict)
    present: dict[str, Words] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.delete or self.insert)


def net_change(
    delete: Mapping[str, Words],
    insert: Mapping[str, Words],
    contains: Callable[[str, Words], NDArray[np.bool_]],
    batch: Batch | None = None,
) -> NetChange:
    """The net change; `contains(name, rows)` says which rows are facts now."""
    net = NetChange(batch=batch)
    gone = {}
    for name, given in delete.items():
        rows = distinct(given)
        there = contains(name, rows)
        gone[name] = rows[there]
        _enter(net.absent, name, rows[~there])
    for name, given in insert.items():
        rows = distinct(given)
        there = contains(name, rows)
        again = among(rows, gone[name]) if name in gone else np.zeros(len(rows), np.bool_)
        _enter(net.insert, name, rows[~there])
        _enter(net.present, name, rows[there & ~again])
    for name, rows in gone.items():
        _enter(net.delete, name, rows[~among(rows, insert[name])] if name in insert else rows)
    return net


def _enter(side: dict[str, Words], name: str, rows: Words) -> None:
    if len(rows):
        side[name] = rows
