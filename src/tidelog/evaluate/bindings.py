"""A batch of bindings: for each slot that is alive, a column of words."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from tidelog.plain import dataclass, field
from tidelog.store.memory import Words

__all__ = ["Bindings", "Words"]


@dataclass
class Bindings:
    """`count` bindings; every column has that length."""

    count: int
    columns: dict[int, Words] = field(default_factory=dict)

    @classmethod
    def one(cls) -> Bindings:
        """A single binding of nothing: where rules without atoms begin."""
        return cls(1)

    @classmethod
    def from_rows(cls, rows: Words, slots: tuple[int, ...]) -> Bindings:
        return cls(len(rows), {slot: rows[:, i] for i, slot in enumerate(slots)})

    def rows(self, slots: tuple[int, ...]) -> Words:
        """The columns of these slots side by side, row-major."""
        result = np.empty((self.count, len(slots)), np.int64)
        for i, slot in enumerate(slots):
            result[:, i] = self.columns[slot]
        return result

    def keep(self, chosen: NDArray[np.bool_] | NDArray[np.intp]) -> Bindings:
        """The bindings at these places (a mask, or indices that may repeat)."""
        count = int(np.count_nonzero(chosen)) if chosen.dtype == np.bool_ else len(chosen)
        return Bindings(count, {slot: column[chosen] for slot, column in self.columns.items()})

    def only(self, slots: Iterable[int]) -> Bindings:
        return Bindings(self.count, {slot: self.columns[slot] for slot in slots if slot in self.columns})

    def bind(self, slot: int, column: Words) -> None:
        self.columns[slot] = column
