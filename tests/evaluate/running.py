"""Running a program text over facts, for tests of evaluation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tidelog.analysis.check import check
from tidelog.analysis.checked import Checked
from tidelog.errors import Report
from tidelog.evaluate.bindings import Words
from tidelog.evaluate.limits import Limits
from tidelog.io.tables import table_of
from tidelog.lang.load import parse_program
from tidelog.local import LocalSession, Settings

Rows = set[tuple[Any, ...]]


def run(
    text: str,
    facts: Mapping[str, Iterable[tuple[Any, ...]]] | None = None,
    functors: Mapping[str, Callable[..., Any]] | None = None,
    limits: Limits | None = None,
    threads: int = 1,
) -> dict[str, Rows]:
    """All relations of the program after evaluation; records and ADT values as Soufflé writes them."""
    checked = checked_text(text)
    settings = Settings("batch", functors=functors, limits=limits or Limits(), threads=threads)
    session = LocalSession(checked, settings)
    session.bootstrap_words(
        {
            name: session.words(name, table_of(list(rows), checked.relations[name], checked.types))
            for name, rows in (facts or {}).items()
        }
    )
    return {name: rows_of(session, checked, name) for name in checked.relations}


def checked_text(text: str) -> Checked:
    report = Report()
    return check(parse_program(text, report), report)


def evaluated(text: str, facts: Mapping[str, Words]) -> LocalSession:
    """A session after one batch evaluation."""
    session = LocalSession(checked_text(text), Settings("batch"))
    session.bootstrap_words(facts)
    return session


def rows_of(session: LocalSession, checked: Checked, name: str) -> Rows:
    table = session.table(checked.relations[name], session.ready().rows(name))
    if not table.num_columns:
        return {()} if session.ready().count(name) else set()
    return set(zip(*(column.to_pylist() for column in table.columns), strict=True))
