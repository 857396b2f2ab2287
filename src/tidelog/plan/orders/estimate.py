"""How many tuples a step is expected to find: what the join order is chosen by.

`Guess` knows nothing but arities; run-time statistics implement the same protocol with sizes and distinct counts.
"""

from __future__ import annotations

from typing import Protocol

from tidelog.plan.steps import View


class Estimate(Protocol):
    def size(self, relation: str, view: View) -> float:
        """The number of tuples in the view."""
        ...

    def fanout(self, relation: str, view: View, columns: tuple[int, ...]) -> float:
        """How many tuples agree with given values in these columns, on average."""
        ...

    def index_work(self, relation: str, columns: tuple[int, ...]) -> float:
        """The work of making the index on these columns, which a plan that runs once would have to do first."""
        ...


_SIZES = {
    View.ALL: 1e6, View.OLD: 1e6, View.DELTA: 1e3, View.BEFORE: 1e6, View.AFTER: 1e6,
    View.LEFT: 10.0, View.CAME: 10.0, View.LOST: 10.0, View.MOVED: 10.0,
    View.EITHER: 1e6, View.BOTH: 1e6, View.STILL: 1e6,
}  # fmt: skip


class Guess:
    """Without statistics: every bound column divides the size of a relation equally; changes are small."""

    def __init__(self, arities: dict[str, int]) -> None:
        self.arities = arities

    def size(self, relation: str, view: View) -> float:
        return _SIZES[view]

    def fanout(self, relation: str, view: View, columns: tuple[int, ...]) -> float:
        arity = max(1, self.arities[relation])
        return float(_SIZES[view] ** (1 - len(columns) / arity))

    def index_work(self, relation: str, columns: tuple[int, ...]) -> float:
        return 0.0
