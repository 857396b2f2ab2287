"""An update of one stratum, run natively: from the rows that changed below it and among its facts to its new state.

How to use it: `list_changes` for every relation that changed, then `run`; afterwards the state columns of the rows hold
the new state beside the one before, and each relation's log says which rows were changed. What is always true: no row
moves; what is written can be undone from the logs. Cost: proportional to the derivations that the change affects.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tidelog.plan.steps import Step
from tidelog.store import layout as y
from tidelog.store.adaptive import alternatives
from tidelog.store.encoded import Encoded, Scratch
from tidelog.store.faults import ArithmeticFault
from tidelog.store.filing import Filing
from tidelog.store.memory import Array, address
from tidelog.store.pipeline import Pipeline
from tidelog.store.relation import Relation

if TYPE_CHECKING:
    from tidelog.store.database import Database

UNLIMITED = 1 << 62


class OverBudget(Exception):
    """The update has cost more than it was allowed to; what it has done is to be undone."""


class Update:
    """See the module's docstring. `own` are the stratum's relations; `plans` begin with a list of rows and file."""

    def __init__(self, database: Database, own: Sequence[str], plans: Sequence[tuple[Step, ...]]) -> None:
        self.database = database
        self.own = [database[name] for name in own]
        self.filing = Filing(database.__getitem__)
        self.block = self.filing.block
        scratch = Scratch(database.chunk)
        arity = {r.name: r.arity for r in database}.__getitem__
        parts = [(i, s) for i, steps in enumerate(plans) for s in alternatives(steps, arity)]
        self._plan_of = [i for i, _ in parts]
        self._pipelines = [
            Pipeline(database, steps, changing=frozenset(own), scratch=scratch, filing=self.filing)
            for _, steps in parts
        ]
        self.relations = list({r.address: r for r in self._named(plans)}.values())

    def _named(self, plans: Sequence[tuple[Step, ...]]) -> list[Relation]:
        names = [m.relation for steps in plans for s in steps if (m := getattr(s, "match", None)) is not None]
        return [*self.own, *(self.database[name] for name in dict.fromkeys(names))]

    @property
    def work(self) -> int:
        """Bindings made so far: what the budget counts."""
        return int(self.block[y.U_WORK // 8])

    @property
    def events(self) -> int:
        return int(self.block[y.U_EVENTS // 8])

    @property
    def bucket(self) -> int:
        """The iteration that was settled last."""
        return int(self.block[y.U_BUCKET // 8])

    def prepare(self) -> None:
        """Encode the plans and build the indexes that they need."""
        encoded = self._encode()
        for index in {x.address: x for e in encoded for x, _ in e.indexes}.values():
            self.database.update(index)

    def _encode(self) -> list[Encoded]:
        while sum(p.encoded().stale for p in self._pipelines):
            pass
        return [p.encoded() for p in self._pipelines]

    def run(self, budget: int = UNLIMITED, watch: Callable[[int, int], None] | None = None) -> None:
        """Run to the end. `watch(bucket, work)` is called now and then; it may raise to stop."""
        encoded = self._encode()
        indexes = {x.address: x for e in encoded for x, _ in e.indexes}
        plans = {address(e.plan): i for i, e in enumerate(encoded)}
        lists = [
            np.array(a, np.int64)
            for a in (list(plans), [r.address for r in self.own], [r.address for r in self.relations], list(indexes))
        ]
        places = ((y.U_NPLAN, y.U_PLANS), (y.U_NOWN, y.U_OWN), (y.U_NALL, y.U_ALL), (y.U_NINDEX, y.U_INDEXES))
        for (count, pointer), array in zip(places, lists, strict=True):
            self.block[count // 8], self.block[pointer // 8] = len(array), address(array)
        self.block[y.U_PHASE // 8], self.block[y.U_POSITION // 8] = y.PHASE_EXTEND, 0
        self.block[y.U_BUCKET // 8] = self.block[y.U_WORK // 8] = self.block[y.U_EVENTS // 8] = 0
        self.block[y.U_SCRATCH // 8] = address(self.database.scratch)
        self.block[y.U_BUDGET // 8] = budget
        for e in encoded:
            e.plan[y.P_LEVEL // 8], e.plan[y.P_EFFORT // 8] = -1, 0
        for relation in self.relations:
            relation.dirty, relation.iteration = True, y.NEVER
        while (status := self.database.kernels.run_update(self.filing.address)) != y.DONE:
            subject = int(self.block[y.U_SUBJECT // 8])
            if status in (y.GROW_EVENTS, y.GROW_BUCKETS, y.GROW_SEEN):
                self.filing.grow(status)
            elif status == y.GROW_LISTS:
                self.database.relation_at(subject).grow_lists(int(self.block[y.U_NEED // 8]))
            elif subject in indexes:
                self.database.serve_index(status, indexes[subject])
            elif subject in plans:
                self._serve_plan(status, plans[subject], encoded)
            if status == y.PAUSE:
                running = 0 if subject == 0 else int(encoded[plans[subject]].plan[y.P_EFFORT // 8])
                if self.work + running > budget:
                    raise OverBudget
                if watch is not None:
                    watch(self.bucket, self.work + running)
        for relation in self.relations:
            relation.settle()

    def _serve_plan(self, status: int, i: int, encoded: list[Encoded]) -> None:
        try:
            self.database.serve_plan(status, encoded[i])
        except ArithmeticFault as fault:
            fault.plan = self._plan_of[i]
            raise


def changed_rows(relation: Relation) -> tuple[Array, Array]:
    """The rows that the log says were changed and that are there now but were not before, and the other way round."""
    rows = np.unique(relation.log[:, 0])
    state = relation.state(rows)
    before, now = state[:, y.BEFORE_NOW] != y.NEVER, state[:, y.NOW] != y.NEVER
    return rows[now & ~before], rows[before & ~now]
