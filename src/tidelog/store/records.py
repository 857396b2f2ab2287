"""Records: hash-consed per arity, so that equal records have equal ids. Id 0 is nil.

What is always true: the records of one arity are the rows of a relation; a record's id is its row number, and row 0
is a placeholder for nil. Cost: a row and a tagged identity slot per record.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tidelog.plan.steps import Pack, Slot
from tidelog.store.codes import TAGGED
from tidelog.store.memory import Array
from tidelog.store.pipeline import Pipeline
from tidelog.store.relation import Relation

if TYPE_CHECKING:
    from tidelog.store.database import Database


class Records:
    """All records of a database, or those of another one that it shares."""

    def __init__(self, database: Database, shared: Records | None = None) -> None:
        self._database = database
        self._shared = shared
        self._by_arity: dict[int, Relation] = {}
        self._packers: dict[int, Pipeline] = {}

    def relation(self, arity: int) -> Relation:
        """The relation whose rows are the records of an arity."""
        found = self._by_arity.get(arity)
        if found is None:
            if self._shared is not None:
                found = self._shared.relation(arity)
            else:
                found = Relation(self._database, f"(records {arity})", arity, TAGGED)
                found.reserve_first()
            self._by_arity[arity] = found
            self._database.adopt(found)
        return found

    @property
    def arities(self) -> list[int]:
        """The arities of which there are records, or may be."""
        known = self._by_arity if self._shared is None else {**self._shared._by_arity, **self._by_arity}
        return sorted(known)

    def pack(self, fields: Any) -> Array:
        """The ids of records given as rows, made where they do not exist."""
        batch = np.ascontiguousarray(fields, np.int64)
        n = batch.shape[1]
        if n not in self._packers:
            step = Pack(n, tuple(Slot(i) for i in range(n)))
            self._packers[n] = Pipeline(self._database, [step], range(n), (n,))
        ids = self._packers[n].run(batch)
        assert ids is not None
        return ids[:, 0].copy()  # the next call uses the memory

    def unpack(self, ids: Any, arity: int) -> Array:
        """The fields of records; rows of nil or unknown ids are not to be used."""
        rows = self.relation(arity).rows()
        numbers = np.asarray(ids, np.int64)
        return rows[np.where((numbers > 0) & (numbers < len(rows)), numbers, 0)].astype(np.int64)
