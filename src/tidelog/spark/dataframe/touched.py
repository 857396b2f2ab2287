"""The tuples of a stratum that an update has changed so far, apart from all others.

What it holds: a row for each tuple whose state now is another than before (its iteration or its count, before and now:
see `transitions.py`). What is always true: the stratum's table before the update is never written again; what is not
touched is there as it was. So an iteration costs a look at the table, and writes what it changes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from tidelog.spark.dataframe.checkpoints import Checkpoints
from tidelog.spark.dataframe.sql import Select, Sql, union
from tidelog.spark.dataframe.tables import ITERATION, Table, among, in_one_task, is_small, spread
from tidelog.spark.dataframe.transitions import (
    ABSENT,
    BEFORE_COUNT,
    MERGED,
    NOW_COUNT,
    STATES,
    Transition,
    unchanged,
)
from tidelog.spark.dataframe.translate import BEFORE, NEVER, NOW


class Touched:
    """See the module's docstring. `around` is how many rows the update looks at: if they are few, in one task."""

    def __init__(self, checkpoints: Checkpoints, old: Table, around: int) -> None:
        self.checkpoints, self.old, self.around = checkpoints, old, around
        self.layout = old.layout
        self.columns = (*self.layout.columns, *STATES)
        self.rows = self.layout.empty().adding(ABSENT).only(self.columns)
        self.size = 0
        self.moved: dict[int, tuple[int, int]] = {}  # of an iteration: how many have left it, and have come to it
        self.levels: Counter[int] | None = None  # how many tuples of each iteration the old table has

    # ---- reading

    def known(self) -> Select:
        """All tuples, with their states before and now."""
        if not self.size:
            return in_one_task(unchanged(self.old), self.around)
        return self.together([self._apart(unchanged(self.old), self.old.size), self.rows])

    def with_states(self, rows: Select, size: int, none: Mapping[str, Sql], more: Mapping[str, Sql]) -> Select:
        """Rows of so many tuples and all touched ones, grouped, with their states. The rows have other columns: `none`
        is what stands there for touched tuples, `more` makes one of them."""
        rows = in_one_task(rows, self.around)
        mine = in_one_task(unchanged(self.old), self.around)
        hits = among(mine, rows, self.layout.keys, "LEFT SEMI", (self.old.size, size), self.around)
        if self.size:
            hits = self._apart(hits, self.old.size)
        given = rows.adding(ABSENT).only((*self.columns, *more))
        both = [hits.adding(none), self.rows.adding(none), given] if self.size else [hits.adding(none), given]
        return self.together(both, size + self.size).grouped(self.layout.columns, {**MERGED, **more})

    def _apart(self, rows: Select, size: int) -> Select:
        """The rows that are not touched."""
        mine = in_one_task(rows, self.around)
        touched = in_one_task(self.rows, self.around)
        return among(mine, touched, self.layout.keys, "LEFT ANTI", (size, self.size), self.around)

    def together(self, rows: Sequence[Select], size: int | None = None) -> Select:
        """All rows: in one task, or with a size divided by their columns, to be grouped."""
        if is_small(self.around) or size is None:
            return in_one_task(union(rows), self.around)
        return spread(union(rows), self.layout.keys, size)

    # ---- writing

    def take(self, found: Select, counted: Mapping[str, Sql], k: int) -> dict[str, int]:
        """From now on these are the touched ones, those among them that differ from before; iteration k made them."""
        changed = found.where(f"{BEFORE} != {NOW} OR {BEFORE_COUNT} != {NOW_COUNT}")
        moved = {
            "left": f"count_if({BEFORE} = {k} AND {NOW} != {k})",
            "came": f"count_if({NOW} = {k} AND {BEFORE} != {k})",
        }
        taken, counts = self.checkpoints.take(changed.only(self.columns), {"rows": "count(1)", **moved, **counted})
        self.rows, self.size = taken, counts["rows"]
        self.moved = {k: (counts["left"], counts["came"])}
        return counts

    def is_level(self, k: int) -> bool:
        """Whether there are tuples of iteration k now."""
        if self.levels is None:
            counted = in_one_task(self.old.rows, self.around).grouped([ITERATION], {"n": "count(1)"})
            self.levels = Counter(dict(self.checkpoints.collect(counted)))
        before = self.levels[k]
        if before > self.size:
            return True
        if k not in self.moved:
            metrics = self.rows.grouped(
                (), {"n": f"count_if({BEFORE} = {k} AND {NOW} != {k})"}
            )  # none has come: nothing was derived
            self.moved[k] = self.checkpoints.collect(metrics)[0][0], 0
        left, came = self.moved[k]
        return before - left + came > 0

    def transition(self, last: int) -> Transition:
        """What has become of the table, if the last iteration was this one: N# ends with it, and what is left of later
        N#o is no part of it."""
        kept = {c: c for c in (*self.layout.columns, BEFORE, BEFORE_COUNT)}
        now = {NOW: f"IF({NOW} > {last}, {NEVER}, {NOW})", NOW_COUNT: f"IF({NOW} > {last}, 0L, {NOW_COUNT})"}
        return Transition.take(self.checkpoints, self.layout, self.known().select(kept | now))[0]
