"""Plans that all workers have in common, made by what one of them knows of its relations.

The first worker plans with its own statistics, and tells the others every answer that it was given; they plan with
these answers, and so find the same. What is always true: no worker goes on with other plans than the rest; that they
are the same is checked.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable
from typing import TypeVar

import numpy as np

from tidelog.errors import InternalError
from tidelog.exchange.homes import FIRST
from tidelog.exchange.waves import Waves
from tidelog.plan.orders.estimate import Estimate
from tidelog.plan.steps import View

Planned = TypeVar("Planned")
Asked = tuple[int, int, int, int]
"""What was asked (0 size, 1 fan-out, 2 an index), of which relation and view, for which columns (as bits)."""
VIEWS = list(View)


class Answers:
    """An estimate whose answers are those that were given once: by another estimate, or elsewhere."""

    def __init__(self, relations: Iterable[str], source: Estimate | None = None) -> None:
        self._numbers = {name: number for number, name in enumerate(sorted(relations))}
        self._source = source
        self.given: dict[Asked, float] = {}

    def size(self, relation: str, view: View) -> float:
        return self._answer((0, self._numbers[relation], VIEWS.index(view), 0), lambda s: s.size(relation, view))

    def fanout(self, relation: str, view: View, columns: tuple[int, ...]) -> float:
        asked = 1, self._numbers[relation], VIEWS.index(view), _bits(columns)
        return self._answer(asked, lambda s: s.fanout(relation, view, columns))

    def index_work(self, relation: str, columns: tuple[int, ...]) -> float:
        return self._answer((2, self._numbers[relation], 0, _bits(columns)), lambda s: s.index_work(relation, columns))

    def _answer(self, asked: Asked, ask: Callable[[Estimate], float]) -> float:
        if asked not in self.given:
            if self._source is None:
                raise InternalError(f"a worker plans by what the first was not asked: {asked}")
            self.given[asked] = float(ask(self._source))
        return self.given[asked]


def _bits(columns: tuple[int, ...]) -> int:
    return sum(1 << column for column in columns)


class Agreement:
    """See the module's docstring."""

    def __init__(self, waves: Waves, relations: Iterable[str]) -> None:
        self.waves, self.relations = waves, tuple(relations)

    def planned(self, source: Estimate, plan: Callable[[Estimate], Planned]) -> Planned:
        """What a plan function makes, the same for all."""
        waves = self.waves
        waves.begin()
        answers = Answers(self.relations, source if waves.me == FIRST else None)
        if waves.me == FIRST:
            made = plan(answers)
            told = np.array([(*asked, 0) for asked in answers.given], np.int64).reshape(-1, 5)
            told[:, 4] = np.array(list(answers.given.values()), np.float64).view(np.int64)
            for to in range(waves.size):
                if to != FIRST:
                    waves.send(to, 1, 0, told)
            waves.end(1)
        else:
            waves.end(1)
            ((_, told),) = waves.arrived(1)
            values = np.ascontiguousarray(told[:, 4], np.int64).view(np.float64).tolist()
            answers.given = {(a, b, c, d): v for (a, b, c, d, _), v in zip(told.tolist(), values, strict=True)}
            made = plan(answers)
        marks = waves.end(2, (zlib.crc32(repr(made).encode()),))
        if len(set(marks)) > 1:
            raise InternalError("workers have made different plans of the same answers")
        return made
