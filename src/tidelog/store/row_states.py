"""The state of a relation's rows between two updates: when each was found and how often, and what is being changed.

What it holds: three arrays beside the rows (see `layout`): the iteration now, the iteration before the running update,
the number of derivations. While an update runs, three lists of rows that its plans begin with, and a
log of the rows that it has changed. What is always true: outside of an update, `now` and `before` are equal and the log
is empty. Cost: commit and undo are proportional to the log.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tidelog.store import layout
from tidelog.store.distinct import distinct_numbers
from tidelog.store.memory import Array, Growable, address

LISTS = (layout.R_LEFT, layout.R_CAME, layout.R_LOST)


class RowStates:
    """The part of a relation that knows states."""

    block: Array
    arity: int
    count: int
    _now: Growable
    _before: Growable
    _derived: Growable
    _lists: tuple[Growable, Growable, Growable]
    _log: Growable

    def _initialise_states(self, capacity: int) -> None:
        self._now = Growable(1, False, capacity)
        self._before, self._derived = (
            Growable(1, False, capacity, sparse=True),
            Growable(1, False, capacity, sparse=True),
        )
        self._publish_states()

    def _grow_states(self, room: int) -> None:
        for array in (self._now, self._before, self._derived):
            array.grow(self.count, self.count + room)
        self._publish_states()

    def _publish_states(self) -> None:
        self.block[layout.R_NOW // 8] = address(self._now.data)
        self.block[layout.R_BEFORE // 8] = address(self._before.data)
        self.block[layout.R_DERIVED // 8] = address(self._derived.data)

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
        self._derived.data[rows, 0] = np.asarray(numbers) - 1

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
        return self._log.data[: int(self.block[layout.R_NLOG // 8])]

    def changed(self) -> Array:
        """The rows in the log, each once, in order."""
        return distinct_numbers(self.log[:, 0], self.count)

    def remember(self, rows: Array) -> None:
        """Note the state of rows that are about to be changed."""
        n = len(self.log)
        self.grow_lists(len(rows))
        self._log.data[n : n + len(rows)] = np.column_stack((rows, self.now(rows), self.derived(rows)))
        self.block[layout.R_NLOG // 8] = n + len(rows)

    def list_rows(self, place: int, rows: Array) -> None:
        """Make a list (R_LEFT, R_CAME or R_LOST) of these rows."""
        self.grow_lists(len(rows))
        self._lists[(place - layout.R_LEFT) // 16].data[: len(rows), 0] = rows
        self.block[place // 8 + 1] = len(rows)

    def grow_lists(self, room: int) -> None:
        """Room for more rows in the lists and in the log."""
        for place, rows in zip(LISTS, self._lists, strict=True):
            rows.grow(int(self.block[place // 8 + 1]), room)
        n = len(self.log)
        self._log.grow(n, n + room)
        self._publish_lists()

    def _publish_lists(self) -> None:
        for place, rows in zip(LISTS, self._lists, strict=True):
            self.block[place // 8] = address(rows.data)
        self.block[layout.R_LIST_CAPACITY // 8] = min(rows.capacity for rows in self._lists)
        self.block[layout.R_LOG // 8] = address(self._log.data)
        self.block[layout.R_LOG_CAPACITY // 8] = self._log.capacity

    def forget_log(self) -> None:
        """The running update is over: what was before is what is now."""
        for notes in (*self._lists, self._log):
            notes.recycle()
        self.begin_log()

    def begin_log(self) -> None:
        """Empty lists, and an empty log."""
        self._lists = Growable(1, True, 8), Growable(1, True, 8), Growable(1, True, 8)
        self._log = Growable(3, False, 8)
        for count in (layout.R_NLEFT, layout.R_NCAME, layout.R_NLOST, layout.R_NLOG):
            self.block[count // 8] = 0
        self._publish_lists()

    def commit(self) -> None:
        """Make the state that an update has made the one before the next."""
        self._before.data[self.log[:, 0], 0] = 0
        self.forget_log()

    def undo(self, mark: int = 0) -> None:
        """Give up what an update has done since its log was this long."""
        rows, now, derived = self.log[mark:][::-1].T  # of several notes on a row, the first is written last
        self._now.data[rows, 0] = now
        self.set_derived(rows, derived)
        self._before.data[rows[~np.isin(rows, self.log[:mark, 0])], 0] = 0
        for place in LISTS:
            self.block[place // 8 + 1] = 0
        self.block[layout.R_NLOG // 8] = mark
        if mark == 0:
            self.forget_log()
