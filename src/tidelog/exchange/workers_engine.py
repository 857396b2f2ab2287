"""An engine whose relations are with workers: what was cut off because one was lost is done again, with others.

What is always true: no epoch that has ended is lost with a worker, and one that had not is run again from its
beginning. A worker may be lost by chance; what loses several one after the other is most likely what they were asked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from tidelog.epochs.budget import Policy
from tidelog.epochs.changes import NetChange
from tidelog.epochs.engine import Engine
from tidelog.epochs.holder import Keeper
from tidelog.epochs.report import EpochReport
from tidelog.errors import error
from tidelog.evaluate.bindings import Words
from tidelog.evaluate.facts import Facts
from tidelog.exchange.many import Many
from tidelog.store import Relation
from tidelog.wire.rendezvous import WorkerLost

Result = TypeVar("Result")
MOST_LOSSES = 3
"""So often one question may lose a worker."""


class WorkersEngine(Engine):
    """See the module's docstring."""

    def __init__(self, many: Many, policy: Policy, keeper: Keeper | None = None) -> None:
        super().__init__(many, policy, keeper)
        self.many = many
        many.insisting = self._insisting

    def bootstrap(self, facts: Mapping[str, Facts]) -> EpochReport:
        given = {name: _lasting(rows) for name, rows in facts.items()}
        return self._insisting(lambda: super(WorkersEngine, self).bootstrap(given))

    def update(self, change: NetChange) -> EpochReport:
        return self._insisting(lambda: super(WorkersEngine, self).update(change))

    def rows(self, name: str) -> Words:
        return self._insisting(lambda: super(WorkersEngine, self).rows(name))

    def count(self, name: str) -> int:
        return self._insisting(lambda: super(WorkersEngine, self).count(name))

    def close(self) -> None:
        self.many.close()

    def _insisting(self, act: Callable[[], Result]) -> Result:
        losses: list[str] = []
        while True:
            try:
                if losses:
                    self.many.recover()
                return act()
            except WorkerLost as problem:
                losses.append(str(problem))
                if len(losses) == MOST_LOSSES:
                    raise error(
                        "TL1273", f"workers were lost {MOST_LOSSES} times, one after the other: {'; '.join(losses)}",
                        help="most likely they needed more memory than there is, and were killed: take more workers on "
                        "more machines, or set limits=tidelog.Limits(max_memory=…) to be told before that",
                    ) from None  # fmt: skip


def _lasting(facts: Facts) -> Facts:
    """Facts that can be entered more than once: those of a relation that is filled are taken into the state by the
    first attempt."""
    if not isinstance(facts, Relation):
        return facts
    rows = facts.rows().copy()
    facts.database.retire(facts)
    return rows
