"""A worker's part of the relations: one store that evaluates and updates its share of every stratum with the others.

It is asked what any holder is asked (`epochs/holder.py`), at the same time as all others, and its answers are for what
it holds itself. What one worker does for all (`placement.at_first`), the others leave to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tidelog.analysis.checked import Checked
from tidelog.epochs.changes import NetChange
from tidelog.epochs.one_store import Functors, OneStore, Strategy, Updater
from tidelog.epochs.report import EpochReport
from tidelog.evaluate.anew import mark_changes
from tidelog.evaluate.bindings import Words
from tidelog.evaluate.bootstrap import Bootstrap, refuse_overflow
from tidelog.evaluate.fixpoint import Fixpoint
from tidelog.evaluate.limits import Limits, Observer
from tidelog.evaluate.updates.signed_counts import StratumUpdate
from tidelog.exchange.agreement import Agreement
from tidelog.exchange.homes import FIRST, owners
from tidelog.exchange.part_fixpoint import PartFixpoint, Share
from tidelog.exchange.part_update import PartUpdate
from tidelog.exchange.transport import PeerFailed, WaitingTransport
from tidelog.exchange.waves import Waves
from tidelog.plan.exchange.cut import Placements
from tidelog.plan.exchange.making import makes_values
from tidelog.plan.exchange.placement import at_first
from tidelog.plan.program import ProgramPlan, StratumPlan
from tidelog.plan.stateful import StatefulStratum
from tidelog.store.index import Index
from tidelog.store.update import UNLIMITED, OverBudget, Watch


class PartBootstrap(Bootstrap):
    """Evaluates a worker's part from scratch."""

    share: Share

    def fixpoint(self, program: ProgramPlan) -> Fixpoint:
        fixpoint = PartFixpoint(program, self.state.context, self.limits, self.observer)
        fixpoint.share = self.share
        return fixpoint

    def run_stratum(self, fixpoint: Fixpoint, number: int, stratum: StatefulStratum, plan: StratumPlan) -> None:
        assert isinstance(fixpoint, PartFixpoint)
        one = at_first(stratum, self.share.placed) or self.share.waves.size == 1
        if not one or self.share.waves.me == FIRST:
            fixpoint.together = not (one or stratum.aggregate)
            super().run_stratum(fixpoint, number, stratum, plan)
        if makes_values(stratum):
            self.share.tell_values(self.state.database)

    def classify(self, stratum: StatefulStratum, equivalence: str) -> None:
        if self.share.waves.me == FIRST:
            super().classify(stratum, equivalence)


class LeftToTheFirst:
    """The updater of what another worker does."""

    stale = False
    plans = ()

    def prepare(self) -> list[Index]:
        return []

    def run(self, budget: int = UNLIMITED, watch: Watch | None = None) -> int:
        return 0


