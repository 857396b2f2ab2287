"""What the language has and no evaluation can do yet: refused before planning, with the name of the construct."""

from __future__ import annotations

from tidelog.errors import Report, Span
from tidelog.lang import tree


def refuse_unsupported(program: tree.Program, report: Report) -> None:
    """One TL0701 for each use of a construct that a later version will evaluate."""
    for item in program.items:
        match item:
            case tree.RelationDecl():
                if item.delta_of is not None:
                    _refuse("`debug_delta`", item.span, report)


def _refuse(what: str, span: Span | None, report: Report) -> None:
    report.error("TL0701", f"not supported yet: {what}", span)
