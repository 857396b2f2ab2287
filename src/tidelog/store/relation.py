"""A relation: rows in the order in which they were found, an identity table, and indexes.

What is always true: rows are distinct (unless it is a bag) and never move to another row number; rows
[0, delta_start) are old, [delta_start, delta_stop) are the delta, those behind belong to the running iteration.
Words are 32 bits until a value needs 64. Cost per binary tuple: 8 bytes of row, and 13 to 25 of packed identity or,
where at least 2.5 tuples share a block of 64, under 10 of bitmaps.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import addressof
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from tidelog.errors import error
from tidelog.plan.steps import View
from tidelog.store import codes, packing
from tidelog.store.blocks import RelationBlock
from tidelog.store.bulk_rows import DENSE, FULLEST, FULLEST_OF_BLOCKS, VERY_DENSE, BulkRows
from tidelog.store.codes import BAG, BITMAP, BLOCKED, NUMBERED, PACKED, TAGGED
from tidelog.store.index import Index
from tidelog.store.memory import Array, Growable, Words, address, recycle, zeros

if TYPE_CHECKING:
    from tidelog.store.database import Database

MOST_ROWS = 2**31
REBUILD_SCRATCH = 1024  # words
LARGEST_PIECE = 1 << 16  # rows that are turned into 64-bit words at a time


def pieces(rows: Any) -> Iterator[slice]:
    """Cut rows into pieces, so that what is made of them while they are worked on stays small."""
    return (slice(start, start + LARGEST_PIECE) for start in range(0, len(rows), LARGEST_PIECE))


def field(name: str) -> Any:
    """A property that reads and writes a field of the block."""

    def put(self: Any, value: int) -> None:
        setattr(self.block, name, int(value))

    return property(attrgetter(f"block.{name}"), put)


class Relation(BulkRows):
    """See the module's docstring. Made by `Database.create`."""

    count = field("count")
    delta_start = field("delta_start")
    delta_stop = field("delta_stop")
    mode = field("mode")
    tick = field("tick")
    iteration = field("iteration")  # that of new rows
    _bits = field("bits")
    _used = field("used")
    _limit = field("limit")

    def __init__(
        self,
        database: Database,
        name: str,
        arity: int,
        mode: int = PACKED,
        wide: bool = False,
        stateful: bool = False,
    ) -> None:
        self.database, self.name, self.arity, self.stateful = database, name, arity, stateful
        self.block = RelationBlock(arity=arity, stride=arity, stateful=stateful)
        self.address = addressof(self.block)
        self.indexes: dict[tuple[tuple[int, ...], int | None], Index] = {}
        self.restless = 0  # how often it has changed under a sorted index
        self.dirty = False  # whether rows may have died
        self._expected = 0  # new rows that the rest of an insertion will bring, judging by those before
        self._wanted_mode = NUMBERED if stateful else mode
        self._numbers = Growable(64, False, 0)
        self._wide = wide
        self.tick = 2
        if stateful:
            self.begin_log()
        self._initialise()

    def _initialise(self) -> None:
        self._forget_keys()
        start = self.database.initial_capacity
        self._rows = Growable(self.arity, self._wide, start)
        if self.stateful:
            self._initialise_states(start)
        self.count = self.delta_start = self.delta_stop = self.iteration = 0
        self.dirty = False
        self._known_limits = {}
        self._publish_rows()
        self._pack = packing.initial(self.arity, self._wide)
        self._publish_table(self._wanted_mode, start.bit_length() + 1)

    def _publish_rows(self) -> None:
        self.block.rows = address(self._rows.data)
        capacity = min(self._rows.capacity, self._states_capacity) if self.stateful else self._rows.capacity
        self.block.capacity = capacity
        self.block.wide = self._rows.wide

    def _publish_table(self, mode: int, bits: int) -> None:
        """Install an empty identity table."""
        table = zeros(codes.SLOT_WORDS[mode] << bits)
        self.mode, self._bits, self._used = mode, bits, 0
        self._limit = int((1 << bits) * (FULLEST_OF_BLOCKS if mode == BLOCKED else FULLEST))
        self._table = table
        if mode != BLOCKED:
            self._numbers = Growable(64, False, 0)
        self._point_to_table()

    def _point_to_table(self) -> None:
        self._publish_numbers()
        self.block.table = address(self._table)
        self.block.pack = address(self._pack)

    @contextmanager
    def _or_as_it_was(self) -> Iterator[None]:
        """Whoever runs out of memory while making another identity table leaves the one that there was."""
        held = self.mode, self._bits, self._used, self._limit, self._table, self._numbers, self._pack
        try:
            yield
        except MemoryError:
            self.mode, self._bits, self._used, self._limit, self._table, self._numbers, self._pack = held
            self._point_to_table()
            raise

    def _publish_numbers(self) -> None:
        self.block.numbers = address(self._numbers.data)
        self.block.number_capacity = self._numbers.capacity

    # Views

    def __len__(self) -> int:
        return self.count

    @property
    def wide(self) -> bool:
        return self._rows.wide

    def rows(self, view: View | None = None) -> Words:
        """The rows of a view, or all. They stay as they are, whatever happens to the relation later."""
        start, stop = {
            None: (0, self.count),
            View.ALL: (0, self.delta_stop),
            View.DELTA: (self.delta_start, self.delta_stop),
            View.OLD: (0, self.delta_start),
        }[view]
        rows: Any = self._rows.data[start:stop]
        rows.flags.writeable = False
        return rows

    def advance(self) -> int:
        """The running iteration's rows become the delta; their number."""
        self.delta_start, self.delta_stop = self.delta_stop, self.count
        self.tick += 1
        self.iteration += 1
        return self.delta_stop - self.delta_start

    def settle(self) -> None:
        """Everything is old."""
        self.delta_start = self.delta_stop = self.count
        self.tick += 1

    def restart(self) -> int:
        """Everything is the delta; its size."""
        self.delta_start, self.delta_stop = 0, self.count
        self.tick += 1
        self.iteration = 1
        return self.count

    # Contents

    def insert(self, rows: Any, later: int = 0) -> int:
        """Add rows (2-D, one column per argument) to the running iteration; how many were new. Tables grow at once to
        what these and about as many `later` rows of their kind will need."""
        before = self.count
        inserter = self.database.inserter(self)
        for piece in pieces(rows):
            inserter.run(self._batch(rows[piece]))
            self._expected = (self.count - before) * (len(rows) + later - piece.stop) // piece.stop
        return self.count - before

    def contains(self, rows: Any) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """For each row, whether it is there."""
        found = np.empty(len(rows), np.bool_)
        for piece in pieces(rows):
            found[piece] = self._contained(self._batch(rows[piece]))
        return found

    def _contained(self, batch: Array) -> Any:
        if not self.dirty:
            return self.database.member(self, batch)
        numbers = self.database.find(self, batch)
        found = numbers >= 0
        found[found] = self.now(numbers[found]) != codes.NEVER
        return found

    def find(self, rows: Any) -> Array:
        """For each row, its number, or -1; of a relation with state."""
        found = np.empty(len(rows), np.int64)
        for piece in pieces(rows):
            found[piece] = self.database.find(self, self._batch(rows[piece]))
        return found

    def _batch(self, rows: Any) -> Array:
        batch = np.ascontiguousarray(rows, np.int64)
        if batch.ndim != 2 or batch.shape[1] != self.arity:
            batch = batch.reshape(len(batch), self.arity)
        return batch

    def clear(self) -> None:
        """Forget all rows, and the indexes."""
        self._initialise()
        self.tick += 1
        for index in self.indexes.values():
            index.reset()

    def release_indexes(self) -> None:
        """Let go of the memory of the indexes; who needs one again builds it again."""
        for index in self.indexes.values():
            index.dispose()

    def dispose(self) -> None:
        """Let go of all memory, for a relation that nobody will use again (rows handed out stay valid)."""
        self.release_indexes()
        self.indexes = {}  # indexes and their relation hold each other
        recycle(self._table)
        for part in (self._rows, self._numbers, *((self._now,) if self.stateful else ())):
            part.recycle()
        self._initialise()

    def memory(self) -> dict[str, int]:
        """Bytes in use, by part."""
        width = 8 if self.wide else 4
        parts = {
            "rows": self.count * self.arity * width,
            "identity": self._table.nbytes + self._used * 256 * (self.mode == BLOCKED),
        }
        if self.stateful:
            parts["states"] = 4 * self.count
        for (columns, by), index in self.indexes.items():
            name = f"index({', '.join(map(str, columns))})" + ("" if by is None else f" by {by}")
            parts[name] = index.nbytes
        return parts

    def reserve_first(self) -> None:
        """Take row 0 out of use (for nil): it is there, but no tuple is equal to it."""
        self._rows.data[0] = 0
        self.block.first = 1
        self.count = 1
        self.settle()

    # State (see `row_states`, `rank_states` and `bulk_rows`)

    def _rows_of(self, numbers: Array) -> Array:
        return self._rows.data[numbers].astype(np.int64)

    def enter_absent(self, rows: Any) -> Array:
        """The numbers of these rows; those that were not known are entered as tuples that are not there."""
        numbers = self.find(rows)
        unknown = np.flatnonzero(numbers < 0)
        if len(unknown):
            added = np.asarray(rows)[unknown]
            self.append_absent(added)
            numbers[unknown] = self.find(added)
        return numbers

    def append_absent(self, rows: Any) -> None:
        """Enter rows as tuples that are not there."""
        self.iteration = codes.NEVER
        self.insert(rows)
        self.settle()

    # Growth, when a kernel asks for it

    def grow_rows(self, room: int) -> None:
        if self.count + room > MOST_ROWS:
            raise error(
                "TL0861", f"{self.name} has more than {self.count:,} tuples; a relation holds at most {MOST_ROWS:,}"
            )
        self._grow_rows(self.count + room)

    def _grow_rows(self, need: int) -> None:
        try:
            self._rows.grow(self.count, need)
            if self.stateful:
                self._grow_states(self._rows.capacity)
        finally:
            self._publish_rows()

    def grow_identity(self, room: int) -> None:
        """A larger table with room for more tuples; bitmaps if the tuples lie close together."""
        if self.mode == BLOCKED and self._used + room <= self._limit:
            self._grow_numbers(room)
            return
        with self._or_as_it_was():
            self._grow_table(room)

    def _grow_numbers(self, room: int) -> None:
        try:
            self._numbers.grow(self._used, self._used + room)
        finally:
            self._publish_numbers()

    def _grow_table(self, room: int) -> None:
        mode, lowest = self.mode, None
        blocks, keys, dense = (BLOCKED, NUMBERED, VERY_DENSE) if self.stateful else (BITMAP, PACKED, DENSE)
        if self.count >= self.database.bitmaps_from and mode == keys:
            density, lowest = self._density()
            mode = blocks if density >= dense else keys
        elif mode == blocks and self.count < dense / 2 * self._used:
            mode = keys
        units = self.count / density if mode == blocks and lowest is not None else self._used
        if mode == keys != self.mode:
            units = self.count
        expected = self._expected if mode == keys and self.count >= self.database.bitmaps_from else 0
        bits = 6
        while (1 << bits) * FULLEST < max((1.5 if units > 1 << 16 else 3) * units, units + max(room, expected)):
            bits += 1
        if mode != self.mode or mode == TAGGED:
            if lowest is not None and mode == blocks:
                self._pack = packing.lowest_column(self._pack, lowest)
            self._rebuild(mode, bits)
            return
        old, old_bits, used = self._table, self._bits, self._used
        self._publish_table(mode, bits)
        self._used = used
        if mode == BLOCKED:
            self._grow_numbers(room)
        self.database.kernels.rehash_identity(address(old), old_bits, self.address)
        recycle(old)

    def _rebuild(self, mode: int, bits: int) -> None:
        """Build a new table from the rows; larger than asked for if their blocks turn out to be more than estimated."""
        while True:
            recycle(self._table)
            if mode == BLOCKED:
                self._numbers = Growable(64, False, 0)
                self._numbers.grow(0, int((1 << bits) * FULLEST_OF_BLOCKS))
            self._publish_table(mode, bits)
            scratch = np.zeros(REBUILD_SCRATCH, np.int64)  # its own: several relations may be built at a time
            if self.database.kernels.rebuild_identity(self.address, address(scratch)) == codes.DONE:
                return
            bits += 1

    def has_blocks_like(self, other: Relation) -> bool:
        """Whether both have tables of blocks, and a tuple has the same key in both."""
        return self.mode == other.mode == BLOCKED and np.array_equal(self._pack, other._pack)

    def _density(self) -> tuple[float, int]:
        """Tuples per block of 64, and the column that is best packed lowest."""
        bits = max(8, (self.count >> 5).bit_length())
        best = (0.0, self.arity - 1)
        for column in reversed(range(self.arity)):
            table = np.zeros(1 << bits, np.int64)
            per_block = self.database.kernels.sample_blocks(self.address, column, address(table), bits) / 256
            best = max(best, (per_block, column), key=lambda b: b[0])
        return best

    def refit(self, lows: list[int], highs: list[int]) -> None:
        """Make values between these limits (besides those present) storable: widen, repack, or give up packing."""
        lows, highs = self._limits(lows, highs)
        if self.arity and not self.wide and (min(lows) < -(2**31) or max(highs) >= 2**31):
            self._widen()
        if self.mode == BAG:
            return
        pack = packing.fit(lows, highs, self.wide) if self.mode != TAGGED else None
        mode = TAGGED if pack is None else NUMBERED if self.stateful else PACKED
        with self._or_as_it_was():
            self._pack = packing.initial(self.arity, self.wide) if pack is None else pack
            self._rebuild(mode, self._bits_for(self.count, self._bits))

    def _widen(self) -> None:
        self._rows.widen(self.count)
        self._wide = True
        self._publish_rows()
        try:
            for index in self.indexes.values():
                index.widen()
        except MemoryError:
            for index in self.indexes.values():
                index.reset()
            raise

    def index(self, columns: tuple[int, ...], values: set[int], by: int | None = None, kind: int = 0) -> Index:
        """The index on some columns whose entries hold at least `values`, sorted by a column if asked."""
        index = self.indexes.get((columns, by))
        if index is None:
            index = self.indexes[columns, by] = Index(self, columns, by, kind)
        index.cover(values | {codes.ROW} if self.stateful else values)
        return index
