"""What the steps of a run share: the database, the user's functors, counters, and how errors find their rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from tidelog.analysis.clauses import Clause
from tidelog.errors import TidelogError, error
from tidelog.evaluate.functors import Decoder
from tidelog.evaluate.profile import Recorder


class Context:
    """One evaluation of a program over a database."""

    def __init__(
        self,
        database: Any,
        clauses: list[Clause],
        functors: Mapping[str, Callable[..., Any]] | None = None,
        functor_types: Mapping[str, Any] | None = None,
        recorder: Recorder | None = None,
    ) -> None:
        self.database = database
        self.decoder = Decoder(database)
        self.clauses = clauses
        self.functors = dict(functors or {})
        self.functor_types = dict(functor_types or {})
        self.recorder = recorder
        self.counter = 0
        self.iteration = 0

    def fault(self, rule: int, message: str) -> TidelogError:
        """A run-time error in a rule."""
        clause = self.clauses[rule]
        return error("TL0801", message, clause.span, help=f"in the rule {clause.text}")


def recorded(
    recorder: Recorder | None,
    text: str,
    iteration: int = 0,
    tuples: Callable[[], int] = int,
    stage: str = "other work",
) -> AbstractContextManager[None]:
    """Meanwhile work is done that belongs to no rule: told to the recorder of a profile, if there is one."""
    return nullcontext() if recorder is None else recorder.work(text, iteration, tuples, stage)
