"""Warnings about regular expressions in the program's text that can match nothing."""

from __future__ import annotations

from tidelog.analysis.clauses.uses import ProgramUses
from tidelog.errors import Report
from tidelog.lang import tree
from tidelog.patterns import complaint, problem_of


def warn_of_patterns(uses: ProgramUses, report: Report) -> None:
    """A pattern that is written down and is no regular expression; one that comes from data is met in evaluation."""
    for literal in uses.distinct:
        for level in literal.levels():
            for comparison in level.comparisons:
                if comparison.op in ("match", "not_match") and isinstance(comparison.left, tree.String):
                    _check(comparison.left, report)


def _check(pattern: tree.String, report: Report) -> None:
    why = problem_of(pattern.value)
    if why is not None:
        report.warn("TL0870", complaint(pattern.value, why), pattern.span,
                    help="patterns are ECMAScript's, without references back and without looking ahead")  # fmt: skip
