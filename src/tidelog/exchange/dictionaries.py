"""Dictionaries that all workers have alike: texts and records, each with the same number everywhere.

Who reads the facts numbers what is in them, before anyone evaluates; while strata run that make values, the first
worker does (`plan/exchange/making.py`). Nobody numbers at the same time as another, and whoever has numbered something
tells all others before they see it. What is always true: a number means the same at all workers and to whoever asks
them, so that no join translates. Cost: every process has all texts and records once; what is new travels once to each.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tidelog.errors import InternalError, error
from tidelog.plain import dataclass, field
from tidelog.store import Database

MOST_NUMBERS = 1 << 32
"""So many texts, or records of one arity, can be told apart."""


@dataclass(frozen=True)
class Extent:
    """How far a dictionary goes: the number of texts, and of records by arity, where there are any but nil."""

    texts: int = 0
    records: dict[str, int] = field(default_factory=dict)

    @staticmethod
    def of(database: Database) -> Extent:
        records = database.records
        counts = {str(n): records.relation(n).count for n in records.arities}
        return Extent(len(database.symbols), {n: count for n, count in counts.items() if count > 1})

    def least(self, other: Extent) -> Extent:
        both = self.records.keys() & other.records.keys()
        return Extent(min(self.texts, other.texts), {n: min(self.records[n], other.records[n]) for n in both})


@dataclass(frozen=True)
class Entries:
    """What a dictionary has from an extent on: the bytes of its texts and where each begins; records by arity."""

    start: Extent
    texts: NDArray[Any]
    places: NDArray[Any]
    records: dict[str, NDArray[Any]]

    def __bool__(self) -> bool:
        return len(self.places) > 1 or any(map(len, self.records.values()))


def entries_since(database: Database, start: Extent) -> Entries:
    texts, places = database.symbols.since(start.texts)
    records = {}
    for arity in database.records.arities:
        rows = database.records.relation(arity).rows()[max(start.records.get(str(arity), 0), 1) :]  # 0 is nil
        if len(rows):
            records[str(arity)] = rows
    return Entries(start, texts, places.astype(np.int64), records)


def learn(database: Database, entries: Entries) -> None:
    """Have the entries of another dictionary, under their numbers; those that are known already stay as they are."""
    count = len(entries.places) - 1
    if count:
        data = entries.texts if len(entries.texts) else np.zeros(1, np.uint8)
        places = np.column_stack((entries.places[:-1], entries.places[1:]))
        _check("texts", database.symbols.encode_places(data, places), entries.start.texts)
    for arity, rows in entries.records.items():
        first = max(entries.start.records.get(arity, 0), 1)
        _check(f"records of {arity} fields", database.records.pack(rows.astype(np.int64)), first)


def _check(what: str, ids: NDArray[Any], first: int) -> None:
    if first + len(ids) > MOST_NUMBERS:
        raise error(
            "TL0863", f"there are more than {MOST_NUMBERS:,} {what}, and workers number them with 32 bits",
            help="give fewer facts, or number them yourself",
        )  # fmt: skip
    if not np.array_equal(ids, np.arange(first, first + len(ids))):
        raise InternalError(f"two processes have numbered {what} differently")
