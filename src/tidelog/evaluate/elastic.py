"""Elastic evaluation: Update for small changes, Bootstrap for large ones.

An epoch tries Update, with a budget of `switch` times the cost of the last Bootstrap, in work done (repeatable; the
indexes for updates are part of it) or in seconds. Where that does not suffice, nothing of what Update did remains, and
evaluation starts over: with the stratum that needed too much, or (`switching="program"`, as in the paper) with the
whole program. A stratum that no update can follow (`StatefulStratum.whole`) is evaluated anew whenever a change reaches
it.

The indexes that only updates need are built in the background once Bootstrap is done; whoever comes first waits.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tidelog.analysis.check import Checked
from tidelog.evaluate.aggregate_update import AggregateUpdate
from tidelog.evaluate.anew import compared, evaluate_anew, mark_changes
from tidelog.evaluate.bindings import Words
from tidelog.evaluate.bootstrap import Bootstrap
from tidelog.evaluate.engine import EngineOptions, EpochReport, StratumReport
from tidelog.evaluate.facts import Facts
from tidelog.evaluate.limits import Observer
from tidelog.evaluate.state import Change, State
from tidelog.evaluate.statistics import INDEXING
from tidelog.evaluate.update import StratumUpdate
from tidelog.plan.stateful import StatefulStratum
from tidelog.store import Database, Relation, release_spare
from tidelog.store.index import Index
from tidelog.store.update import UNLIMITED, OverBudget, Watch, changed_rows


class Updater(Protocol):
    """Keeps one stratum up to date; made anew when it is stale."""

    @property
    def stale(self) -> bool: ...

    def prepare(self) -> list[Index]:
        """Get ready for updates, but for these indexes, which are still to be built."""
        ...

    def run(self, budget: int = ..., watch: Watch | None = ...) -> int: ...


class Keeper(Protocol):
    """Makes an epoch last before it ends. If it raises, the epoch is given up and nothing of it remains."""

    def keep_bootstrap(self, report: EpochReport, efforts: Mapping[tuple[str, ...], int], seconds: float) -> None: ...

    def keep_update(self, report: EpochReport) -> None: ...


LEAST_BUDGET = 1 << 20
"""A stratum is always allowed this much, ten to twenty milliseconds: starting over has fixed costs of thirty."""
LOOKS = 3
"""How often Update looks at an affected derivation, about."""


class Elastic:
    """The engine of the strategies "elastic" and "update" (which never switches)."""

    def __init__(
        self, checked: Checked, options: EngineOptions, strategy: str = "elastic", observer: Observer | None = None
    ) -> None:
        self.options, self.strategy, self.observer = options, strategy, observer
        self.state = self.new_state(checked)
        self.epoch = 0
        self.bootstrap_seconds = 0.0
        self.efforts: dict[tuple[str, ...], int] = {}  # of each stratum's last evaluation from scratch
        self.updates: dict[tuple[str, ...], Updater] = {}
        self.background = ThreadPoolExecutor(1, "tidelog-prepare")
        self.preparation: Future[None] | None = None
        self.keeper: Keeper | None = None

    @property
    def database(self) -> Database:
        return self.state.database

    # ---- what a strategy may do in another way

    def new_state(self, checked: Checked) -> State:
        return State(checked, self.options)

    def new_bootstrap(self) -> Bootstrap:
        return Bootstrap(self.state, self.options.limits, self.observer)

    def updater(self, stratum: StatefulStratum) -> Updater:
        if stratum.aggregate is not None:
            return AggregateUpdate(self.state, stratum.aggregate)
        return StratumUpdate(self.state, stratum)

    # ---- epochs

    def gather(self, name: str) -> Relation:
        self.finish_preparation()
        held = self.database[name]
        return self.database.unmounted(name, held.arity, held.stateful)

    def bootstrap(self, facts: Mapping[str, Facts]) -> EpochReport:
        self.finish_preparation()
        start = time.perf_counter()
        report = self.start_over(facts, "asked for")
        report.seconds = time.perf_counter() - start
        return report

    def update(self, delete: Mapping[str, Words], insert: Mapping[str, Words]) -> EpochReport:
        self.finish_preparation()
        start = time.perf_counter()
        try:
            report = self.try_update(delete, insert, start)
        except OverBudget:
            self.state.undo()
            facts = self.facts_after(delete, insert)
            report = self.start_over(facts, f"Update needed more than {self.options.switch:g} of the last Bootstrap")
        except BaseException:
            self.state.undo()
            raise
        report.seconds = time.perf_counter() - start
        return report

    # ---- Bootstrap

    def start_over(self, facts: Mapping[str, Facts], why: str) -> EpochReport:
        """Bootstrap the whole program; the report's change is from the state before."""
        start = time.perf_counter()
        run = self.new_bootstrap()
        replaced = run.run(facts)
        report = EpochReport(self.epoch + 1, "bootstrap", why, 0.0, run.derivations)
        try:
            for old in replaced:
                self.report_replaced(report, old)
            seconds = report.seconds = time.perf_counter() - start
            if self.keeper is not None:
                self.keeper.keep_bootstrap(report, run.efforts, seconds)
        except BaseException:
            run.give_up(replaced)
            raise
        for old in replaced:
            self.database.retire(old)
        self.efforts = run.efforts
        self.state.begin_epoch()
        self.bootstrap_seconds = seconds
        self.updates = {}
        self.preparation = self.background.submit(self.prepare)
        self.epoch += 1
        return report

    def resume(self, epoch: int, efforts: Mapping[tuple[str, ...], int], bootstrap_seconds: float) -> None:
        """Go on from an epoch of another process, whose state has been loaded."""
        self.epoch, self.efforts, self.bootstrap_seconds = epoch, dict(efforts), bootstrap_seconds
        self.updates = {}
        self.preparation = self.background.submit(self.prepare)

    def report_replaced(self, report: EpochReport, old: Relation) -> None:
        """The change from a relation to the one that took its place."""
        new = self.database[old.name]
        if new.stateful and old.count:
            self.report_changes(report, {old.name: compared(new, old)})
        elif new.count and old.name in self.state.checked.relations:
            report.inserted[old.name] = new.rows()  # all of them, and no copy

    def prepare(self) -> None:
        """Plan and build what the next updates need."""
        indexes: dict[int, Index] = {}
        for stratum in filter(self.follows, self.state.program.strata):
            update = self.updates.get(stratum.relations)
            if update is None or update.stale:
                update = self.updates[stratum.relations] = self.updater(stratum)
            indexes |= {index.address: index for index in update.prepare()}
        self.database.build(list(indexes.values()))
        release_spare()  # what replaced relations left, and the indexes had no use for

    def finish_preparation(self) -> None:
        """Wait until nobody else works on the database; raises what went wrong in the background."""
        if self.preparation is not None:
            self.preparation.result()
            self.preparation = None

    def facts_after(self, delete: Mapping[str, Words], insert: Mapping[str, Words]) -> dict[str, Words]:
        """The input facts once a change is applied."""
        self.state.apply_facts(delete, insert)
        try:
            return {d.relation: self.state.facts(d.relation) for d in self.state.checked.directives("input")}
        finally:
            self.state.undo()

    # ---- Update

    def try_update(self, delete: Mapping[str, Words], insert: Mapping[str, Words], start: float) -> EpochReport:
        report = EpochReport(self.epoch + 1, "update", "it fits the budget", 0.0, 0, self.total_budget())
        self.state.apply_facts(delete, insert)
        watch = self.watch(start)
        for stratum in self.state.program.strata:
            if not self.reached(stratum):
                self.state.pass_by(stratum)
            else:
                done = self.update_stratum(stratum, watch)
                report.derivations += done.derivations
                if stratum.rules or stratum.aggregate:
                    report.strata.append(done)
        summarise(report)
        self.report_changes(report, self.state.epoch.changes)
        if self.keeper is not None:
            report.seconds = time.perf_counter() - start
            self.keeper.keep_update(report)
        self.state.commit()
        self.epoch += 1
        if any(stratum.strategy == "bootstrap" for stratum in report.strata):
            self.preparation = self.background.submit(self.prepare)
        return report

    def reached(self, stratum: StatefulStratum) -> bool:
        """Whether the change reaches a stratum: through the strata below, or its facts."""
        changes = self.state.epoch.changes
        given = not self.state.epoch.given.keys().isdisjoint(stratum.relations)
        own = any(len(self.database[name].log) for name in stratum.relations)
        return own or given or self.state.shifted(stratum) or any(changes.get(name) for name in stratum.inputs)

    def update_stratum(self, stratum: StatefulStratum, watch: Watch | None) -> StratumReport:
        if stratum.whole:
            return self.evaluate_anew(stratum, f"{stratum.whole} cannot be updated")
        update = self.updates.get(stratum.relations)
        if update is None:  # facts and no rules
            for name in stratum.relations:
                self.state.epoch.changes[name] = Change(*changed_rows(self.database[name]))
            return StratumReport(stratum.relations, "update", "facts", 0)
        if update.stale:  # a stratum below was evaluated anew in this epoch
            update = self.updates[stratum.relations] = self.updater(stratum)
        if self.hopeless(stratum):
            if self.options.switching == "program":
                raise OverBudget
            return self.evaluate_anew(stratum, "too much of what it reads has changed for an Update")
        mark_changes(self.state, stratum.inputs)
        self.options.limits.relations = stratum.relations
        marks = {name: len(self.database[name].log) for name in stratum.relations}
        try:
            work = update.run(self.budget(stratum), watch)
            return StratumReport(stratum.relations, "update", "it fits the budget", work)
        except OverBudget:
            if self.options.switching == "program":
                raise
            for name, mark in marks.items():
                self.database[name].undo(mark)
            why = f"Update needed more than {self.options.switch:g} of its last Bootstrap"
            return self.evaluate_anew(stratum, why, wasted=self.budget(stratum))

    def evaluate_anew(self, stratum: StatefulStratum, why: str, wasted: int = 0) -> StratumReport:
        run = self.new_bootstrap()
        evaluate_anew(self.state, stratum, run)
        self.efforts |= run.efforts
        return StratumReport(stratum.relations, "bootstrap", why, run.derivations + wasted)

    def follows(self, stratum: StatefulStratum) -> bool:
        """Whether updates follow the stratum: changes may reach it, and it is a sum of derivations."""
        reachable = stratum.inputs or not self.state.inputs.isdisjoint(stratum.relations)
        return bool(reachable and (stratum.rules or stratum.aggregate) and not stratum.whole)

    def budget(self, stratum: StatefulStratum | None = None) -> int:
        """What Update may cost, in bindings, for a stratum or for all."""
        if self.strategy != "elastic" or self.options.budget == "seconds":
            return UNLIMITED
        if stratum is None or self.options.switching == "program":
            cost = sum(map(self.cost_anew, self.efforts))
        else:
            cost = self.cost_anew(stratum.relations)
        return max(LEAST_BUDGET, int(self.options.switch * cost))

    def cost_anew(self, relations: tuple[str, ...]) -> float:
        """What it takes to start a stratum over, in bindings: its evaluation, and its indexes, which are made anew."""
        entries = sum(self.database[name].count * len(self.database[name].indexes) for name in relations)
        return self.efforts.get(relations, 0) + INDEXING * entries

    def hopeless(self, stratum: StatefulStratum) -> bool:
        """Whether it is clear beforehand that Update will not do: the work grows at least with the share of the input
        that changed, and each changed derivation is looked for in the state before, in the one after, and again."""
        budget = self.budget(stratum)
        changes = [self.state.epoch.changes.get(name) for name in stratum.inputs]
        changed = sum(len(c.inserted) + len(c.deleted) for c in changes if c)
        if budget in (LEAST_BUDGET, UNLIMITED):
            return changed > budget
        return LOOKS * changed > self.options.switch * sum(self.state.live[name] for name in stratum.inputs)

    def total_budget(self) -> int | None:
        budget = self.budget()
        return None if budget == UNLIMITED else budget

    def watch(self, start: float) -> Watch:
        """What looks at the clock and the limits while an update runs."""
        allowed = float("inf")
        if self.strategy == "elastic" and self.options.budget == "seconds":
            allowed = self.options.switch * self.bootstrap_seconds

        def look(bucket: int, work: int) -> None:
            if time.perf_counter() - start > allowed:
                raise OverBudget
            limits = self.options.limits
            limits.check(bucket, sum(self.database[name].count for name in limits.relations))

        return look

    def report_changes(self, report: EpochReport, changes: Mapping[str, Change]) -> None:
        for name, change in changes.items():
            if name not in self.state.checked.relations:
                continue
            relation = self.database[name]
            if len(change.inserted):
                report.inserted[name] = relation.rows()[change.inserted]
            if len(change.deleted):
                report.deleted[name] = (relation if change.old is None else change.old).rows()[change.deleted]

    # ---- contents

    def rows(self, name: str) -> Words:
        return self.state.rows(name)

    def count(self, name: str) -> int:
        return self.state.live[name]

    def facts(self, name: str) -> Words:
        return self.state.facts(name)

    def contains(self, name: str, rows: Words) -> NDArray[np.bool_]:
        return self.state.given_as_fact(name, rows)

    def query_database(self) -> Database:
        self.finish_preparation()
        return self.database


def summarise(report: EpochReport) -> None:
    """What the epoch did in the end: an update, a bootstrap, or one for some strata and the other for others."""
    anew = [stratum for stratum in report.strata if stratum.strategy == "bootstrap"]
    if anew:
        report.strategy = "bootstrap" if len(anew) == len(report.strata) else "mixed"
        report.why = "; ".join(f"{', '.join(stratum.relations)} anew: {stratum.why}" for stratum in anew)
