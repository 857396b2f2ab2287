"""Queries over frames as SQL text that is put together step by step and handed to Spark once.

Every DataFrame operation on a classic session is a dozen or more messages to the JVM, and an iteration has hundreds of
them; a text is one. A query knows its columns, and the frames that its text refers to by name (`spark.sql(text,
**frames)`, part of the public API). What is always true: names of columns are plain identifiers, and no text contains a
brace but those around the names of frames.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from tidelog.plain import dataclass, replace

Sql = str
"""An expression."""


@dataclass(frozen=True)
class SqlExpression:
    """An expression that is compared, and whose comparisons are combined, as Python does with its own."""

    text: Sql

    def __lt__(self, number: int) -> SqlExpression:
        return SqlExpression(f"({self.text} < {number})")

    def __ge__(self, number: int) -> SqlExpression:
        return SqlExpression(f"({self.text} >= {number})")

    def __and__(self, other: SqlExpression) -> SqlExpression:
        return other if self is TRUE else SqlExpression(f"({self.text} AND {other.text})")

    def __or__(self, other: SqlExpression) -> SqlExpression:
        return SqlExpression(f"({self.text} OR {other.text})")

    def __invert__(self) -> SqlExpression:
        return SqlExpression(f"(NOT {self.text})")


TRUE = SqlExpression("true")
_numbers = count()
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_PLAIN = re.compile(r"[A-Za-z0-9_ .,:;/+=\[\]()-]*", re.ASCII)


@dataclass(frozen=True)
class Select:
    """`SELECT columns FROM source WHERE conditions`. The source has a name: without one, Spark takes a WHERE before a
    bracket for a name. `single` says that its rows are known to lie in one partition, so
    that no operation on it has to move them; joins of such queries are hinted not to be broadcast. `sent` says that a
    join of it sends it to all tasks.

    A selection from a query that only renames is made part of it: Spark's optimiser, which costs more than the work
    itself while tables are small, gets fewer operations to look at.
    """

    source: str
    named: Mapping[str, Sql]
    frames: Mapping[str, DataFrame]
    conditions: tuple[Sql, ...] = ()
    single: bool = False
    hint: str = ""
    sent: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.named)

    @property
    def text(self) -> str:
        listed = ", ".join(name if name == value else f"{value} AS {name}" for name, value in self.named.items())
        where = f" WHERE {conjunction(self.conditions)}" if self.conditions else ""
        source = f" FROM {self.source}" if self.source else ""
        return f"SELECT {self.hint}{listed or 1}{source}{where}"

    def select(self, columns: Mapping[str, Sql]) -> Select:
        """These columns, by name, and no others."""
        found = [self._inside(value) for value in columns.values()]
        if None in found:
            return self._nested().select(columns)
        return replace(self, named=dict(zip(columns, found, strict=True)))  # type: ignore[arg-type]

    def only(self, columns: Iterable[str]) -> Select:
        return self.select({name: name for name in columns})

    def adding(self, columns: Mapping[str, Sql]) -> Select:
        return self.select({name: name for name in self.named} | dict(columns))

    def where(self, condition: Sql) -> Select:
        found = self._inside(condition)
        if found is None:
            return self._nested().where(condition)
        return replace(self, conditions=(*self.conditions, found))

    def _inside(self, expression: Sql) -> Sql | None:
        """The expression in terms of the source; None if that would repeat something computed, or cannot be seen."""
        if all(name == value for name, value in self.named.items()):
            return expression
        if not self.source or "'" in expression or not all(_NAME.fullmatch(v) for v in self.named.values()):
            return None
        return _NAME.sub(lambda found: self.named.get(found[0], found[0]), expression)

    def _nested(self) -> Select:
        named = {name: name for name in self.named}
        return Select(f"({self.text}) q", named, self.frames, single=self.single, sent=self.sent)

    def distinct(self) -> Select:
        return replace(self._nested(), hint="DISTINCT ")._nested()

    def limit(self, rows: int) -> Select:
        nested = self._nested()
        return replace(nested, source=f"({self.text} LIMIT {rows}) q")

    def grouped(self, keys: Sequence[str], values: Mapping[str, Sql]) -> Select:
        """One row for each combination of keys; without keys, one row."""
        by = f" GROUP BY {', '.join(keys)}" if keys else ""
        made = replace(self._nested(), named={name: name for name in keys} | dict(values))
        return replace(made, source=f"({made.text}{by}) q", named={name: name for name in made.named})

    def join(
        self, other: Select, condition: Sql | None, how: str = "INNER", dropped: Iterable[str] = (), hint: str = ""
    ) -> Select:
        """The columns of both but for the dropped ones; of the left alone for LEFT SEMI and LEFT ANTI. No two have the
        same name. A hint says how to join with the right side, such as BROADCAST."""
        mine = how in ("LEFT SEMI", "LEFT ANTI")
        gone = set(dropped)
        columns = [c for c in (self.columns if mine else (*self.columns, *other.columns)) if c not in gone]
        on = f" ON {condition}" if condition is not None else ""
        kind = how if condition is not None else "CROSS"
        single = self.single and (other.single or hint == "BROADCAST")
        if not hint and single and condition is not None and "=" in condition:
            hint = "SHUFFLE_HASH"
        return Select(
            f"({self.text}) l {kind} JOIN ({other.text}) r{on}",
            {name: name for name in columns},
            {**self.frames, **other.frames},
            single=single,
            hint=f"/*+ {hint}(r) */ " if hint else "",
        )

    def matching(self, other: Select, columns: Iterable[str], how: str, hint: str = "") -> Select:
        """The rows that agree with one of the other's in these columns (LEFT SEMI), or with none (LEFT ANTI)."""
        columns = tuple(columns)
        renamed = other.select({f"k{c}": c for c in columns})
        return self.join(renamed, conjunction(f"{c} = k{c}" for c in columns), how, hint=hint)

    def hinted(self, hint: str, single: bool = False) -> Select:
        named = {name: name for name in self.named}
        return Select(f"({self.text}) t", named, self.frames, hint=f"/*+ {hint} */ ", single=single)._nested()

    def sent_to_all(self) -> Select:
        """The query, small, as one that joins send to every task."""
        return replace(self.hinted("BROADCAST(t)"), sent=True)

    def partitioned(self, tasks: int, columns: Iterable[str]) -> Select:
        """The query among so many tasks, rows that agree in these columns in the same one."""
        return self.hinted(f"REPARTITION({tasks}, {', '.join(columns)})")

    def frame(self, spark: SparkSession) -> DataFrame:
        """The query as a DataFrame.

        On Spark Connect a server keeps a checkpoint as long as a frame of the client refers to it, and what `sql` gives
        does not. So what is over one frame is said with that frame's operations; others remember what they are over.
        """
        frames: dict[str, Any] = dict(self.frames)
        if len(frames) == 1 and not self.hint and self.source == f"{{{next(iter(frames))}}} q":
            (frame,) = frames.values()
            found = frame.where(conjunction(self.conditions)) if self.conditions else frame
            return found.selectExpr(*(f"{value} AS {name}" for name, value in self.named.items()))
        found = spark.sql(self.text, **frames)
        vars(found)["_tidelog_sources"] = tuple(frames.values())
        return found


