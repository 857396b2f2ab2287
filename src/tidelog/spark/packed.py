"""Diagnostics on their way between processes, as JSON: each with the one line of its source that will be shown."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from tidelog.errors import Diagnostic, LineOrigin, Severity, Source, Span

_MARK = re.compile(r"tidelog problems «(.*?)»", re.DOTALL)


class Problems(Exception):
    """What is wrong with facts; raised in a task, found again by `problems_in` whatever Spark wraps around it."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        super().__init__(f"tidelog problems «{packed_diagnostics(diagnostics)}»")

    def __reduce__(self) -> tuple[type[Exception], tuple[str]]:
        return RuntimeError, (str(self),)


def problems_in(text: str) -> list[Diagnostic]:
    """The problems that a task has raised, from the message of a failed job; none if it failed for another reason."""
    found = _MARK.search(text)
    return [] if found is None else unpacked_diagnostics(found[1])


def packed(diagnostic: Diagnostic) -> dict[str, Any]:
    """What JSON can hold of a diagnostic."""
    return {
        "code": diagnostic.code, "message": diagnostic.message, "span": _packed_span(diagnostic.span),
        "help": diagnostic.help, "notes": [(text, _packed_span(span)) for text, span in diagnostic.notes],
        "severity": diagnostic.severity.value,
    }  # fmt: skip


def _packed_span(span: Span | None) -> list[Any] | None:
    """A span with the one line of its source that will be shown."""
    if span is None:
        return None
    line, column = span.source.line_column(span.start)
    name, number = span.source.origin(line)
    return [name, number, span.source.line_text(line), column, max(1, span.end - span.start)]


def packed_diagnostics(diagnostics: Sequence[Diagnostic]) -> str:
    """Diagnostics as JSON."""
    return json.dumps([packed(d) for d in diagnostics])


def unpacked_diagnostics(text: str) -> list[Diagnostic]:
    return [unpacked(d) for d in json.loads(text)]


def unpacked(d: dict[str, Any]) -> Diagnostic:
    return Diagnostic(
        d["code"], d["message"], _span(d["span"]), d["help"], tuple((text, _span(span)) for text, span in d["notes"]),
        Severity(d["severity"]),
    )  # fmt: skip


def _span(packed: list[Any] | None) -> Span | None:
    if packed is None:
        return None
    name, number, line, column, width = packed
    source = Source(name, line, [LineOrigin(1, name, number)])
    return Span(source, column - 1, min(column - 1 + width, len(line)))
