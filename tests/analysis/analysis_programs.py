"""What the tests of this folder share: checking a text without the checks that are not under test."""

from __future__ import annotations

from tidelog.analysis.clauses import Clause, clauses_of
from tidelog.analysis.safety import check_grounded
from tidelog.analysis.types import TypeSystem
from tidelog.analysis.types.declarations import types_of
from tidelog.analysis.types.typing import ClauseTypes, infer
from tidelog.errors import Report
from tidelog.lang import tree
from tidelog.lang.souffle import parse


def types_in(text: str) -> tuple[TypeSystem, Report]:
    report = Report()
    return types_of(parse(text, "test.dl"), report), report


def typed(text: str) -> tuple[list[ClauseTypes], Report]:
    report = Report()
    program = parse(text, "test.dl")
    clauses = clauses_of(program, report)
    return infer(clauses, types_of(program, report), report), report


def last(text: str) -> ClauseTypes:
    """The types of the last clause of a program without mistakes."""
    result, report = typed(text)
    assert report.errors == []
    return result[-1]


def grounded(text: str, inline: tuple[str, ...] = ()) -> Report:
    report = Report()
    check_grounded(clauses_of(parse(text, "test.dl"), report), report, inline)
    return report


def messages(report: Report) -> list[str]:
    return [d.message for d in report.errors]


def terms(clause: Clause, kind: type[tree.SyntaxNode]) -> list[tree.SyntaxNode]:
    """All nodes of a kind in a clause, the head's first."""
    return [n for literal in (clause.head, *clause.body) for n in literal.walk() if isinstance(n, kind)]
