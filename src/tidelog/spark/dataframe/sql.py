"""Queries over frames as SQL text that is put together step by step and handed to Spark once.

Every DataFrame operation on a classic session is a dozen or more messages to the JVM, and an iteration has hundreds of
them; a text is one. A query knows its columns, and the frames that its text refers to by name (`spark.sql(text,
**frames)`, part of the public API). What is always true: names of columns are plain identifiers, and no text contains a
brace but those around the names of frames.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from pyspark.sql import DataFrame, SparkSession

Sql = str
"""An expression."""

_numbers = count()
_PLAIN = re.compile(r"[A-Za-z0-9_ .,:;/+=\[\]()-]*", re.ASCII)


@dataclass(frozen=True)
class Query:
    text: str
    columns: tuple[str, ...]
    frames: Mapping[str, DataFrame]

    def select(self, columns: Mapping[str, Sql]) -> Query:
        """These columns, by name, and no others."""
        return Query(f"SELECT {_listed(columns)} FROM ({self.text})", tuple(columns), self.frames)

    def only(self, columns: Iterable[str]) -> Query:
        return self.select({name: name for name in columns})

    def adding(self, columns: Mapping[str, Sql]) -> Query:
        return self.select({name: name for name in self.columns} | dict(columns))

    def where(self, condition: Sql) -> Query:
        return Query(f"SELECT * FROM ({self.text}) WHERE {condition}", self.columns, self.frames)

    def distinct(self) -> Query:
        return Query(f"SELECT DISTINCT * FROM ({self.text})", self.columns, self.frames)

    def limit(self, rows: int) -> Query:
        return Query(f"SELECT * FROM ({self.text}) LIMIT {rows}", self.columns, self.frames)

    def grouped(self, keys: Sequence[str], values: Mapping[str, Sql]) -> Query:
        """One row for each combination of keys; without keys, one row."""
        listed = _listed({name: name for name in keys} | dict(values))
        by = f" GROUP BY {', '.join(keys)}" if keys else ""
        return Query(f"SELECT {listed} FROM ({self.text}){by}", (*keys, *values), self.frames)

    def join(self, other: Query, condition: Sql | None, how: str = "INNER", dropped: Iterable[str] = ()) -> Query:
        """The columns of both but for the dropped ones; of the left alone for LEFT SEMI and LEFT ANTI. No two have the
        same name."""
        mine = how in ("LEFT SEMI", "LEFT ANTI")
        gone = set(dropped)
        columns = tuple(c for c in (self.columns if mine else (*self.columns, *other.columns)) if c not in gone)
        on = f" ON {condition}" if condition is not None else ""
        kind = how if condition is not None else "CROSS"
        text = f"SELECT {', '.join(columns) or '1'} FROM ({self.text}) {kind} JOIN ({other.text}){on}"
        return Query(text, columns, {**self.frames, **other.frames})

    def hinted(self, hint: str) -> Query:
        return Query(f"SELECT /*+ {hint} */ * FROM ({self.text}) t", self.columns, self.frames)

    def frame(self, spark: SparkSession) -> DataFrame:
        frames: dict[str, Any] = dict(self.frames)
        return spark.sql(self.text, **frames)


def of_frame(frame: DataFrame, columns: Iterable[str]) -> Query:
    name = f"f{next(_numbers)}"
    listed = tuple(columns)
    return Query(f"SELECT {', '.join(listed)} FROM {{{name}}}", listed, {name: frame})


def one_row(columns: Mapping[str, Sql]) -> Query:
    return Query(f"SELECT {_listed(columns)}", tuple(columns), {})


def union(queries: Sequence[Query]) -> Query:
    """All rows; the columns are those of the first, in its order."""
    if len(queries) == 1:
        return queries[0]
    columns = queries[0].columns
    frames = {name: frame for query in queries for name, frame in query.frames.items()}
    return Query(" UNION ALL ".join(f"({query.only(columns).text})" for query in queries), columns, frames)


def _listed(columns: Mapping[str, Sql]) -> str:
    return ", ".join(name if name == value else f"{value} AS {name}" for name, value in columns.items())


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
