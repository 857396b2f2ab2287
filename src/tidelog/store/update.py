"""An update of one stratum, run natively: from the rows that changed below it and among its facts to its new state.

How to use it: list the changed rows (`Relation.list_rows`), then `run`; afterwards the state columns of the rows hold
the new state beside the one before, and each relation's log says which rows were changed. What is always true: no row
moves; what is written can be undone from the logs. Cost: proportional to the derivations that the change affects.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from tidelog.plan.steps import Absent, Exists, Match, Probe, Scan, Step
from tidelog.store import codes
from tidelog.store.adaptive import Fewer, alternatives
from tidelog.store.encoded import Scratch
from tidelog.store.faults import ArithmeticFault, NotWorse
from tidelog.store.index import Index
from tidelog.store.memory import Array, address
from tidelog.store.operations import is_native
from tidelog.store.pending import Pending
from tidelog.store.pipeline import Pipeline, encode_together
from tidelog.store.relation import Relation

if TYPE_CHECKING:
    from tidelog.store.database import Database

UNLIMITED = 1 << 62
SLICE = 1 << 20
"""Bindings between two looks at the budget and the clock."""
MANY = 1 << 12
"""New rows beyond which an index is brought up to date before the loop, which does it row by row."""
SMALL = 1 << 18
"""An index of a relation with fewer rows costs little."""

Watch = Callable[[int, int], None]


class OverBudget(Exception):
    """The update has cost more than it was allowed to; what it has done is to be undone."""


class Stages(Protocol):
    """A plan with steps that are not native: pipelines, the first of which scans a list, and Python between them."""

    @property
    def pipelines(self) -> list[Pipeline]: ...

    @property
    def effort(self) -> int: ...

    def run(self) -> None: ...


class NativeUpdate:
    """See the module's docstring. `own` are the stratum's relations; `plans` begin with a list of rows and tell heads.

    `stages` makes what runs a plan (by its number) that is not native. Where several stores update a stratum together,
    `between` two rounds they tell each other what they have found, and agree on the next bucket (None: there is none).
    """

    def __init__(
        self,
        database: Database,
        own: Sequence[str],
        plans: Sequence[tuple[Step, ...]],
        stages: Callable[[int, Pending], Stages],
        between: Callable[[], int | None] | None = None,
    ) -> None:
        self.database, self._between = database, between
        self.own = [database[name] for name in own]
        self.pending = Pending(own)
        self.block = self.pending.block
        self.relations = list({r.address: r for r in [*self.own, *self._named(plans)]}.values())
        self._plan_of: list[int] = []
        self._pipelines: list[Pipeline] = []  # for a plan with stages, its first
        self._stages: dict[int, Stages] = {}  # by place among the pipelines
        self._encoded_for = -1
        self._probed = {(m.relation, _columns(m)) for steps in plans for m in _matches(steps)}
        scratch = Scratch(database.chunk)
        for number, steps in enumerate(plans):
            if all(is_native(step) for step in steps):
                for way in self._alternatives(steps):
                    self._add(
                        number,
                        Pipeline(database, way, changing=frozenset(own), scratch=scratch, pending=self.pending),
                    )
            else:
                run = stages(number, self.pending)
                self._stages[len(self._pipelines)] = run
                self._add(number, run.pipelines[0])

    def _add(self, number: int, pipeline: Pipeline) -> None:
        self._plan_of.append(number)
        self._pipelines.append(pipeline)

    def _alternatives(self, steps: tuple[Step, ...]) -> list[tuple[Step | Fewer, ...]]:
        """The ways that a plan may go, where they need no large index that is not needed anyway."""
        ways = alternatives(steps, lambda name: self.database[name].arity)
        tests = [step for way in ways for step in way if isinstance(step, Fewer)]
        return ways if all(self._affordable(m) for t in tests for m in (t.left, t.right)) else [steps]

    def _affordable(self, match: Match) -> bool:
        relation, columns = self.database[match.relation], _columns(match)
        return relation.count < SMALL or (columns, None) in relation.indexes or (relation.name, columns) in self._probed

    def _named(self, plans: Sequence[tuple[Step, ...]]) -> list[Relation]:
        return [self.database[name] for name in dict.fromkeys(m.relation for steps in plans for m in _matches(steps))]

    @property
    def stale(self) -> bool:
        """Whether a relation that it was made for has been replaced."""
        return any(self.database.relations.get(r.name) is not r for r in self.relations)

    @property
    def work(self) -> int:
        """Bindings made so far: what the budget counts."""
        return self.block.work

    @property
    def bucket(self) -> int:
        """The iteration that was settled last."""
        return self.block.bucket

    def figures(self) -> list[tuple[int, float]]:
        """Per plan, the derivations that it has filed so far, and the seconds that its native steps have taken."""
        found, per_second = [(0, 0.0)] * (1 + max(self._plan_of, default=-1)), self.database.cycles_per_second()
        for place, number in enumerate(self._plan_of):
            pipelines = self._stages[place].pipelines if place in self._stages else [self._pipelines[place]]
            filed, seconds = found[number]
            filed += sum(p.derivations for p in pipelines)
            found[number] = filed, seconds + sum(p.cycles for p in pipelines) / per_second
        return found

    def prepare(self) -> list[Index]:
        """Encode the plans, so far as that is not done; the indexes that must be built before they run."""
        if self._encoded_for != self.database.layout_version:
            pipelines = [*self._pipelines, *(p for stages in self._stages.values() for p in stages.pipelines)]
            encode_together(pipelines)
            self._encoded_for = self.database.layout_version
            self._encoded = [p.encoded() for p in self._pipelines]
            self._indexes = {x.address: x for p in pipelines for x, _ in p.encoded().indexes}
            self._plans = {e.address: i for i, e in enumerate(self._encoded)}
            for i, encoded in enumerate(self._encoded):
                encoded.plan.python = i in self._stages
            self._lists = self._point_to(
                list(self._plans),
                [r.address for r in self.own],
                [r.address for r in self.relations],
                list(self._indexes),
            )
        return [index for index in self._indexes.values() if index.behind > MANY]

    def run(self, budget: int = UNLIMITED, watch: Watch | None = None) -> None:
        """Run to the end. `watch(bucket, work)` is called now and then; it may raise to stop."""
        self.database.build(self.prepare())
        self._begin(budget)
        while (status := self._call()) != codes.DONE:
            subject = self.block.subject
            if status == codes.ROUND:
                assert self._between is not None
                agreed = self._between()
                if agreed is None:
                    break
                self.block.agreed = agreed
            else:
                self._serve(status, subject)
            if status == codes.PAUSE:
                running = 0 if subject == 0 else int(self._encoded[self._plans[subject]].plan.effort)
                self._look(self.work + running, budget, watch)
        for relation in self.relations:
            relation.settle()

    def _call(self) -> int:
        """Run the kernel until it is done, or asks for something."""
        return self.database.kernels.run_update(self.pending.address)

    def _serve(self, status: int, subject: int) -> None:
        """Do what the kernel asks for."""
        if status in (codes.GROW_WAITING, codes.GROW_BUCKETS, codes.GROW_SUMS):
            self.pending.grow(status)
        elif status == codes.GROW_LISTS:
            self.database.relation_at(subject).grow_lists(self.block.need)
        elif status == codes.PYTHON:
            self._run_stages(self._stages[self._plans[subject]])
        elif subject in self._indexes:
            self.database.serve_index(status, self._indexes[subject])
        elif subject in self._plans:
            self._serve_plan(status, self._plans[subject])

    def _point_to(self, *addresses: list[int]) -> list[Array]:
        """Give the kernel its lists of plans, own relations, all relations, and indexes; they must be kept."""
        arrays, block = [np.array(words, np.int64) for words in addresses], self.block
        block.nplan, block.nown, block.nrelation, block.nindex = map(len, arrays)
        block.plans, block.own, block.relations, block.indexes = map(address, arrays)
        return arrays

    def _begin(self, budget: int) -> None:
        self.block.phase, self.block.position = codes.PHASE_EXTEND, 0
        self.block.bucket = self.block.work = 0
        self.block.together, self.block.agreed = self._between is not None, -1
        self.block.scratch = address(self.database.scratch)
        self.block.budget = min(budget, SLICE)
        for encoded in self._encoded:
            encoded.plan.level, encoded.plan.effort = -1, 0
        for relation in self.relations:
            relation.dirty, relation.iteration = True, codes.NEVER
            relation.block.update, relation.block.own = self.pending.address, relation in self.own

    def _run_stages(self, stages: Stages) -> None:
        """Run a plan that needs Python, and have the kernel go on behind it."""
        before = stages.effort
        stages.run()
        self.block.work += stages.effort - before
        self.block.position += 1

    def _look(self, work: int, budget: int, watch: Watch | None) -> None:
        if work > budget:
            raise OverBudget
        if watch is not None:
            watch(self.bucket, work)
        self.block.budget = min(budget, work + SLICE)

    def _serve_plan(self, status: int, i: int) -> None:
        try:
            self.database.serve_plan(status, self._encoded[i])
        except (ArithmeticFault, NotWorse) as fault:
            fault.plan = self._plan_of[i]
            raise


def _matches(steps: Sequence[Step]) -> list[Match]:
    return [step.match for step in steps if isinstance(step, Scan | Probe | Exists | Absent)]


def _columns(match: Match) -> tuple[int, ...]:
    return tuple(column for column, _ in match.key)


def changed_rows(relation: Relation) -> tuple[Array, Array]:
    """The rows that the log says were changed and that are there now but were not before, and the other way round."""
    rows = relation.changed()
    before, now = relation.before(rows) != codes.NEVER, relation.now(rows) != codes.NEVER
    return rows[now & ~before], rows[before & ~now]
