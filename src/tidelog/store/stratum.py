"""A stratum: plans run semi-naively to their fixpoint, iterations and all in one native call.

What is always true: while it runs, the delta of each of its relations is what the last iteration found, and the
indexes its plans use hold everything up to delta_stop; afterwards all relations are settled. Cost: an iteration
costs what its plans and new rows cost, plus about 0.1 µs per plan, relation and index.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from ctypes import addressof
from typing import TYPE_CHECKING

import numpy as np

from tidelog.plan.steps import Plan, Step
from tidelog.store import codes
from tidelog.store.adaptive import Fewer, alternatives
from tidelog.store.blocks import StratumBlock
from tidelog.store.encoded import Encoded, Scratch
from tidelog.store.faults import ArithmeticFault
from tidelog.store.index import Index
from tidelog.store.memory import address
from tidelog.store.pipeline import Pipeline, encode_together
from tidelog.store.relation import Relation

if TYPE_CHECKING:
    from tidelog.store.database import Database

Progress = Callable[[int, int], None]
FOREVER = 1 << 62


def _delta(relation: Relation) -> int:
    return relation.delta_stop - relation.delta_start


class NativeStratum:
    """See the module's docstring. Made by `Database.stratum`."""

    def __init__(self, database: Database, relations: Sequence[str], plans: Sequence[Plan]) -> None:
        self.database, self.plans = database, tuple(plans)
        self.relations = [database[name] for name in relations]
        self.iterations, self.finished = 0, False
        parts = [
            (i, s) for i, p in enumerate(self.plans) for s in alternatives(p.steps, lambda name: database[name].arity)
        ]
        self._plan_of = [i for i, _ in parts]
        self._teams = [self._copies([s for _, s in parts], frozenset(relations)) for _ in range(database.threads)]
        self.pipelines = self._teams[0]
        self._loop = [k for k, i in enumerate(self._plan_of) if self.plans[i].pivot is not None]
        self._once = [k for k, i in enumerate(self._plan_of) if self.plans[i].pivot is None]

    def _copies(self, parts: list[tuple[Step | Fewer, ...]], changing: frozenset[str]) -> list[Pipeline]:
        """One thread's pipelines; they never run at the same time, so they share their scratch."""
        scratch = Scratch(self.database.chunk)
        return [Pipeline(self.database, steps, changing=changing, scratch=scratch) for steps in parts]

    def _per_plan(self, figure: Callable[[Pipeline], int]) -> list[int]:
        """A figure of each plan, summed over its alternatives and the threads."""
        sums = [0] * len(self.plans)
        for team in self._teams:
            for i, pipeline in zip(self._plan_of, team, strict=True):
                sums[i] += figure(pipeline)
        return sums

    @property
    def derivations(self) -> list[int]:
        """Per plan, tuples emitted, known ones included."""
        return self._per_plan(lambda p: p.derivations)

    @property
    def seconds(self) -> list[float]:
        """Per plan, time spent, summed over threads."""
        per_second = self.database.cycles_per_second()
        return [c / per_second for c in self._per_plan(lambda p: p.cycles)]

    @property
    def effort(self) -> int:
        """Bindings made, over all plans."""
        return sum(p.effort for team in self._teams for p in team)

    def tuples(self) -> int:
        return sum(r.count for r in self.relations)

    def run(
        self,
        progress: Progress | None = None,
        every_iteration: bool = False,
        after: int = 0,
        most: int = FOREVER,
        begin: Callable[[], None] | None = None,
    ) -> int:
        """Iterate until nothing is new; the number of iterations. `begin` may insert what the first one finds.

        `progress(iteration, tuples)` may raise to stop; everything derived so far then stays. A run that comes to
        `most` iterations stops between two of them, not `finished`; this or another stratum of the same relations, with
        other plans perhaps, goes on `after` that many.
        """
        self.iterations, self.finished = after, True
        self._progress, self._last = progress, time.monotonic()
        self._encode()
        try:
            if after == 0:
                self._begin(begin)
            if self._loop:
                self.finished = self._iterate(every_iteration, most)
        finally:
            if self.finished:
                for relation in self.relations:
                    relation.settle()
        self._report(always=True)
        return self.iterations

    def _begin(self, begin: Callable[[], None] | None) -> None:
        """The plans that run once, and the first delta: all that they find, besides the facts.

        With state, iteration 1 is what is found from the facts alone, so its delta is the facts.
        """
        counts = any(relation.stateful for relation in self.relations)
        if counts:
            self._restart()
        if begin is not None:
            begin()
        for i in self._once:
            self._run_plan(i)
        if not counts:
            self._restart()

    def _restart(self) -> None:
        for relation in self.relations:
            relation.restart()

    def _report(self, always: bool = False) -> None:
        if self._progress is not None and (always or time.monotonic() - self._last > 0.05):
            self._progress(self.iterations, self.tuples())
            self._last = time.monotonic()

    def _encode(self) -> None:
        encode_together([p for team in self._teams for p in team])

    def _run_plan(self, i: int) -> None:
        """Run one plan to its end, on all threads if its scan is large."""
        team = [pipelines[i].encoded() for pipelines in self._teams]
        for index, _ in team[0].indexes:
            self.database.update(index)
        if self._scanned(team[0]) < self.database.parallel_from:
            team = team[:1]
        with self._blaming(part=i):
            self.database.crew.run(team, self._report)

    @contextmanager
    def _blaming(self, loop: int | None = None, part: int = 0) -> Iterator[None]:
        """A fault raised inside says in its `plan` which plan it belongs to (of the loop, or of all parts)."""
        try:
            yield
        except ArithmeticFault as fault:
            fault.plan = self._plan_of[part if loop is None else self._loop[loop]]
            raise

    def _scanned(self, encoded: Encoded) -> int:
        """How many rows a plan scans."""
        scan = encoded.scan
        if scan is None:
            return 1
        relation = self.database.relation_at(scan.relation)
        start = relation.delta_start if scan.viewed == codes.DELTA else 0
        return relation.delta_stop - start

    def _iterate(self, every_iteration: bool, most: int) -> bool:
        """Whether the fixpoint was reached within this many iterations."""
        database, block = self.database, StratumBlock(max_iterations=most, iteration=self.iterations)
        plans = {self.pipelines[i].encoded().address: self.pipelines[i].encoded() for i in self._loop}
        indexes = {x.address: x for encoded in plans.values() for x, _ in encoded.indexes}
        new = sum(relation.count if self.iterations == 0 else _delta(relation) for relation in self.relations)
        database.crew.update(list(indexes.values()))
        growing = [x for x in indexes.values() if x.relation in self.relations]
        addresses = (plans, [r.address for r in self.relations], [x.address for x in growing])
        lists = [np.array(list(a), np.int64) for a in addresses]
        block.nplan, block.nrelation, block.nindex = map(len, lists)
        block.plans, block.relations, block.indexes = map(address, lists)
        block.scratch = address(database.scratch)
        block.threshold = 0 if every_iteration else database.parallel_from
        for encoded in plans.values():
            encoded.plan.level = -1
        while True:
            while new >= database.parallel_from:
                new = self._iterate_together(growing)
                block.iteration = self.iterations
                self._report(every_iteration)
                if new and self.iterations >= most:
                    return False
            if new == 0:
                return True
            status = database.kernels.run_stratum(addressof(block))
            self.iterations, new = block.iteration, -1
            if status == codes.DONE:
                return True
            self._serve(status, block.subject, plans, indexes)
            if status == codes.PAUSE and block.subject == 0:  # between two iterations
                new = block.new
                self._report(every_iteration)
                if self.iterations >= most:
                    return False
            else:
                self._report()

    def _iterate_together(self, growing: list[Index]) -> int:
        """One iteration on all threads; the number of new tuples."""
        for i in self._loop:
            team = [pipelines[i].encoded() for pipelines in self._teams]
            for encoded in team:
                encoded.plan.iteration = self.iterations
            if self._scanned(team[0]) < self.database.parallel_from // 4:
                team = team[:1]
            with self._blaming(part=i):
                self.database.crew.run(team, self._report)
            for encoded in team:
                encoded.plan.level = -1
        new = sum([relation.advance() for relation in self.relations])
        self.iterations += 1
        self.database.crew.update(growing)
        return new

    def _serve(self, status: int, subject: int, plans: dict[int, Encoded], indexes: dict[int, Index]) -> None:
        if subject in plans:
            with self._blaming(list(plans).index(subject)):
                self.database.serve_plan(status, plans[subject])
        elif subject in indexes:
            self.database.serve_index(status, indexes[subject])
        else:
            assert status == codes.PAUSE
