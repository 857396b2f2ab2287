"""One store as the holder of a program's relations, each tuple with its iteration and its count.

What it adds to the algorithms of `evaluate/`: the updater of each stratum, made when a change first reaches it, and
again when what it was made for has been replaced. Plans and indexes that only updates need cost nothing before, and
nobody works on the relations when no epoch is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tidelog import room
from tidelog.analysis.checked import Checked
from tidelog.epochs.budget import Allowance, CostAnew
from tidelog.epochs.changes import NetChange
from tidelog.epochs.report import EpochReport
from tidelog.evaluate.anew import compared, evaluate_anew, mark_changes
from tidelog.evaluate.bindings import Words
from tidelog.evaluate.bootstrap import Bootstrap, refuse_overflow
from tidelog.evaluate.context import recorded
from tidelog.evaluate.effects import Effects
from tidelog.evaluate.facts import Facts
from tidelog.evaluate.limits import Limits, Observer
from tidelog.evaluate.profile import Recorder
from tidelog.evaluate.state import RowChange, State
from tidelog.evaluate.statistics import INDEXING
from tidelog.evaluate.updates.aggregates import AggregateUpdate
from tidelog.evaluate.updates.best_of import BestOfUpdate
from tidelog.evaluate.updates.equivalences import EquivalenceUpdate
from tidelog.evaluate.updates.signed_counts import StratumUpdate
from tidelog.plain import dataclass
from tidelog.plan import steps
from tidelog.plan.rewrites.read_classes import classes_of
from tidelog.plan.stateful import StatefulStratum
from tidelog.store import Database, Relation, pair_changes, present, release_spare
from tidelog.store.index import Index
from tidelog.store.update import Watch, changed_rows

Functors = Mapping[str, Callable[..., Any]]


class Updater(Protocol):
    """Keeps one stratum up to date; made anew when it is stale."""

    @property
    def stale(self) -> bool: ...

    @property
    def plans(self) -> Sequence[steps.Plan]:
        """What it runs, once it is prepared; what is done without plans is not told."""
        ...

    def prepare(self) -> list[Index]:
        """Get ready for updates, but for these indexes, which are still to be built."""
        ...

    def run(self, budget: int = ..., watch: Watch | None = ...) -> int: ...


@dataclass(frozen=True)
class Strategy:
    """What strategies do in different ways: what is kept, how it is made from scratch, how rules are updated."""

    state: Callable[..., State] = State
    bootstrap: Callable[[Any, Limits, Observer | None], Bootstrap] = Bootstrap
    updater: Callable[[Any, StatefulStratum], Updater] = StratumUpdate


class OneStore:
    """See the module's docstring, and `holder.Holder`."""

    least_budget = 1 << 20  # ten to twenty milliseconds: starting over has fixed costs of thirty
    few_changes = 0

    def __init__(
        self,
        checked: Checked,
        functors: Functors,
        limits: Limits,
        strategy: Strategy | None = None,
        observer: Observer | None = None,
        recorder: Recorder | None = None,
        threads: int = 1,
    ) -> None:
        self.limits, self.strategy, self.observer = limits, strategy or Strategy(), observer
        self.recorder = recorder
        self.state = self.strategy.state(checked, functors, recorder, threads=threads)
        self.change = NetChange()  # of the running epoch
        self.updates: dict[tuple[str, ...], Updater] = {}
        self._marks: dict[str, int] = {}  # where the logs of the stratum at hand were before its update

    @property
    def database(self) -> Database:
        return self.state.database

    @property
    def strata(self) -> Sequence[StatefulStratum]:
        return self.state.program.strata

    @contextmanager
    def epoch(self, doing: str = "") -> Iterator[None]:
        with self.limits.epoch(doing):
            yield

    # ---- from scratch

    def gather(self, name: str) -> Relation:
        held = self.database[name]
        return self.database.unmounted(name, held.arity, held.stateful)

    def start_over(self, facts: Mapping[str, Facts]) -> int:
        run = self._bootstrap()
        run.run(facts)
        return run.derivations

    def facts_after(self, change: NetChange) -> dict[str, Facts]:
        self.state.apply_facts(change.delete, change.insert)
        try:
            return {d.relation: self.state.facts(d.relation) for d in self.state.checked.directives("input")}
        finally:
            self.state.undo()

    def _bootstrap(self) -> Bootstrap:
        return self.strategy.bootstrap(self.state, self.limits, self.observer)

    # ---- what follows changes

    def update_plans(self, stratum: StatefulStratum) -> Sequence[steps.Plan]:
        """The plans by which updates follow a stratum, ready to run; none if a change evaluates it anew."""
        if not self._follows(stratum):
            return ()
        updater = self._updater(stratum)
        updater.prepare()
        return updater.plans

    def _updater(self, stratum: StatefulStratum) -> Updater:
        """What keeps the stratum up to date, made for the relations that there are when a change first reaches it."""
        found = self.updates.get(stratum.relations)
        if found is None or found.stale:
            found = self.updates[stratum.relations] = self._new_updater(stratum)
        return found

    def _new_updater(self, stratum: StatefulStratum) -> Updater:
        if stratum.aggregate is not None:
            return AggregateUpdate(self.state, stratum.aggregate)
        if stratum.equivalence is not None:
            return EquivalenceUpdate(self.state, stratum.equivalence)
        if stratum.best is not None:
            return BestOfUpdate(self.state, stratum, stratum.best)
        return self.strategy.updater(self.state, stratum)

    def _follows(self, stratum: StatefulStratum) -> bool:
        """Whether updates follow the stratum: changes may reach it, and it is a sum of derivations."""
        reachable = stratum.inputs or not self.state.inputs.isdisjoint(stratum.relations)
        return bool(reachable and stratum.defined and not stratum.whole)

    # ---- from the epoch before

    def apply(self, change: NetChange) -> None:
        self.change = change
        self.state.apply_facts(change.delete, change.insert)

    def reached(self, stratum: StatefulStratum) -> bool:
        return self.state.reached(stratum)

    def pass_by(self, stratum: StatefulStratum) -> None:
        self.state.pass_by(stratum)

    def changed(self, stratum: StatefulStratum) -> int:
        changes = [self.state.epoch.changes.get(name) for name in stratum.inputs]
        return sum(len(change.inserted) + len(change.deleted) for change in changes if change)

    def read(self, stratum: StatefulStratum) -> int:
        return sum(self.state.live[name] for name in stratum.inputs)

    def cost(self, stratum: StatefulStratum) -> CostAnew:
        """In bindings: its evaluation, and its indexes, which are made anew."""
        effort = self.state.efforts.get(stratum.relations)
        if effort is None:
            return CostAnew()
        held = [self.database[name] for name in stratum.relations]
        return CostAnew(effort + INDEXING * sum(relation.count * len(relation.indexes) for relation in held))

    def take_facts(self, stratum: StatefulStratum) -> None:
        for name in stratum.relations:
            self.state.epoch.changes[name] = RowChange(*changed_rows(self.database[name]))

    def update(self, stratum: StatefulStratum, allowance: Allowance) -> int:
        updater = self._updater(stratum)  # another one if a stratum below was evaluated anew in this epoch
        mark_changes(self.state, stratum.inputs)
        self.limits.relations = stratum.relations
        self._marks = {name: len(self.database[name].log) for name in stratum.relations}

        def watch(bucket: int, work: int) -> None:
            allowance.look(max(bucket, 1), work)
            self.limits.check(bucket, sum(self.database[name].count for name in stratum.relations))

        with recorded(self.recorder, f"update of {', '.join(stratum.relations)}"):
            work = updater.run(allowance.work, watch)
        for name in stratum.relations:
            refuse_overflow(self.database[name])
        return work

    def give_up(self, stratum: StatefulStratum) -> None:
        for name in stratum.relations:
            self.database[name].undo(self._marks[name])

    def evaluate(self, stratum: StatefulStratum) -> int:
        run = self._bootstrap()
        evaluate_anew(self.state, stratum, run)
        return run.derivations

    # ---- the end

    def new_report(self, epoch: int, strategy: str, why: str) -> EpochReport:
        return EpochReport(epoch, strategy, why, 0.0, 0)

    def report_changes(self, report: EpochReport) -> None:
        epoch = self.state.epoch
        if epoch.from_scratch:
            for old in epoch.replaced.values():
                self._report_replaced(report, old)
            return
        for name, change in epoch.changes.items():
            self._report_change(report, name, change)
        for name, sides in epoch.pairs.items():
            report.enter_pairs(name, sides)

    def _report_change(self, report: EpochReport, name: str, change: RowChange) -> None:
        if name not in self.state.checked.relations or name in self.database.views:
            return
        relation = self.database[name]
        gone = relation if change.old is None else change.old
        for numbers, held, changed in (
            (change.inserted, relation, report.inserted), (change.deleted, gone, report.deleted)
        ):  # fmt: skip
            if len(numbers):
                rows = held.rows()
                room.ensure(len(numbers) * rows.shape[1] * rows.itemsize)
                changed[name] = rows[numbers]

    def _report_replaced(self, report: EpochReport, old: Relation) -> None:
        """The change from a relation to the one that took its place; of an equivalence, that of its classes."""
        new = self.database[old.name]
        if old.name in self.database.views:
            return
        for name in (name for name in self.database.views if old.name == classes_of(name)):
            before, after = (present(relation).T for relation in (old, new))
            report.enter_pairs(name, pair_changes((before[0], before[1]), (after[0], after[1])))
        if new.stateful and old.count:
            self._report_change(report, old.name, compared(new, old))
        elif new.count and old.name in self.state.checked.relations:
            report.inserted[old.name] = new.rows()  # all of them, and no copy

    def effects(self) -> Effects:
        return Effects(self.state, self.change.delete, self.change.insert)

    def commit(self) -> None:
        epoch = self.state.epoch
        anew = epoch.from_scratch or any(old.stateful for old in epoch.replaced.values())
        with room.limited(None):
            self.state.commit()
        if epoch.from_scratch:
            self.updates = {}
        if anew:
            self.made_anew()

    def made_anew(self) -> None:
        """Relations were replaced."""
        release_spare()  # what the old ones left

    def undo(self) -> None:
        with room.limited(None):
            self.state.undo()

    # ---- contents

    def rows(self, name: str) -> Words:
        return self.state.rows(name)

    def count(self, name: str) -> int:
        return self.state.count(name)

    def facts(self, name: str) -> Words:
        return self.state.facts(name)

    def contains(self, name: str, rows: Words) -> NDArray[np.bool_]:
        return self.state.given_as_fact(name, rows)

    def query_database(self) -> Database:
        return self.database
