"""Diagnostics on their way between processes: all of them, each with the one line of its source that will be shown."""

from __future__ import annotations

from collections.abc import Iterable

from tidelog.errors import Diagnostic, LineOrigin, Severity, Source, Span
from tidelog.plain import dataclass


@dataclass(frozen=True)
class Spot:
    """A span: the file and line that the user wrote, that line, and where in it."""

    name: str
    number: int
    line: str
    column: int
    width: int

    @staticmethod
    def of(span: Span | None) -> Spot | None:
        if span is None:
            return None
        line, column = span.source.line_column(span.start)
        name, number = span.source.origin(line)
        return Spot(name, number, span.source.line_text(line), column, max(1, span.end - span.start))


@dataclass(frozen=True)
class Problem:
    """A diagnostic."""

    code: str
    message: str
    spot: Spot | None
    help: str | None
    notes: list[tuple[str, Spot | None]]
    severity: Severity

    @staticmethod
    def of(diagnostic: Diagnostic) -> Problem:
        d = diagnostic
        notes = [(text, Spot.of(span)) for text, span in d.notes]
        return Problem(d.code, d.message, Spot.of(d.span), d.help, notes, d.severity)

    def diagnostic(self) -> Diagnostic:
        notes = tuple((text, _span(spot)) for text, spot in self.notes)
        return Diagnostic(self.code, self.message, _span(self.spot), self.help, notes, self.severity)


def _span(spot: Spot | None) -> Span | None:
    if spot is None:
        return None
    source = Source(spot.name, spot.line, [LineOrigin(1, spot.name, spot.number)])
    return Span(source, spot.column - 1, min(spot.column - 1 + spot.width, len(spot.line)))


def problems(diagnostics: Iterable[Diagnostic]) -> list[Problem]:
    return [Problem.of(d) for d in diagnostics]


def diagnostics(found: Iterable[Problem]) -> list[Diagnostic]:
    return [problem.diagnostic() for problem in found]
