"""The derivations that a plan finds, as row numbers: what set algebra over the state is done with.

A plan that names its derivations (`File`) is run with a sink in its place. Those that are not wanted are dropped as
they come, so that memory holds only the others. What is always true: a derivation comes once per plan; parts are in the
order of the rule's body.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

import numpy as np
from numpy.typing import NDArray

from tidelog.evaluate.bindings import Words
from tidelog.evaluate.stages import PlanRun
from tidelog.evaluate.state import State
from tidelog.plain import dataclass, replace
from tidelog.plan import steps
from tidelog.plan.steps import MatchedRow, Role, Slot
from tidelog.store import NEVER, Pipeline
from tidelog.store.pipeline import encode_together


@dataclass
class Found:
    """Derivations: their heads, as tuples, and for each part of the body the rows that it matched (-1: none)."""

    heads: Words
    rows: Words
    parts: tuple[MatchedRow, ...]

    def __len__(self) -> int:
        return len(self.heads)

    def keep(self, chosen: NDArray[np.bool_]) -> Found:
        return Found(self.heads[chosen], self.rows[chosen], self.parts)


Wanted = Callable[[Found], NDArray[np.bool_]]


class DerivationRows:
    """A plan that ends with `File`, ready to be run again and again."""

    def __init__(self, state: State, plan: steps.Plan, own: Collection[str]) -> None:
        filed = plan.steps[-1]
        assert isinstance(filed, steps.File)
        self.relation, self.args, self.arrives = filed.relation, filed.args, filed.arrives
        self.parts = filed.parts
        emit = steps.Emit(filed.relation, (*filed.args, *(Slot(part.row) for part in self.parts)))
        self._wanted: Wanted | None = None
        self._pieces: list[Found] = []
        self._run = PlanRun(state.context, replace(plan, steps=(*plan.steps[:-1], emit)), self._take, tuple(own))

    @property
    def effort(self) -> int:
        return self._run.effort

    @property
    def pipelines(self) -> list[Pipeline]:
        return self._run.pipelines

    def run(self, wanted: Wanted | None = None) -> Found:
        """The derivations, or those of them that are wanted."""
        self._wanted, self._pieces = wanted, []
        self._run.run()
        pieces, self._pieces = self._pieces, []
        if not pieces:
            return self._found(np.empty((0, len(self.args) + len(self.parts)), np.int64))
        if len(pieces) == 1:
            return pieces[0]
        return Found(np.concatenate([p.heads for p in pieces]), np.concatenate([p.rows for p in pieces]), self.parts)

    def _take(self, rows: Words) -> None:
        found = self._found(rows)
        self._pieces.append(found if self._wanted is None else found.keep(self._wanted(found)))

    def _found(self, rows: Words) -> Found:
        return Found(rows[:, : len(self.args)], rows[:, len(self.args) :], self.parts)


def prepare(state: State, derivations: Iterable[DerivationRows]) -> None:
    """Build the indexes that plans need."""
    pipelines = [pipeline for each in derivations for pipeline in each.pipelines]
    encode_together(pipelines)
    for index in {index.address: index for p in pipelines for index, _ in p.encoded().indexes}.values():
        state.database.update(index)


class Iterations:
    """In which iteration of a stratum tuples are: before the epoch and now. NEVER: not at all.

    Tuples of lower strata are the stratum's input: they are in iteration 0, whatever iteration found them below.
    """

    def __init__(self, state: State, own: Collection[str]) -> None:
        self.state, self.own = state, own

    def of(self, name: str, rows: Words) -> tuple[Words, Words]:
        """Before and now, of rows by number; -1 is no row."""
        relation = self.state.database[name]
        if relation.count == 0:
            return np.full(len(rows), NEVER), np.full(len(rows), NEVER)
        before, now = relation.before(rows).astype(np.int64), relation.now(rows).astype(np.int64)
        if name not in self.own:
            before[before != NEVER] = 0
            now[now != NEVER] = 0
        before[rows < 0] = now[rows < 0] = NEVER
        return before, now

    def of_parts(self, found: Found) -> tuple[Words, Words]:
        """The iterations of each derivation's parts, before and now."""
        before, now = np.empty_like(found.rows), np.empty_like(found.rows)
        for i, part in enumerate(found.parts):
            before[:, i], now[:, i] = self.of(part.relation, found.rows[:, i])
        return before, now


def level(found: Found, iterations: Words) -> Words:
    """The greatest iteration of each derivation's positive parts; 0 if it has none."""
    return np.max(iterations[:, ~is_negated(found)], axis=1, initial=0)


def is_negated(found: Found) -> NDArray[np.bool_]:
    """Which parts are negated."""
    return np.array([part.role is Role.NEGATED for part in found.parts], np.bool_)
