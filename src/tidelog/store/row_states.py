"""The state of a relation's rows between two updates: when each was found and how often, and what is being changed.

What it holds: three arrays beside the rows (see `RelationBlock`): the iteration now, the iteration before the running
update, the number of derivations. While an update runs, lists of rows that its plans begin with, and a log of
the rows that it has changed. What is always true: outside of an update, `now` and `before` are equal and the log
is empty. Cost: commit and undo are proportional to the log.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tidelog.plan.steps import View
from tidelog.store import codes
from tidelog.store.blocks import RelationBlock, RowList
from tidelog.store.distinct import distinct_numbers
from tidelog.store.memory import Array, Growable, address

LISTS = (View.LEFT, View.CAME, View.LOST, View.MOVED)


class RowStates:
    """The part of a relation that knows states."""

    block: RelationBlock
    arity: int
    count: int
    _now: Growable
    _before: Growable
    _derived: Growable
    _lists: tuple[Growable, ...]
    _log: Growable

    _ranks: Growable | None = None  # beside the rows, where only the best counts
    _values: Growable  # beside the log

    def _initialise_states(self, capacity: int) -> None:
        self._ranks = None
        self._now = Growable(1, False, capacity)
        self._before, self._derived = (
            Growable(1, False, capacity, sparse=True),
            Growable(1, False, capacity, sparse=True),
        )
        self._publish_states()

    def _grow_states(self, capacity: int) -> None:
        """Room for the states of so many rows."""
        try:
            for array in self._state_arrays:
                array.grow(self.count, capacity)
        finally:
            self._publish_states()

    @property
    def _state_arrays(self) -> list[Growable]:
        return [self._now, self._before, self._derived, *([] if self._ranks is None else [self._ranks])]

    @property
    def _states_capacity(self) -> int:
        return min(array.capacity for array in self._state_arrays)

    def _publish_states(self) -> None:
        self.block.now = address(self._now.data)
        self.block.before = address(self._before.data)
        self.block.derived = address(self._derived.data)
        self.block.ranks = 0 if self._ranks is None else address(self._ranks.data)

    def now(self, rows: Any = slice(None)) -> Any:
        """The iterations of rows given by number, or of all."""
        return self._now.data[: self.count, 0][rows]

    def before(self, rows: Any = slice(None)) -> Any:
        """Their iterations before the running update."""
        changed = self._before.data[: self.count, 0][rows]
        return np.where(changed == 0, self.now(rows), ~changed)

    def derived(self, rows: Any = slice(None)) -> Any:
        """Their numbers of derivations."""
        return self._derived.data[: self.count, 0][rows].astype(np.int64) + 1

    def derived_less_one(self) -> Any:
        """Of all rows, as they are held: mostly zeros."""
        return self._derived.data[: self.count, 0]

    def set_now(self, rows: Any, iterations: Any) -> None:
        """Change iterations; what they were before the update is kept."""
        changed = self._before.data[rows, 0]
        self._before.data[rows, 0] = np.where(changed == 0, ~self._now.data[rows, 0], changed)
        self._now.data[rows, 0] = iterations

    def set_before(self, rows: Any, iterations: Any) -> None:
        self._before.data[rows, 0] = ~np.asarray(iterations, np.int32)

    def set_derived(self, rows: Any, numbers: Any) -> None:
        numbers = np.asarray(numbers)
        if numbers.max(initial=0) > codes.MOST_DERIVATIONS:
            self.block.overflow = 1
            numbers = np.minimum(numbers, codes.MOST_DERIVATIONS)
        self._derived.data[rows, 0] = numbers - 1

    @property
    def overflown(self) -> bool:
        """Whether some row has more derivations than its count can say; the state is then wrong, and to be given up."""
        return bool(self.block.overflow)

    def put_states(self, rows: Any, iterations: Any, numbers: Any) -> None:
        """States as another process left them, in order: of several for one row the last counts. None is a change."""
        self._now.data[rows, 0] = iterations
        self.set_derived(rows, numbers)

    def forget_before(self) -> None:
        """What all rows were before is what they are now."""
        self._before = Growable(1, False, 0, sparse=True)
        self._before.grow(0, self._now.capacity)
        self._publish_states()

    @property
    def log(self) -> Any:
        """What the running update has changed, in order: (row, its iteration before, its derivations before)."""
        return self._log.data[: self.block.log_length]

    def changed(self) -> Array:
        """The rows in the log, each once, in order."""
        return distinct_numbers(self.log[:, 0], self.count)

    def remember(self, rows: Array) -> None:
        """Note the state of rows that are about to be changed."""
        n = len(self.log)
        self.grow_lists(len(rows))
        self._log.data[n : n + len(rows)] = np.column_stack((rows, self.now(rows), self.derived(rows)))
        if self._ranks is not None:
            self._values.data[n : n + len(rows), 0] = self._ranks.data[rows, 0]
        self.block.log_length = n + len(rows)

    @property
    def _listed(self) -> tuple[RowList, ...]:
        """What the kernels know of the lists."""
        return self.block.left, self.block.came, self.block.lost, self.block.moved

    def list_rows(self, view: View, rows: Array) -> None:
        """Make these rows the list that a view is."""
        self.grow_lists(len(rows))
        number = LISTS.index(view)
        self._lists[number].data[: len(rows), 0] = rows
        self._listed[number].count = len(rows)

    def grow_lists(self, room: int) -> None:
        """Room for more rows in the lists and in the log."""
        try:
            for listed, rows in zip(self._listed, self._lists, strict=True):
                rows.grow(listed.count, room)
            n = len(self.log)
            self._log.grow(n, n + room)
            if self._ranks is not None:
                self._values.grow(n, self._log.capacity)
        finally:
            self._publish_lists()

    def _publish_lists(self) -> None:
        for listed, rows in zip(self._listed, self._lists, strict=True):
            listed.rows = address(rows.data)
        self.block.list_capacity = min(rows.capacity for rows in self._lists)
        self.block.log = address(self._log.data)
        self.block.log_capacity = self._log.capacity
        self.block.value_log = address(self._values.data) if self._values.capacity else 0

    def forget_log(self) -> None:
        """The running update is over: what was before is what is now."""
        for notes in (*self._lists, self._log):
            notes.recycle()
        self.begin_log()

    def begin_log(self) -> None:
        """Empty lists, and an empty log."""
        self._lists = tuple(Growable(1, True, 8) for _ in LISTS)
        self._log = Growable(3, False, 8)
        self._values = Growable(1, True, 8 if self.block.ranks else 0)
        for listed in self._listed:
            listed.count = 0
        self.block.log_length = 0
        self._publish_lists()

    def _undo_ranks(self, rows: Array, values: Array) -> None:
        """Give rows the values back that they had."""
        raise NotImplementedError

    def commit(self) -> None:
        """Make the state that an update has made the one before the next."""
        self._before.data[self.log[:, 0], 0] = 0
        self.forget_log()

    def undo(self, mark: int = 0) -> None:
        """Give up what an update has done since its log was this long."""
        rows, now, derived = self.log[mark:][::-1].T  # of several notes on a row, the first is written last
        self._now.data[rows, 0] = now
        self.set_derived(rows, derived)
        if self._ranks is not None:
            self._undo_ranks(rows, self._values.data[mark : len(self.log), 0][::-1])
        self._before.data[rows[~np.isin(rows, self.log[:mark, 0])], 0] = 0
        for listed in self._listed:
            listed.count = 0
        self.block.log_length = mark
        self.block.overflow = 0
        if mark == 0:
            self.forget_log()
