"""Advice for the mistakes that people make in a dialect: a syntax error in its own words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from tidelog.errors import Diagnostic
from tidelog.plain import replace


class Advice(NamedTuple):
    """What to say instead when a syntax error stands where the pattern matches; no message keeps the usual one."""

    pattern: re.Pattern[str]
    message: str | None
    help: str


def advise(problem: Diagnostic, text: str, advice: Sequence[Advice]) -> Diagnostic:
    if problem.code != "TL0101" or problem.span is None:
        return problem
    for known in advice:
        if known.pattern.match(text, problem.span.start):
            return replace(problem, message=known.message or problem.message, help=known.help)
    return problem
