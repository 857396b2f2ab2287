"""A stratum: plans run semi-naively to their fixpoint, iterations and all in one native call.

What is always true: while it runs, the delta of each of its relations is what the last iteration found, and the
indexes its plans use hold everything up to delta_stop; afterwards all relations are settled. Cost: an iteration
costs what its plans and new rows cost, plus about 0.1 µs per plan, relation and index.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tidelog.plan.steps import Plan
from tidelog.store import layout as y
from tidelog.store.encode import Encoded, Scratch
from tidelog.store.index import Index
from tidelog.store.memory import address
from tidelog.store.pipeline import Pipeline

if TYPE_CHECKING:
    from tidelog.store.database import Database

Progress = Callable[[int, int], None]


class Stratum:
    """See the module's docstring. Made by `Database.stratum`."""

    def __init__(self, database: Database, relations: Sequence[str], plans: Sequence[Plan]) -> None:
        self.database, self.plans = database, tuple(plans)
        self.relations = [database[name] for name in relations]
        self.iterations = 0
        self._scratch = Scratch(database.chunk)
        changing = frozenset(relations)
        self.pipelines = [Pipeline(database, p.steps, changing=changing, scratch=self._scratch) for p in self.plans]
        self._loop = [q for p, q in zip(self.plans, self.pipelines, strict=True) if p.pivot is not None]
        self._once = [q for p, q in zip(self.plans, self.pipelines, strict=True) if p.pivot is None]

    @property
    def derivations(self) -> list[int]:
        """Per plan, tuples emitted, known ones included."""
        return [p.derivations for p in self.pipelines]

    @property
    def seconds(self) -> list[float]:
        """Per plan, time spent."""
        return [p.cycles / self.database.cycles_per_second() for p in self.pipelines]

    def tuples(self) -> int:
        return sum(r.count for r in self.relations)

    def run(self, progress: Progress | None = None, every_iteration: bool = False) -> int:
        """Iterate until nothing is new; the number of iterations.

        `progress(iteration, tuples)` may raise to stop; everything derived so far then stays.
        """
        self.iterations = 0
        self._encode()
        try:
            for pipeline in self._once:
                self._run_once(pipeline, progress)
            if self._loop:
                self._iterate(progress, every_iteration)
        finally:
            for relation in self.relations:
                relation.settle()
        if progress is not None:
            progress(self.iterations, self.tuples())
        return self.iterations

    def _encode(self) -> None:
        """Encode all plans; the coverage that one asks of an index may make another stale, so until none is."""
        while any([p.encoded().stale for p in self.pipelines]):
            pass

    def _run_once(self, pipeline: Pipeline, progress: Progress | None) -> None:
        encoded = pipeline.encoded()
        for index, _ in encoded.indexes:
            self.database.update(index)
        encoded.plan[y.P_LEVEL // 8] = -1
        at = address(encoded.plan)
        while (status := self.database.kernels.run_plan(at)) != y.DONE:
            self.database.serve_plan(status, encoded)
            if status == y.PAUSE and progress is not None:
                progress(0, self.tuples())

    def _indexes(self) -> dict[int, Index]:
        return {i.address: i for p in self._loop for i, _ in p.encoded().indexes}

    def _iterate(self, progress: Progress | None, every_iteration: bool) -> None:
        database, block = self.database, np.zeros(y.T_SIZE, np.int64)
        plans = {address(p.encoded().plan): p.encoded() for p in self._loop}
        indexes = self._indexes()
        for relation in self.relations:
            relation.restart()
        for index in indexes.values():
            database.update(index)
        growing = [a for a, i in indexes.items() if i.relation in self.relations]
        lists = [np.array(list(a), np.int64) for a in (plans, [r.address for r in self.relations], growing)]
        pairs = ((y.T_NPLAN, y.T_PLANS), (y.T_NRELATION, y.T_RELATIONS), (y.T_NINDEX, y.T_INDEXES))
        for (count, pointer), array in zip(pairs, lists, strict=True):
            block[count // 8], block[pointer // 8] = len(array), address(array)
        block[y.T_SCRATCH // 8] = address(database.scratch)
        block[y.T_THRESHOLD // 8] = 0 if every_iteration else 2**62
        block[y.T_MAX_ITERATIONS // 8] = 2**62
        for encoded in plans.values():
            encoded.plan[y.P_LEVEL // 8] = -1
        last = time.monotonic()
        while True:
            status = database.kernels.run_stratum(address(block))
            self.iterations = int(block[y.T_ITERATION // 8])
            if status == y.DONE:
                break
            self._serve(status, int(block[y.T_SUBJECT // 8]), plans, indexes)
            if progress is not None and (every_iteration or time.monotonic() - last > 0.05):
                progress(self.iterations, self.tuples())
                last = time.monotonic()

    def _serve(self, status: int, subject: int, plans: dict[int, Encoded], indexes: dict[int, Index]) -> None:
        if subject in plans:
            self.database.serve_plan(status, plans[subject])
        elif subject in indexes:
            self.database.serve_index(status, indexes[subject])
        else:
            assert status == y.PAUSE
