"""Tables: the relations of a stratum in one frame, so that one Spark job finds the tuples of all of them.

What it holds: a row per tuple, with the number of its relation (`_r`), its columns, its iteration (`_i`) and its count
(`_n`). Relations share columns by type: those of (number, symbol) and (symbol, float) need a bigint, a double and two
strings less one. What a row's relation does not have is zero or empty, so that rows are compared as wholes.

A table is a list of parts with ascending iterations, each a frame whose lineage is cut. What is always true: a tuple is
in one part. Small tables have one part, which every iteration writes anew; large ones get a part per iteration, and old
parts are merged when they are many.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property

from tidelog.plain import dataclass
from tidelog.plan.steps import View
from tidelog.spark.dataframe.sql import Select, Sql, one_row, union
from tidelog.spark.dataframe.values import NOTHING, SPARK_TYPES
from tidelog.values import Kind

TAG, ITERATION, COUNT = "_r", "_i", "_n"
SMALL = 100_000
"""So many tuples are worked on by one task: shuffling them would cost more than it gains."""
ALONE = "_"
"""The one column of a frame without columns; always true."""


def column(number: int) -> str:
    """The name of a relation's column inside the executor."""
    return f"c{number}"


@dataclass(frozen=True)
class TableLayout:
    """Where the columns of relations are in a table."""

    kinds: Mapping[str, tuple[Kind, ...]]

    @cached_property
    def tags(self) -> dict[str, int]:
        return {name: tag for tag, name in enumerate(self.kinds)}

    @cached_property
    def places(self) -> dict[str, tuple[str, ...]]:
        """For each relation the columns of the table that are its own."""
        found = {}
        for name, kinds in self.kinds.items():
            used: Counter[str] = Counter()
            columns = []
            for kind in kinds:
                spark_type = SPARK_TYPES[kind]
                columns.append(f"{spark_type}_{used[spark_type]}")
                used[spark_type] += 1
            found[name] = tuple(columns)
        return found

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """What tells rows apart: the relation's number and all columns."""
        return (TAG, *sorted({column for columns in self.places.values() for column in columns}))

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """What large tables are divided and matched by. The number of an only relation is not among them: Spark sees
        that it is constant, drops it from groups and joins, and would then divide rows anew."""
        return self.columns if len(self.kinds) > 1 or len(self.columns) == 1 else self.columns[1:]

    def tagged(self, name: str, rows: Select, more: Mapping[str, Sql] | None = None) -> Select:
        """Rows of a relation as rows of the table, with more columns of their own."""
        mine = {place: column(i) for i, place in enumerate(self.places[name])}
        shared = {c: mine.get(c, NOTHING[c.split("_")[0]]) for c in self.columns[1:]}
        return rows.select({TAG: str(self.tags[name]), **shared, **(more or {})})

    def rows(self, name: str, table: Select, *more: str) -> Select:
        """The rows of one relation, with its own columns."""
        mine = {column(i): place for i, place in enumerate(self.places[name])} or {ALONE: "true"}
        return table.where(f"{TAG} = {self.tags[name]}").select(mine | {c: c for c in more})

    def empty(self) -> Select:
        """A table without rows."""
        nothing = {place: NOTHING[place.split("_")[0]] for place in self.columns[1:]}
        return one_row({TAG: "0", **nothing, ITERATION: "0", COUNT: "0L"}).where("false")

    def counted(self, condition: Sql, prefix: str = "") -> dict[str, Sql]:
        """Metrics: how many rows of each relation fulfil the condition."""
        return {prefix + name: f"count_if({TAG} = {tag} AND ({condition}))" for name, tag in self.tags.items()}


@dataclass(frozen=True)
class TablePart:
    """Tuples of the iterations from `first` to `last`."""

    rows: Select
    first: int
    last: int


@dataclass(frozen=True)
class Table:
    """See the module's docstring. `counts` are the tuples of each relation, `derivations` the sum of their counts."""

    layout: TableLayout
    parts: tuple[TablePart, ...]
    counts: Mapping[str, int]
    derivations: int = 0

    @property
    def size(self) -> int:
        return sum(self.counts.values())

    @cached_property
    def rows(self) -> Select:
        return union([part.rows for part in self.parts])

    def view(self, name: str, view: View, iteration: int) -> Select:
        """What a plan sees of a relation in this iteration."""
        last = iteration - 1
        match view:
            case View.DELTA:
                return self.layout.rows(name, self._between(last, last))
            case View.OLD:
                return self.layout.rows(name, self._between(0, last - 1))
        return self.relation(name)

    def _between(self, first: int, last: int) -> Select:
        chosen = [part for part in self.parts if part.first <= last and part.last >= first] or list(self.parts[:1])
        rows = union([part.rows for part in chosen])
        inside = all(first <= part.first and part.last <= last for part in chosen)
        return rows if inside else rows.where(f"{ITERATION} BETWEEN {first} AND {last}")

    def relation(self, name: str, *more: str) -> Select:
        return self.layout.rows(name, self.rows, *more)


FEW = 20_000
"""So few tuples are sent to every task that joins them."""


BROADCAST = 100_000
"""So many tuples at most are looked for in a large table by sending them to every task that has a share of it."""
PER_TASK = 250_000
"""About how many tuples a task gets of a large table: its share of a hash join then takes some tens of megabytes."""


def spread(rows: Select, columns: Sequence[str], size: int) -> Select:
    """A query over tables of so many rows, partitioned by these columns: groups by them and joins of two that are
    spread alike move no data again. The number is ours to say: the session's own may be for other data, and one of two
    hundred costs a second or more in each iteration of a fixpoint."""
    return rows.partitioned(max(2, tasks_for(size)), columns)


def tasks_for(size: int) -> int:
    """Among how many tasks so many rows are divided; 0 if there is nothing to divide."""
    return 0 if is_small(size) else max(2, -(-size // PER_TASK))


def among(
    rows: Select, others: Select, columns: Sequence[str], how: str, sizes: tuple[int, int], around: int = SMALL + 1
) -> Select:
    """The rows that are also among the others (LEFT SEMI), or are not (LEFT ANTI); `sizes` are those of both. With few
    rows around, both are in one task."""
    if is_small(around):
        return rows.matching(others, columns, how)
    if sizes[1] <= BROADCAST:
        return rows.matching(others, columns, how, "BROADCAST")
    both = sum(sizes)
    return spread(rows, columns, both).matching(spread(others, columns, both), columns, how, "SHUFFLE_HASH")


def is_small(size: int) -> bool:
    """Whether so many rows are for one task."""
    return size <= SMALL


def in_one_task(rows: Select, size: int) -> Select:
    """A small query as one partition: joins and groups of such queries move no data."""
    return rows if rows.single or not is_small(size) else rows.hinted("COALESCE(1)", single=True)


def input_view(table: Table, name: str, size: int) -> Select:
    """A finished relation, as a plan over so many rows in all should see it."""
    if is_small(size):
        return in_one_task(table.relation(name), size)
    rows = table.relation(name)
    return rows.sent_to_all() if table.counts[name] <= FEW else rows
