"""An index of a relation: which entries have this key? (The kernels are in `kernels/segments.py`.)

What is always true: after `update`, all rows before delta_stop are in it, in row order within a key (or, for a
sorted index, by the values of one column; such an index is built anew when the relation has changed).
Cost: 32 bytes per key slot, and one word per value column and row, at most doubled by growth. In a relation with state
an entry begins with the row's number, through which the other columns are found, too: one more cache miss, for entries
half as large or less. That is how updates read it, and whoever comes after the index is built; what a Bootstrap joins
with has the columns in its entries.
"""

from __future__ import annotations

from ctypes import addressof
from typing import TYPE_CHECKING, Any

import numpy as np

from tidelog.store import codes, packing
from tidelog.store.blocks import IndexBlock, IndexSlot, clear, size
from tidelog.store.codes import GOLDEN, PACKED, TAGGED
from tidelog.store.memory import Array, Growable, address, recycle, zeros

if TYPE_CHECKING:
    from tidelog.store.relation import Relation

FULLEST = 0.75
LOOKED_UP_TWICE = 1 << 16
"""Up to so many rows, a first build looks keys up in both of its passes, which the processor's cache makes cheap."""
SLOTS_AT_A_TIME = 1 << 14


class Index:
    """See the module's docstring. Made by `Relation.index`."""

    def __init__(self, relation: Relation, columns: tuple[int, ...], by: int | None = None, kind: int = 0) -> None:
        self.relation, self.columns, self.by, self._kind = relation, columns, by, kind
        self.values: tuple[int, ...] = ()
        self.version = 0
        self._keys = np.array(columns, np.int64)
        self.block = IndexBlock(relation=relation.address, nkey=len(columns), keys=address(self._keys))
        self.address = addressof(self.block)
        self.reset()

    def cover(self, values: set[int]) -> None:
        """See to it that entries hold these columns."""
        if self.by is not None:
            values = values | {self.by}
        if not values <= set(self.values):
            self.values = tuple(sorted(values | set(self.values)))
            self._new_version()
            self.reset()

    def _new_version(self) -> None:
        """Plans that were encoded for it must be encoded again."""
        self.version += 1
        self.relation.database.layout_version += 1

    @property
    def behind(self) -> int:
        """How many rows are not in it yet."""
        return self.relation.delta_stop - self.block.upto

    @property
    def filled(self) -> bool:
        return self.block.upto > 0

    def position(self, column: int) -> int:
        """Where a column lies in an entry."""
        return self.values.index(column)

    def place(self, column: int) -> int:
        """Where a column is found: in an entry, or through its row."""
        return self.position(column) if column in self.values else codes.THROUGH_ROW - column

    @property
    def orders_rows(self) -> bool:
        """Whether it has all rows of its relation by the values of one column."""
        complete = 0 < self.relation.count == self.block.upto
        return complete and self._plain and codes.ROW in self.values

    def rows_by_key(self) -> Any:
        """The numbers of all rows by the values of its column, if it `orders_rows`."""
        slots = self._table.view(np.dtype(IndexSlot))
        found = np.empty(self.relation.count, np.int32)
        stop, width, column = 0, len(self.values), self.position(codes.ROW)
        for start in range(0, len(slots), SLOTS_AT_A_TIME):
            part = slice(start, start + SLOTS_AT_A_TIME)
            lengths = slots["length"][part].astype(np.int64)
            ends = np.cumsum(lengths)
            entries = np.arange(ends[-1]) * width + np.repeat(slots["offset"][part] - (ends - lengths) * width, lengths)
            found[stop : stop + ends[-1]] = self._arena.data[entries + column, 0]
            stop += int(ends[-1])
        return found

    @property
    def nbytes(self) -> int:
        return self._table.nbytes + self.block.arena_used * (8 if self.relation.wide else 4)

    def reset(self) -> None:
        """Empty; built when needed."""
        self._value_columns = np.array(self.values, np.int64)
        self.block.nvalue = len(self.values)
        self.block.values = address(self._value_columns)
        self.block.upto = self.block.counted = 0
        self.block.arena_used = 0
        clear(self.block, "free")
        self._order: Array | None = None
        self._slots = Growable(1, False, 0)
        self.block.slots = 0
        self.block.order = 0
        self._arena = Growable(1, self.relation.wide, 16)
        self._publish_arena()
        self._pack = packing.initial(len(self.columns), self.relation.wide)
        self._install(PACKED, 6, direct=False)

    def dispose(self) -> None:
        """Let go of all memory."""
        recycle(self._table)
        self._arena.recycle()
        self.reset()

    def _publish_arena(self) -> None:
        self.block.arena = address(self._arena.data)
        self.block.arena_capacity = self._arena.capacity

    def _install(self, mode: int, bits: int, direct: bool) -> None:
        """An empty key table."""
        self._table = zeros(size(IndexSlot) // 8 << bits)
        self.block.table = address(self._table)
        self.block.bits = bits
        self.block.limit = int((1 << bits) * FULLEST)
        self.block.mode = mode
        self.block.pack = address(self._pack)
        self.block.multiplier = 1 if direct else GOLDEN
        self.block.shift = 64 - bits
        self.block.used = 0

    def prepare(self) -> None:
        """Before an update: begin a first build with a fitting table; begin a sorted index anew if it is stale."""
        n = self.relation.delta_stop
        if self.by is not None and 0 < self.block.upto < n:
            self.reset()
            self.relation.restless += 1  # plans fall back on an unsorted index, which can be extended
            self._new_version()
        if self.block.upto or self.block.counted or n == 0:
            return
        self._choose_table(n)
        if self.by is not None:
            self._order = self._sorted_order(n)
            self.block.order = address(self._order)
        elif n > LOOKED_UP_TWICE and not self._plain:
            self._slots.grow(0, n)
            self.block.slots = address(self._slots.data)

    @property
    def _plain(self) -> bool:
        """Whether the place of a key is found without looking it up (see `kernels/first_build.py`)."""
        return self.block.multiplier == 1 and len(self.columns) == 1 and not self.relation.wide

    def forget_slots(self) -> None:
        """The slots that a first build has noted for its rows are no longer needed, or no longer right."""
        if self.block.slots:
            self.block.slots = 0
            self._slots.recycle()
            self._slots = Growable(1, False, 0)

    def _sorted_order(self, n: int) -> Array:
        column = self.relation.rows()[:n, self.by]
        if self._kind == codes.UNSIGNED:
            column = column.astype(np.uint64)
        elif self._kind == codes.FLOAT:
            column = column.astype(np.int64).view(np.float64)
        return np.argsort(column, kind="stable").astype(np.int64)

    def _choose_table(self, n: int) -> None:
        lows, highs = self._limits(n)
        wide = self.relation.wide
        tight = packing.fit(lows, highs, wide, spare=False)
        if tight is not None and (1 << packing.total_bits(tight)) <= max(2 * n, 1024):
            self._pack = tight
            self._install(PACKED, packing.total_bits(tight), direct=True)
            return
        pack = packing.fit(lows, highs, wide)
        self._pack = packing.initial(len(self.columns), wide) if pack is None else pack
        self._install(TAGGED if pack is None else PACKED, max(6, (n // 4).bit_length()), direct=False)

    def _limits(self, n: int) -> tuple[list[int], list[int]]:
        """The least and greatest value of each key column among the first n rows."""
        found = [self.relation.limits(column, n) for column in self.columns]
        return [low for low, _ in found], [high for _, high in found]

    def grow_keys(self) -> None:
        """A larger key table, or one addressed by the key itself."""
        self.forget_slots()
        old, old_bits, old_pack = self._table, self.block.bits, self._pack
        mode, used = self.block.mode, self.block.used
        n = max(self.block.upto, self.block.counted)
        direct, bits = False, old_bits + (1 if old_bits > 14 else 2)
        if mode == PACKED and n:
            lows, highs = self._limits(self.relation.delta_stop)
            tight = packing.fit(lows, highs, self.relation.wide, spare=False)
            if tight is not None and packing.total_bits(tight) <= bits:
                direct, bits, self._pack = True, packing.total_bits(tight), tight
        self._install(mode, bits, direct)
        self.block.used = used
        self.relation.database.kernels.rehash_index(address(old), old_bits, address(old_pack), self.address)
        recycle(old)

    def grow_arena(self) -> None:
        used, need = self.block.arena_used, self.block.need
        self._arena.grow(used, used + need)
        self._publish_arena()

    def rebuild(self) -> None:
        """A key did not fit the packing: begin again with one that fits all keys before delta_stop."""
        self.reset()
        self.prepare()

    def widen(self) -> None:
        self._arena.widen(self.block.arena_used)
        self._publish_arena()
