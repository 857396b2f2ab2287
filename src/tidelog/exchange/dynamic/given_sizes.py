"""What join orders are chosen by before anything is derived: the sizes and distinct values of the facts that are given.

A relation that rules derive is taken to be as large as the largest that is given.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tidelog.evaluate.bindings import Words
from tidelog.plan.steps import View


class GivenSizes:
    """An `estimate.Estimate`."""

    def __init__(self, arities: Mapping[str, int], facts: Mapping[str, Words]) -> None:
        self._arities = arities
        self._sizes = {name: float(len(rows)) for name, rows in facts.items() if len(rows)}
        self._largest = max(self._sizes.values(), default=1.0)
        self._distinct = {
            (name, column): float(len(np.unique(np.asarray(rows)[:, column])))
            for name, rows in facts.items()
            if len(rows)
            for column in range(np.asarray(rows).shape[1])
        }

    def size(self, relation: str, view: View) -> float:
        size = self._sizes.get(relation, self._largest)
        return max(1.0, size / 16) if view is View.DELTA else size

    def fanout(self, relation: str, view: View, columns: tuple[int, ...]) -> float:
        size = self.size(relation, view)
        if (relation, columns[0]) not in self._distinct:
            return float(size ** (1 - len(columns) / max(1, self._arities.get(relation, 1))))
        distinct = float(np.prod([self._distinct[relation, column] for column in columns]))
        return max(size / distinct, 1.0 / size)

    def index_work(self, relation: str, columns: tuple[int, ...]) -> float:
        return 0.0
