"""What the steps of a run share: the database, the user's functors, counters, and how errors find their rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tidelog.analysis.clauses import Clause
from tidelog.errors import TidelogError, error
from tidelog.evaluate.functors import Decoder
from tidelog.lang.souffle_printer import show


class Context:
    """One evaluation of a program over a database."""

    def __init__(
        self,
        database: Any,
        clauses: list[Clause],
        functors: Mapping[str, Callable[..., Any]] | None = None,
        functor_kinds: Mapping[str, Any] | None = None,
    ) -> None:
        self.database = database
        self.decoder = Decoder(database)
        self.clauses = clauses
        self.functors = dict(functors or {})
        self.functor_kinds = dict(functor_kinds or {})
        self.counter = 0
        self.iteration = 0

    def fault(self, rule: int, message: str) -> TidelogError:
        """A run-time error in a rule."""
        clause = self.clauses[rule]
        return error("TL0801", message, clause.span, help=f"in the rule {rule_text(clause)}")


def rule_text(clause: Clause) -> str:
    head = show(clause.head)
    return f"{head} :- {', '.join(map(show, clause.body))}." if clause.body else f"{head}."
