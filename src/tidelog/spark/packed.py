"""Diagnostics as a text, for what Spark carries: a column of rows, the message of a task that failed."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tidelog.errors import Diagnostic
from tidelog.wire.codec import dumps_ascii, loads, read
from tidelog.wire.problems import Problem, diagnostics, problems

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


def packed_diagnostics(diagnostics: Sequence[Diagnostic]) -> str:
    return dumps_ascii(problems(diagnostics))


def unpacked_diagnostics(text: str) -> list[Diagnostic]:
    return diagnostics(read(list[Problem], loads(text.encode())))
