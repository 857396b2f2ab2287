"""Running a program text over facts, for tests of evaluation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tidelog.analysis.check import check
from tidelog.errors import Report
from tidelog.evaluate.batch import BatchRun, Options
from tidelog.evaluate.limits import Limits
from tidelog.io.codec import encode
from tidelog.io.tables import table_of
from tidelog.lang.load import parse_program

Rows = set[tuple[Any, ...]]


def run(
    text: str,
    facts: Mapping[str, Iterable[tuple[Any, ...]]] | None = None,
    functors: Mapping[str, Callable[..., Any]] | None = None,
    limits: Limits | None = None,
    threads: int = 1,
) -> dict[str, Rows]:
    """All relations of the program after evaluation; records and ADT values as Soufflé writes them."""
    report = Report()
    checked = check(parse_program(text, report), report)
    options = Options(functors=functors or {}, limits=limits or Limits(), threads=threads)
    batch = BatchRun(checked, options)
    for name, rows in (facts or {}).items():
        info = checked.relations[name]
        relation = batch.database[name]
        relation.insert(encode(table_of(list(rows), info, checked.types), info, checked.types, batch.database))
        relation.settle()
    batch.evaluate()
    return {name: rows_of(batch, name) for name in checked.relations}


def rows_of(batch: BatchRun, name: str) -> Rows:
    table = batch.table(name)
    if not table.num_columns:
        return {()} if batch.database[name].count else set()
    return set(zip(*(column.to_pylist() for column in table.columns), strict=True))
