"""Malformed facts: collected while files are read, then raised together or, when skipping is allowed, reported.

What is always true: every malformed fact is counted; the first `limit` of a file are kept with a picture of their
line, so that a file of a million bad lines costs no more to report than one of twenty.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import NamedTuple

from tidelog.errors import Diagnostic, LineOrigin, Severity, Source, Span, TidelogError


class FactLine(NamedTuple):
    """A line of a fact file, as the user sees it in an editor."""

    file: str
    number: int
    text: str

    def span(self, start: int, end: int) -> Span:
        """The characters start to end of the line."""
        source = Source(self.file, self.text, [LineOrigin(1, self.file, self.number)])
        return Span(source, start, max(end, start + 1))


class BadRows:
    """Collects malformed facts of any number of files."""

    def __init__(self, skip: bool = False, limit: int = 20, told: Collection[str] = ()) -> None:
        self.skip = skip
        self.limit = limit
        self.told = told  # the messages of warnings that need not be repeated
        self.counts: dict[str, int] = {}  # malformed facts per file
        self.warnings: list[Diagnostic] = []
        self._kept: dict[str, list[Diagnostic]] = {}

    @property
    def count(self) -> int:
        return sum(self.counts.values())

    def add(
        self, code: str, message: str, line: FactLine, start: int = 0, end: int | None = None, help: str | None = None
    ) -> None:
        """A malformed line; start and end are the offending characters in it."""
        if self._counted(line.file):
            span = line.span(start, len(line.text) if end is None else end)
            self._kept[line.file].append(Diagnostic(code, message, span, help))

    def add_row(self, code: str, message: str, file: str, row: int | None) -> None:
        """A malformed row of what has no lines: numbered from 1, if its place means anything."""
        if self._counted(file):
            where = file if row is None else f"{file}, row {row}"
            self._kept[file].append(Diagnostic(code, f"{where}: {message}"))

    def warn(self, code: str, message: str, line: FactLine | None = None, help: str | None = None) -> None:
        """Something odd that is not an error."""
        span = None if line is None else line.span(0, len(line.text))
        self.warnings.append(Diagnostic(code, message, span, help, severity=Severity.WARNING))

    def tell_once(self, warning: Diagnostic | None) -> None:
        """A warning that need not be repeated to those who have been told."""
        if warning is not None and warning.message not in self.told and warning not in self.warnings:
            self.warnings.append(warning)

    def _counted(self, file: str) -> bool:
        """Count one more; whether it is among those to keep."""
        self.counts[file] = self.counts.get(file, 0) + 1
        self._kept.setdefault(file, [])
        return self.counts[file] <= self.limit

    def check(self) -> None:
        """Raise what was collected, unless it may be skipped. Afterwards this is empty again."""
        if self.skip or not self.counts:
            return
        found: list[Diagnostic] = []
        for file, kept in self._kept.items():
            found += kept
            more = self.counts[file] - len(kept)
            if more:
                found.append(Diagnostic("TL0629", f"{file}: {more:,} more malformed {_facts(more)}"))
        self.counts, self._kept = {}, {}
        raise TidelogError(found)

    def report(self) -> list[Diagnostic]:
        """What was skipped, as warnings: for each file how many, and the first of them; then the other warnings."""
        found = []
        for file, kept in self._kept.items():
            first = kept[0]
            note = (f"the first one: {first.message}", first.span)
            found.append(_skipped(file, self.counts[file], (note,)))
        return found + self.warnings


def merged(reports: Iterable[Diagnostic]) -> list[Diagnostic]:
    """The reports of several who have read parts of the same files, in order, as that of one who has read them all."""
    found: dict[tuple[str, str], Diagnostic] = {}
    for report in reports:
        skipped = _SKIPPED.fullmatch(report.message) if report.code == "TL0636" else None
        key = report.code, skipped["file"] if skipped else report.message
        first = found.setdefault(key, report)
        if skipped and first is not report:
            before = _SKIPPED.fullmatch(first.message)
            assert before is not None
            count = sum(int(one["count"].replace(",", "")) for one in (before, skipped))
            found[key] = _skipped(skipped["file"], count, first.notes)
    return list(found.values())


_SKIPPED = re.compile(r"(?P<file>.*): (?P<count>[\d,]+) malformed facts? skipped", re.DOTALL)


def _skipped(file: str, count: int, notes: tuple[tuple[str, Span | None], ...]) -> Diagnostic:
    return Diagnostic(
        "TL0636", f"{file}: {count:,} malformed {_facts(count)} skipped", notes=notes, severity=Severity.WARNING
    )


def _facts(count: int) -> str:
    return "fact" if count == 1 else "facts"
