"""A transaction of the shell: changes in the order in which they were said, until they become one epoch.

What is always true: for each fact only the last thing said about it counts, so that an insertion followed by a deletion
deletes, as in DDlog. Changes separated by commas wait in a queue and are checked together; each knows its place in the
script.
"""

from __future__ import annotations

from typing import Any

from tidelog.cli.command_values import row_of, tuples_of
from tidelog.cli.commands import ChangeCommand
from tidelog.errors import Diagnostic, Span, TidelogError
from tidelog.plain import dataclass, field, replace
from tidelog.session import Epoch, Session


@dataclass
class _Pending:
    """What is to happen to the facts of a relation: all go if `cleared`; then each is there afterwards, or is not."""

    cleared: bool = False
    facts: dict[tuple[Any, ...], bool] = field(default_factory=dict)


class Transaction:
    """Collects changes over a session and commits them as one epoch."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._queue: list[tuple[ChangeCommand, Span]] = []
        self._pending: dict[str, _Pending] = {}

    def add(self, change: ChangeCommand, span: Span) -> None:
        """One more change, to be checked with `apply`."""
        self._queue.append((change, span))

    def apply(self) -> None:
        """Check what waits and accept it; if anything is wrong, nothing of the queue is accepted."""
        queue, self._queue = self._queue, []
        accepted: list[tuple[str, list[tuple[ChangeCommand, Span]], list[tuple[Any, ...]]]] = []
        problems: list[Diagnostic] = []
        for relation in dict.fromkeys(change.relation for change, _ in queue):
            own = [(change, span) for change, span in queue if change.relation == relation]
            try:
                accepted.append((relation, own, self._checked(relation, own)))
            except TidelogError as problem:
                problems += problem.diagnostics
        if problems:
            raise TidelogError(problems)
        for relation, own, rows in accepted:
            facts = self._pending.setdefault(relation, _Pending()).facts
            for (change, _), row in zip(own, rows, strict=True):
                facts[row] = change.insert

    def clear(self, relation: str) -> None:
        """Delete all facts of a relation, whatever was said about them before."""
        self._session.validated(relation, [])
        self._pending[relation] = _Pending(cleared=True)

    def commit(self) -> Epoch[Any]:
        """The changes as one epoch."""
        insert, delete = (
            {name: [row for row, there in p.facts.items() if there is wanted] for name, p in self._pending.items()}
            for wanted in (True, False)
        )
        return self._session.update(
            insert={name: rows for name, rows in insert.items() if rows},
            delete={n: rows for n, rows in delete.items() if rows and not self._pending[n].cleared},
            clear=[name for name, pending in self._pending.items() if pending.cleared],
        )

    def __len__(self) -> int:
        """How many things are to be done."""
        return len(self._queue) + sum(p.cleared + len(p.facts) for p in self._pending.values())

    def _checked(self, relation: str, changes: list[tuple[ChangeCommand, Span]]) -> list[tuple[Any, ...]]:
        """The facts of one relation as rows; the errors of all that are wrong, each at its place."""
        try:
            return self._rows(relation, [change for change, _ in changes])
        except TidelogError:
            problems = []
            for change, span in changes:
                try:
                    self._rows(relation, [change])
                except TidelogError as problem:
                    problems += [replace(d, span=d.span or span) for d in problem.diagnostics]
            raise TidelogError(problems) from None

    def _rows(self, relation: str, changes: list[ChangeCommand]) -> list[tuple[Any, ...]]:
        info = self._session.checked.relations.get(relation)
        types = self._session.checked.types
        rows = [row_of(change.row, info, types) for change in changes] if info is not None else []
        if info is not None and not info.arity:
            self._session.validated(relation, rows)
            return [()] * len(rows)
        return tuples_of(self._session.validated(relation, rows))
