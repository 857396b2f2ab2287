"""Ranks beside the rows of a relation, for strata in which only the best value of a key counts.

What it holds: for each row its value in the order of ranks (less is better) and what it was before its last move; and,
of a relation whose value is a column, the relation of its keys, each with the row that has its value. What is always
true between updates: a key has a row exactly if one of its rows is there, and no more than one is. All of it follows
from the rows and their iterations (`rank_by_column`), but for the hidden values of an ordinary relation. Cost: 32 bytes
per row and per key.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tidelog.store import codes
from tidelog.store.memory import Array, Growable
from tidelog.store.row_states import RowStates

if TYPE_CHECKING:
    from tidelog.store.database import Database
    from tidelog.store.relation import Relation

VALUE, WAS_VALUE, STAMP, WAS_AND_KEY = range(4)
"""The words of a `RankState`. The key is the upper half of the last one."""
KEY_ROW = 0
"""Of the words of a `KeyState`: the row, plus one."""


def ranked_words(words: Any, order: int) -> Array:
    """Values of words, of which less is better (see `kernels/ranks.py`)."""
    values: Array = np.asarray(words, np.int64)
    if order >> 1 == codes.UNSIGNED:
        values = values ^ codes.TOP
    elif order >> 1 == codes.FLOAT:
        values = np.where(values < 0, values ^ np.int64(2**63 - 1), values)
    return ~values if order & 1 else values


class RankStates(RowStates):
    """The part of a relation that knows ranks."""

    name: str
    database: Database
    keys: Relation | None = None

    @property
    def ranked(self) -> bool:
        """Whether its rows have ranks."""
        return self._ranks is not None

    def rank_by_column(self, column: int, order: int) -> None:
        """Let rows be ranked by a column; those that are there have levels already."""
        keys = self.database.unmounted(f"{self.name}@keys", self.arity - 1, stateful=True)
        ranks = self._begin_ranks()
        there = np.flatnonzero(self.now() != codes.NEVER)
        rows = self._rows_of(there)
        keys.insert(np.delete(rows, column, axis=1))
        keys.settle()
        states = keys._begin_ranks()
        states[: len(there), KEY_ROW] = there + 1
        ranks[there, VALUE] = ranked_words(rows[:, column], order)
        ranks[there, WAS_AND_KEY] = np.arange(len(there)) << 32
        self.keys = keys
        self.block.keys, self.block.order, self.block.value_column = keys.address, order, column

    def rank_by_hidden(self, values: Array | None = None) -> None:
        """Let the rows of an ordinary relation be ranked by hidden values; without any, those of facts."""
        ranks = self._begin_ranks()
        ranks[: self.count, VALUE] = codes.LEAST_VALUE if values is None else values

    def hidden_values(self, rows: Any) -> Array | None:
        """The values of rows of an ordinary relation that has ranks."""
        if self._ranks is None or self.keys is not None:
            return None
        found: Array = self._ranks.data[rows, VALUE].copy()
        return found

    def forget_ranks(self) -> None:
        """Have no ranks any more."""
        self._ranks = None
        self._forget_keys()
        self._publish_states()

    def _forget_keys(self) -> None:
        if self.keys is not None:
            self.database.forget_keys(self.keys)
            self.keys = None
            self.block.keys = 0

    def _begin_ranks(self) -> Any:
        self._forget_keys()
        self._ranks = Growable(4, True, 0)
        self._ranks.grow(0, max(self._now.capacity, 1))
        self._publish_states()
        self.begin_log()
        return self._ranks.data

    def _rows_of(self, numbers: Array) -> Array:
        raise NotImplementedError

    def stamp(self, rows: Array, number: int) -> None:
        """Facts that came and went before the first round of an update: they moved in it."""
        assert self._ranks is not None
        ranks = self._ranks.data
        ranks[rows, STAMP] = number
        ranks[rows, WAS_VALUE] = ranks[rows, VALUE]
        ranks[rows, WAS_AND_KEY] = self.before(rows)
        come = rows[self.now(rows) == 0]
        ranks[come, VALUE] = codes.LEAST_VALUE

    def _undo_ranks(self, rows: Array, values: Array) -> None:
        assert self._ranks is not None
        ranks = self._ranks.data
        ranks[rows, VALUE] = values
        if self.keys is not None and self.keys._ranks is not None:
            states, numbers = self.keys._ranks.data, ranks[rows, WAS_AND_KEY] >> 32
            states[numbers, KEY_ROW] = 0
            there = self.now(rows) != codes.NEVER
            states[numbers[there], KEY_ROW] = rows[there] + 1

    def row_of_key(self, key: Array) -> int:
        """The row that has the value of a key, or -1."""
        assert self.keys is not None
        assert self.keys._ranks is not None
        (number,) = self.keys.find(key.reshape(1, -1))
        return -1 if number < 0 else int(self.keys._ranks.data[number, KEY_ROW]) - 1

    def ranks(self, rows: Any) -> tuple[Array, Array]:
        """The ranks of rows: values and iterations."""
        assert self._ranks is not None
        return self._ranks.data[rows, VALUE], self.now(rows)