def of_frame(frame: DataFrame, columns: Iterable[str], single: bool = False) -> Select:
    name = f"f{next(_numbers)}"
    return Select(f"{{{name}}} q", {column: column for column in columns}, {name: frame}, single=single)


def one_row(columns: Mapping[str, Sql]) -> Select:
    return Select("", dict(columns), {}, single=True)._nested()


def union(queries: Sequence[Select]) -> Select:
    """All rows; the columns are those of the first, in its order."""
    if len(queries) == 1:
        return queries[0]
    columns = queries[0].columns
    frames = {name: frame for query in queries for name, frame in query.frames.items()}
    text = " UNION ALL ".join(f"({query.only(columns).text})" for query in queries)
    return Select(f"({text}) q", {name: name for name in columns}, frames)


# ---- expressions


def conjunction(conditions: Iterable[Sql]) -> Sql:
    return " AND ".join(f"({condition})" for condition in conditions) or "true"


def text_literal(text: str) -> Sql:
    """A string; what could mean something to the parser or its settings goes by its bytes."""
    if _PLAIN.fullmatch(text):
        return f"'{text}'"
    return f"decode(X'{text.encode('utf-8').hex()}', 'UTF-8')"


def number_literal(value: int) -> Sql:
    return f"{value}L" if value >= 0 else f"(-{-value}L)" if value > -(2**63) else "(-9223372036854775807L - 1L)"


def float_literal(value: float) -> Sql:
    return f"cast('{value!r}' AS double)"
