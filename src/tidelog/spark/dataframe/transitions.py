"""Transitions: a stratum's table before an epoch and after it, tuple by tuple.

A row has the iteration and the count that the tuple had before (`_b`, `_bn`) and those it has now (`_w`, `_wn`); where
it is not there, the iteration is NEVER. Both tables, what was inserted and what was deleted are filters over one frame.
"""

from __future__ import annotations

from collections.abc import Mapping

from tidelog.plain import dataclass
from tidelog.spark.dataframe.checkpoints import Checkpoints
from tidelog.spark.dataframe.sql import Select, Sql, union
from tidelog.spark.dataframe.tables import (
    COUNT,
    ITERATION,
    Table,
    TableLayout,
    TablePart,
    in_one_task,
    is_small,
    spread,
)
from tidelog.spark.dataframe.translate import BEFORE, NEVER, NOW

BEFORE_COUNT, NOW_COUNT = "_bn", "_wn"
STATES = (BEFORE, BEFORE_COUNT, NOW, NOW_COUNT)
ABSENT: dict[str, Sql] = {BEFORE: str(NEVER), BEFORE_COUNT: "0L", NOW: str(NEVER), NOW_COUNT: "0L"}


def is_there(iteration: Sql) -> Sql:
    return f"{iteration} != {NEVER}"


def came(now: Sql = NOW) -> Sql:
    return f"{now} != {NEVER} AND {BEFORE} = {NEVER}"


def went(now: Sql = NOW) -> Sql:
    return f"{BEFORE} != {NEVER} AND {now} = {NEVER}"


@dataclass(frozen=True)
class Transition:
    """See the module's docstring. `inserted` and `deleted` count tuples by relation."""

    layout: TableLayout
    rows: Select
    inserted: Mapping[str, int]
    deleted: Mapping[str, int]
    after: Table

    @classmethod
    def take(
        cls, checkpoints: Checkpoints, layout: TableLayout, rows: Select, more: Mapping[str, Sql] | None = None
    ) -> tuple[Transition, dict[str, int]]:
        """The transition that rows describe, which are computed now, and what else was to be counted."""
        taken, counts = checkpoints.take(rows, cls.counted(layout) | dict(more or {}))
        return cls.of(layout, taken, counts), counts

    @classmethod
    def of(cls, layout: TableLayout, rows: Select, counts: Mapping[str, int]) -> Transition:
        """The transition of computed rows, with what was `counted` of them."""
        names = list(layout.kinds)
        after = Table(
            layout,
            (TablePart(_after(layout, rows), 0, counts["last"]),),
            {name: counts[f"={name}"] for name in names},
            counts["derivations"],
        )
        inserted, deleted = ({name: counts[sign + name] for name in names} for sign in "+-")
        return cls(layout, rows, inserted, deleted, after)

    @classmethod
    def counted(cls, layout: TableLayout, now: Sql = NOW) -> dict[str, Sql]:
        """Metrics: what must be counted, if `now` is the iteration of a tuple now."""
        metrics = layout.counted(came(now), "+") | layout.counted(went(now), "-") | layout.counted(is_there(now), "=")
        metrics["derivations"] = f"sum(IF({is_there(now)}, {NOW_COUNT}, 0))"
        metrics["last"] = f"max(IF({is_there(now)}, {now}, 0))"
        return metrics

    def rows_inserted(self, name: str) -> Select:
        return self.layout.rows(name, self.rows.where(came()))

    def rows_deleted(self, name: str) -> Select:
        return self.layout.rows(name, self.rows.where(went()))


def _after(layout: TableLayout, rows: Select) -> Select:
    columns = {c: c for c in layout.columns}
    return rows.where(is_there(NOW)).select(columns | {ITERATION: NOW, COUNT: NOW_COUNT})


def unchanged(table: Table) -> Select:
    """The rows of a transition in which nothing has happened yet."""
    columns = {c: c for c in table.layout.columns}
    states = {BEFORE: ITERATION, BEFORE_COUNT: COUNT, NOW: ITERATION, NOW_COUNT: COUNT}
    return table.rows.select(columns | states)


def between(checkpoints: Checkpoints, old: Table, new: Table) -> Transition:
    """The transition from one table to another of the same layout."""
    layout = new.layout
    columns = {c: c for c in layout.columns}
    before = old.rows.select(columns | ABSENT | {BEFORE: ITERATION, BEFORE_COUNT: COUNT})
    after = new.rows.select(columns | ABSENT | {NOW: ITERATION, NOW_COUNT: COUNT})
    rows, size = union([before, after]), old.size + new.size
    both = in_one_task(rows, size) if is_small(size) else spread(rows, layout.keys, size)
    return Transition.take(checkpoints, layout, merged(layout, both))[0]


MERGED = {
    BEFORE: f"min({BEFORE})",
    BEFORE_COUNT: f"max({BEFORE_COUNT})",
    NOW: f"min({NOW})",
    NOW_COUNT: f"max({NOW_COUNT})",
}
"""What two halves of a transition are together."""


def merged(layout: TableLayout, rows: Select) -> Select:
    """One row per tuple, of rows that each say one half of a transition."""
    return rows.grouped(layout.columns, MERGED)
