"""What encoding a plan gives, and where the chunks of its bindings lie."""

from __future__ import annotations

from collections.abc import Mapping
from ctypes import addressof

import numpy as np

from tidelog.plain import dataclass, field
from tidelog.store.blocks import Level, PlanBlock, ScanLevel, words_at
from tidelog.store.codes import SCAN
from tidelog.store.index import Index
from tidelog.store.memory import Array, address
from tidelog.store.pending import Pending
from tidelog.store.relation import Relation


@dataclass(slots=True)
class Encoded:
    """A plan block, and the scratch areas and indexes that it points to."""

    plan: PlanBlock  # its levels and all that they point to lie behind it, in the same piece of memory
    areas: tuple[Array, ...]
    indexes: tuple[tuple[Index, int], ...] = ()  # with the layout version that was encoded
    sink: Relation | None = None
    pending: Pending | None = None
    columns: Mapping[int, int] = field(default_factory=dict)  # by slot, where a derivation is ranked: for what it says

    @property
    def address(self) -> int:
        return addressof(self.plan)

    @property
    def level(self) -> Level:
        """The level at which the plan is."""
        return self._level(self.plan.level)

    @property
    def source(self) -> Level:
        """The level with which the plan begins."""
        return self._level(0)

    @property
    def scan(self) -> ScanLevel | None:
        """The same, if it scans a relation."""
        return ScanLevel.from_address(addressof(self.source)) if self.source.kind == SCAN else None

    def _level(self, number: int) -> Level:
        return Level.from_address(words_at(self.plan.levels, number + 1)[number])

    @property
    def stale(self) -> bool:
        return any(index.version != version for index, version in self.indexes)


class Scratch:
    """Columns of a chunk's length. Plans that never run at the same time may share one."""

    def __init__(self, chunk: int) -> None:
        self.chunk = chunk
        self.areas: list[Array] = []
        self._addresses: list[int] = []
        self._next = 0

    def rewind(self) -> None:
        self._next = 0

    def column(self) -> int:
        per_area = 16
        if self._next == len(self.areas) * per_area:
            self.areas.append(np.zeros(per_area * (self.chunk + 8), np.int64))
            self._addresses.append(address(self.areas[-1]))
        area, i = divmod(self._next, per_area)
        self._next += 1
        return self._addresses[area] + i * (self.chunk + 8) * 8
