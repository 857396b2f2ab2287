"""What encoding a plan gives, and where the chunks of its bindings lie."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from tidelog.store.filing import Filing
from tidelog.store.index import Index
from tidelog.store.memory import Array, address
from tidelog.store.relation import Relation


@dataclass
class Encoded:
    """A plan block and everything that it points to."""

    plan: Array
    levels: Array
    keep: list[Array]
    indexes: list[tuple[Index, int]] = field(default_factory=list)  # with the layout version that was encoded
    sink: Relation | None = None
    filing: Filing | None = None

    @property
    def stale(self) -> bool:
        return any(index.version != version for index, version in self.indexes)


class Scratch:
    """Columns of a chunk's length. Plans that never run at the same time may share one."""

    def __init__(self, chunk: int) -> None:
        self.chunk = chunk
        self.areas: list[Array] = []
        self._next = 0

    def rewind(self) -> None:
        self._next = 0

    def column(self) -> int:
        per_area = 16
        if self._next == len(self.areas) * per_area:
            self.areas.append(np.zeros(per_area * (self.chunk + 8), np.int64))
        area, i = divmod(self._next, per_area)
        self._next += 1
        return address(self.areas[area]) + i * (self.chunk + 8) * 8
