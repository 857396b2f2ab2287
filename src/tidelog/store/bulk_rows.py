"""Many rows at once: a relation filled without an insertion, compacted, or read in the order of its keys.

What is always true: rows that are written into a `Room` are distinct; they count once `take_rows` is called, which
builds the identity table in one go. Cost: the memory of the rows, and one entry into a table per row. A relation whose
tuples lie close together gives them in the order of their keys for next to nothing, and takes rows in that order
several times faster than in any other: its table is then filled from one end to the other.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tidelog.store import codes, packing
from tidelog.store.blocks import RowsSlot
from tidelog.store.codes import BITMAP, BLOCKED, NUMBERED, PACKED, TAGGED
from tidelog.store.memory import Array, Growable
from tidelog.store.rank_states import RankStates

if TYPE_CHECKING:
    from tidelog.store.database import Database
    from tidelog.store.index import Index

FULLEST = 0.65
FULLEST_OF_BLOCKS = 0.75  # whose slots are large, two to a cache line
DENSE = 2.5  # tuples per block of 64 from which bitmaps pay
VERY_DENSE = 12.0  # and from which bitmaps with 64 row numbers do
SAMPLE = 1 << 17  # rows from which density is estimated when they are in order
ROOM = 1 << 12  # for tuples to come


class Room(NamedTuple):
    """Rows to be written, their iterations, and their numbers of derivations less one (0 until written)."""

    rows: Any
    iterations: Any
    derived_less_one: Any


class BulkRows(RankStates, ABC):
    """The part of a relation that takes and gives many rows."""

    database: Database
    stateful: bool
    mode: int
    indexes: dict[tuple[tuple[int, ...], int | None], Index]
    _wide: bool
    _rows: Growable
    _numbers: Growable
    _table: Array
    _pack: Array
    _known_limits: dict[int, tuple[int, int, int]]  # by column: of how many rows, least and greatest value

    @property
    @abstractmethod
    def wide(self) -> bool: ...

    @abstractmethod
    def clear(self) -> None: ...

    @abstractmethod
    def settle(self) -> None: ...

    @abstractmethod
    def _grow_rows(self, need: int) -> None: ...

    @abstractmethod
    def _rebuild(self, mode: int, bits: int) -> None: ...

    @abstractmethod
    def _density(self) -> tuple[float, int]: ...

    def compact(self) -> None:
        """Drop the rows of tuples that are not there; row numbers change, and indexes are built anew when needed."""
        there = np.flatnonzero(self.now() != codes.NEVER)
        data, now, derived = self._rows.data[there], self.now(there), self.derived(there)
        hidden = self.hidden_values(there)
        room = self.make_room(len(data), self.wide)
        room.rows[:], room.iterations[:] = data, now
        many = np.flatnonzero(derived != 1)
        self.set_derived(many, derived[many])
        self.take_rows(len(data))
        if hidden is not None:
            self.rank_by_hidden(hidden)

    def make_room(self, count: int, wide: bool, often_derived: bool = False) -> Room:
        """Forget everything and make room for so many rows, to be written; they count once `take_rows` is called.
        Say whether many of them have more than one derivation: such memory is cheaper if all of it is used."""
        self._wide = wide
        self.clear()
        if self.stateful:
            self._derived.sparse = not often_derived
        self._grow_rows(max(count, 1))
        if not self.stateful:
            return Room(self._rows.data[:count], None, None)
        return Room(self._rows.data[:count], self._now.data[:count, 0], self._derived.data[:count, 0])

    def take_rows(self, count: int, lows: list[int] | None = None, highs: list[int] | None = None) -> None:
        """Count the rows that were written into the room made for them; distinct, with values between the limits."""
        self.count = count
        if lows is None or highs is None or not count:
            lows, highs = self._limits([0] * self.arity, [0] * self.arity)
        else:
            self._known_limits = {c: (count, *found) for c, found in enumerate(zip(lows, highs, strict=True))}
        self._fit_identity(lows, highs)
        self.settle()

    def _sampled_density(self) -> tuple[float, int]:
        """The same of the first rows, for rows in the order of their keys (`key_order`); in any other, it is low."""
        count = self.count
        self.count = min(count, SAMPLE)
        try:
            return self._density()
        finally:
            self.count = count

    def key_order(self) -> Any:
        """All row numbers in an order that puts like rows together and costs little: by their packed keys if the
        identity table has them side by side, else by a column that has an index of its own; None if none has."""
        if self.mode == BLOCKED:
            return self._packed_order()
        ordered = [index for index in self.indexes.values() if index.orders_rows]
        if not ordered:
            return None
        uses = Counter(column for index in self.indexes.values() for column in index.columns)
        return max(ordered, key=lambda index: (uses[index.columns[0]], -index.columns[0])).rows_by_key()

    def _packed_order(self) -> Array:
        slots = self._table.view(np.dtype(RowsSlot))
        slots = slots[slots["key"] != 0]
        slots = slots[np.argsort(slots["key"])]
        lists = self._numbers.data[~slots["list"]]
        bits = np.ascontiguousarray(slots["bits"]).view(np.uint8).reshape(-1, 8)
        numbers: Array = ~lists[np.unpackbits(bits, axis=1, bitorder="little").astype(bool)]
        return numbers

    def limits(self, column: int, upto: int) -> tuple[int, int]:
        """Limits of a column's values in the first rows, of which there are some: of these rows, or of more if more
        have been looked at before. No row is looked at twice."""
        seen, low, high = self._known_limits.get(column, (0, sys.maxsize, -sys.maxsize - 1))
        if upto > seen:
            values = self._rows.data[seen:upto, column]
            low, high = min(low, int(values.min())), max(high, int(values.max()))
            self._known_limits[column] = upto, low, high
        return low, high

    def _limits(self, lows: list[int], highs: list[int]) -> tuple[list[int], list[int]]:
        """The limits of the values of each column, these included."""
        if self.count:
            found = [self.limits(column, self.count) for column in range(self.arity)]
            lows = [min(low, known) for low, (known, _) in zip(lows, found, strict=True)]
            highs = [max(high, known) for high, (_, known) in zip(highs, found, strict=True)]
        return lows, highs

    def _bits_for(self, units: float, bits: int = 6) -> int:
        """How large a table must be for so many units; at least so large."""
        bits = max(bits, 6)
        while (1 << bits) * FULLEST < units + 1:
            bits += 1
        return bits

    def _fit_identity(self, lows: list[int], highs: list[int]) -> None:
        """The table that a relation would have come to by inserting its rows: bitmaps if they lie close together."""
        pack = packing.fit(lows, highs, self.wide)
        self._pack = packing.initial(self.arity, self.wide) if pack is None else pack
        roomy = 1.02 * self.count + ROOM  # or the first insertion would build it anew
        if pack is None:
            return self._rebuild(TAGGED, self._bits_for(roomy))
        blocks, keys, dense = (BLOCKED, NUMBERED, VERY_DENSE) if self.stateful else (BITMAP, PACKED, DENSE)
        density, lowest = self._sampled_density() if self.count >= self.database.bitmaps_from else (0.0, 0)
        if density < dense:
            return self._rebuild(keys, self._bits_for(roomy))
        self._pack = packing.lowest_column(pack, lowest)
        return self._rebuild(blocks, self._bits_for(1.1 * self.count / density + ROOM))