class PartStore(OneStore):
    """See the module's docstring."""

    def __init__(
        self,
        checked: Checked,
        functors: Functors,
        limits: Limits,
        line: WaitingTransport,
        placed: Placements,
        observer: Observer | None = None,
    ) -> None:
        self.waves = Waves(line)

        def bootstrap(state: Any, limits: Limits, observer: Observer | None) -> Bootstrap:
            made = PartBootstrap(state, limits, observer)
            made.share = self.share
            return made

        def updater(state: Any, stratum: StatefulStratum) -> Updater:
            return PartUpdate(state, stratum, self.share)

        super().__init__(checked, functors, limits, Strategy(bootstrap=bootstrap, updater=updater), observer)
        self._prepared = False
        self.share = Share(self.waves, Agreement(self.waves, self.state.program.arities), placed)

    @contextmanager
    def task(self, number: int) -> Iterator[None]:
        """Around what all workers do together, by its number: if it fails here, the others are told."""
        self.waves.start(number)
        try:
            yield
        except (PeerFailed, OverBudget):
            raise
        except BaseException:
            self.waves.fail()
            raise

    def apply(self, change: NetChange) -> None:
        """Planning is something that all do together: when the next update begins."""
        if not self._prepared:
            for stratum in filter(self._follows, self.strata):
                self.database.build(self._updater(stratum).prepare())
            self._prepared = True
        super().apply(change)

    def made_anew(self) -> None:
        super().made_anew()
        self._prepared = False

    def _new_updater(self, stratum: StatefulStratum) -> Updater:
        if not at_first(stratum, self.share.placed) and self.waves.size > 1:
            return super()._new_updater(stratum)
        if self.waves.me != FIRST:
            return LeftToTheFirst()
        by_itself = stratum.rules and stratum.best is None
        return StratumUpdate(self.state, stratum) if by_itself else super()._new_updater(stratum)

    def update_within(self, stratum: StatefulStratum, work: int) -> int:
        """Follow the change; all workers together may do so much work."""
        updater = self._updater(stratum)
        mark_changes(self.state, stratum.inputs)
        self.limits.relations = stratum.relations
        self._marks = {name: len(self.database[name].log) for name in stratum.relations}

        def watch(bucket: int, done: int) -> None:
            self.limits.check(bucket, sum(self.database[name].count for name in stratum.relations))
            self.waves.look()

        done, over = 0, list[OverBudget]()
        try:
            done = updater.run(work, watch)
        except OverBudget as problem:
            over.append(problem)
        if makes_values(stratum):
            self.share.tell_values(self.database)
        if over:
            raise over[0]
        for name in stratum.relations:
            refuse_overflow(self.database[name])
        return done

    def undo(self) -> None:
        """Whatever others have planned and this one has not, or the other way round, all plan again."""
        super().undo()
        self.updates, self._prepared = {}, False

    # ---- what counts once, though several workers hold it

    def owns_all(self, name: str) -> bool:
        """Whether all that it holds of a relation is its own."""
        placement = self.share.placed[name]
        return placement.alone or self.waves.size == 1

    def owned(self, name: str, rows: Words) -> NDArray[np.bool_]:
        return owners(self.share.placed[name], rows, self.waves.size) == self.waves.me

    def owned_rows(self, name: str) -> Words:
        """The tuples of a relation that this worker answers for."""
        if name in self.database.views:
            return self.state.rows(name) if self.waves.me == FIRST else np.empty((0, 2), np.int64)
        rows = self.state.rows(name)
        return rows if self.owns_all(name) else rows[self.owned(name, rows)]

    def owned_states(self, name: str) -> tuple[Words, Words, Words]:
        """The same, also of relations that are held as classes by another, with iterations and counts."""
        relation = self.database[name]
        there = self.state.present(name)
        rows = relation.rows()[there]
        if not self.owns_all(name):
            mine = self.owned(name, rows)
            there, rows = there[mine], rows[mine]
        return rows, relation.now(there), relation.derived(there)

    def owned_count(self, name: str) -> int:
        placement = self.share.placed[name]
        if self.owns_all(name):
            return self.state.count(name)
        if name in self.database.views or not placement.columns:
            return self.state.count(name) if self.waves.me == FIRST else 0
        return len(self.owned_rows(name))

    def report_changes(self, report: EpochReport) -> None:
        super().report_changes(report)
        for changed in (report.inserted, report.deleted):
            for name, rows in list(changed.items()):
                if name not in self.database.views and not self.owns_all(name):
                    changed[name] = rows[self.owned(name, rows)]

    # ---- states that another process has kept

    def load(self, name: str, rows: Words, iterations: Words, counts: Words) -> None:
        """Tuples of a relation that is empty, with their states."""
        relation = self.database[name]
        relation.insert(rows)
        relation.settle()
        relation.put_states(relation.find(rows), iterations, counts)
        relation.iteration = 0
        self.state.live[name] = len(rows)

    def load_facts(self, name: str, rows: Words) -> None:
        """The facts of a relation whose rows do not tell which they are."""
        given = self.database[self.state.given[name]]
        given.insert(rows)
        given.settle()

    def resume(self, counters: Mapping[str, tuple[int, int]], efforts: Mapping[str, int]) -> None:
        """Go on from what was loaded; the figures are by numbers of strata."""
        strata = self.strata
        self.state.counters = {strata[int(number)].relations: found for number, found in counters.items()}
        self.state.efforts = {strata[int(number)].relations: found for number, found in efforts.items()}
        self.state.begin_epoch()
        self._prepared = False

    def costs(self) -> tuple[dict[str, tuple[int, int]], dict[str, int]]:
        numbers = {stratum.relations: str(number) for number, stratum in enumerate(self.strata)}
        counters = {numbers[names]: found for names, found in self.state.counters.items()}
        return counters, {numbers[names]: int(found) for names, found in self.state.efforts.items()}
