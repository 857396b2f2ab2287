"""An update of a stratum in which only the best value of a key counts, run natively; or its evaluation from nothing.

Like `update.py`, with ranks for iterations: counts wait in a heap, and what is settled in a round is the least rank.
The relations have ranks (`rank_states.py`). What is always true: as there; and a row that is there, with its rank, is
final once its rank was settled. Cost: the derivations at keys whose rank changes, twice, and a heap's depth for each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tidelog.plan.steps import Step
from tidelog.store import codes
from tidelog.store.adaptive import Fewer
from tidelog.store.blocks import words_at
from tidelog.store.index import Index
from tidelog.store.memory import address
from tidelog.store.pending import Pending
from tidelog.store.update import UNLIMITED, NativeUpdate, Stages, Watch

if TYPE_CHECKING:
    from tidelog.store.database import Database

SCRATCH_COLUMNS = 4


class RankUpdate(NativeUpdate):
    """See the module's docstring. `from_nothing`: the relations hold only facts, and there is nothing to undo."""

    def __init__(
        self,
        database: Database,
        own: Sequence[str],
        plans: Sequence[tuple[Step, ...]],
        stages: Callable[[int, Pending], Stages],
        from_nothing: bool = False,
    ) -> None:
        super().__init__(database, own, plans, stages)
        self.keys = [relation.keys for relation in self.own if relation.keys is not None]
        known = {relation.address for relation in self.relations}
        self.relations += [keys for keys in self.keys if keys.address not in known]
        self.from_nothing = from_nothing
        width = max((relation.arity for relation in self.own), default=0) + SCRATCH_COLUMNS
        self._entry = np.zeros((width, 8), np.int64)
        self._entry_columns = address(self._entry) + self._entry.strides[0] * np.arange(width)
        self.block.entry = address(self._entry_columns)
        self._first_round = 0

    def _alternatives(self, steps: tuple[Step, ...]) -> list[tuple[Step | Fewer, ...]]:
        return [steps]

    @property
    def stale(self) -> bool:
        """Whether a relation that it was made for has been replaced, or its keys were numbered anew."""
        if any(not relation.ranked for relation in self.own):
            return True
        keys = [relation.keys for relation in self.own if relation.keys is not None]
        replaced = any(self.database.relations.get(r.name) is not r for r in self.relations if r not in self.keys)
        return replaced or keys != self.keys

    @property
    def bucket(self) -> int:
        """How many ranks were settled."""
        return self.block.round - self._first_round

    def new_round(self) -> int:
        """The number of a round before the first: facts that have changed moved in it."""
        self._first_round = self.database.rounds + 1
        return self._first_round

    def run(self, budget: int = UNLIMITED, watch: Watch | None = None) -> None:
        """Run to the end, from what has changed before `new_round`; counts that were told meanwhile wait already."""
        try:
            super().run(budget, watch)
        finally:
            self.database.rounds = max(self.database.rounds, self.block.round)
            for keys in self.keys:
                keys.block.lost.count = keys.block.moved.count = 0

    def prepare(self) -> list[Index]:
        """As in an update. From nothing, lower strata are complete, and so are their indexes before the first round."""
        behind = super().prepare()
        if not self.from_nothing:
            return behind
        self.database.crew.update(list(self._indexes.values()))
        growing = [address for address, index in self._indexes.items() if index.relation in self.own]
        own, relations = ([r.address for r in known] for known in (self.own, self.relations))
        self._lists = self._point_to(list(self._plans), own, relations, growing)
        return []

    def ready(self) -> None:
        """Before plans tell anything."""
        self.block.round, self.block.bucket = self._first_round, 0
        self.block.from_nothing = self.from_nothing
        for relation in (*self.own, *self.keys):
            relation.block.update, relation.block.own = self.pending.address, True
            relation.iteration = codes.NEVER  # rows that are entered are not there until they are found

    def _begin(self, budget: int) -> None:
        lower = [(r, r.dirty, r.iteration) for r in self.relations if r not in self.own and r not in self.keys]
        super()._begin(budget)
        for relation, dirty, iteration in lower if self.from_nothing else ():
            relation.dirty, relation.iteration = dirty, iteration  # nothing happens to them
        self.ready()

    def _call(self) -> int:
        return self.database.kernels.run_rank_update(self.pending.address)

    def _serve(self, status: int, subject: int) -> None:
        if status == codes.GROW_HEAP:
            self.pending.grow(status)
        elif status in (codes.GROW_ROWS, codes.GROW_IDENTITY, codes.MISFIT) and subject not in self._plans:
            relation = self.database.relation_at(subject)
            if status == codes.GROW_ROWS:
                relation.grow_rows(self.database.chunk)
            elif status == codes.GROW_IDENTITY:
                relation.grow_identity(self.database.chunk)
            else:
                values = [words_at(column, 1)[0] for column in self._entry_columns[: relation.arity].tolist()]
                relation.refit(values, values)
        else:
            super()._serve(status, subject)
