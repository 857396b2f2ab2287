"""The state of a relation's rows between two updates: when each was found and how often, and what is being changed.

What it holds: three columns behind those of the tuple (see `layout`): the iteration now, the iteration before the
running update, the number of derivations. While an update runs, three lists of rows that its plans begin with, and a
log of the rows that it has changed. What is always true: outside of an update, `now` and `before` are equal and the log
is empty. Cost: commit and undo are proportional to the log.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tidelog.store import layout
from tidelog.store.memory import Array, Growable, address


class RowStates:
    """The part of a relation that knows states."""

    block: Array
    arity: int
    count: int
    _rows: Growable
    _lists: Array
    _log: Array

    def state(self, rows: Any = slice(None)) -> Any:
        """The state columns (see `layout`) of rows given by number, or of all."""
        return self._rows.data[: self.count, self.arity :][rows]

    def set_state(self, rows: Any, which: int, values: Any) -> None:
        self._rows.data[rows, self.arity + which] = values

    @property
    def log(self) -> Array:
        """What the running update has changed, in order: (row, its iteration before, its derivations before)."""
        return self._log[: int(self.block[layout.R_NLOG // 8])]

    def remember(self, rows: Array) -> None:
        """Note the state of rows that are about to be changed."""
        n = len(self.log)
        self.grow_lists(len(rows))
        state = self.state(rows)
        self._log[n : n + len(rows)] = np.column_stack((rows, state[:, layout.NOW], state[:, layout.DERIVED]))
        self.block[layout.R_NLOG // 8] = n + len(rows)

    def list_rows(self, place: int, rows: Array) -> None:
        """Make a list (R_LEFT, R_CAME or R_LOST) of these rows."""
        self.grow_lists(len(rows))
        self._lists[(place - layout.R_LEFT) // 16, : len(rows)] = rows
        self.block[place // 8 + 1] = len(rows)

    def grow_lists(self, room: int) -> None:
        """Room for more rows in the lists and in the log."""
        if room > self._lists.shape[1]:
            larger = np.empty((3, max(room, 2 * self._lists.shape[1])), np.int64)
            larger[:, : self._lists.shape[1]] = self._lists
            self._lists = larger
        need = int(self.block[layout.R_NLOG // 8]) + room
        if need > len(self._log):
            log = np.empty((max(need, 2 * len(self._log)), 3), np.int64)
            log[: len(self._log)] = self._log
            self._log = log
        self._publish_lists()

    def _publish_lists(self) -> None:
        for i, place in enumerate((layout.R_LEFT, layout.R_CAME, layout.R_LOST)):
            self.block[place // 8] = address(self._lists[i])
        self.block[layout.R_LIST_CAPACITY // 8] = self._lists.shape[1]
        self.block[layout.R_LOG // 8] = address(self._log)
        self.block[layout.R_LOG_CAPACITY // 8] = len(self._log)

    def forget_log(self) -> None:
        """The running update is over: what was before is what is now."""
        self._lists, self._log = np.empty((3, 8), np.int64), np.empty((8, 3), np.int64)
        for count in (layout.R_NLEFT, layout.R_NCAME, layout.R_NLOST, layout.R_NLOG):
            self.block[count // 8] = 0
        self._publish_lists()

    def commit(self) -> None:
        """Make the state that an update has made the one before the next."""
        rows = self.log[:, 0]
        self.set_state(rows, layout.BEFORE_NOW, self.state(rows)[:, layout.NOW])
        self.forget_log()

    def undo(self, mark: int = 0) -> None:
        """Give up what an update has done since its log was this long."""
        rows, now, derived = self.log[mark:][::-1].T  # of several notes on a row, the first is written last
        self.set_state(rows, layout.NOW, now)
        self.set_state(rows, layout.DERIVED, derived)
        for count in (layout.R_NLEFT, layout.R_NCAME, layout.R_NLOST):
            self.block[count // 8] = 0
        self.block[layout.R_NLOG // 8] = mark
        if mark == 0:
            self.forget_log()
