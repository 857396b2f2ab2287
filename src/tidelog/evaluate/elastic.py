"""Elastic evaluation: Update for small changes, Bootstrap for large ones.

An epoch tries Update, with a budget of `switch` times the cost of the last Bootstrap, in bindings made (repeatable) or
in seconds. Where that does not suffice, nothing of what Update did remains, and evaluation starts over: with the
stratum that needed too much, or (`switching="program"`, as in the paper) with the whole program. A stratum that no
update can follow (`StatefulStratum.whole`) is evaluated anew whenever a change reaches it.

The indexes that only updates need are built in the background once Bootstrap is done; whoever comes first waits.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future

import numpy as np
from numpy.typing import NDArray

from tidelog.analysis.check import Checked
from tidelog.evaluate.aggregate_update import AggregateUpdate
from tidelog.evaluate.anew import evaluate_anew, mark_before
from tidelog.evaluate.bindings import Words
from tidelog.evaluate.bootstrap import Bootstrap
from tidelog.evaluate.engine import EngineOptions, EpochReport, StratumReport
from tidelog.evaluate.limits import Observer
from tidelog.evaluate.state import Change, State
from tidelog.evaluate.update import StratumUpdate
from tidelog.plan.stateful import StatefulStratum
from tidelog.store import Database
from tidelog.store.update import UNLIMITED, OverBudget, Watch, changed_rows

LEAST_BUDGET = 1 << 14
"""A stratum is always allowed this much: starting over costs more than that in fixed costs."""


class Elastic:
    """The engine of the strategies "elastic" and "update" (which never switches)."""

    def __init__(
        self, checked: Checked, options: EngineOptions, strategy: str = "elastic", observer: Observer | None = None
    ) -> None:
        self.options, self.strategy, self.observer = options, strategy, observer
        self.state = State(checked, options)
        self.epoch = 0
        self.bootstrap_seconds = 0.0
        self.efforts: dict[tuple[str, ...], int] = {}  # of each stratum's last evaluation from scratch
        self.updates: dict[tuple[str, ...], StratumUpdate | AggregateUpdate] = {}
        self.preparation: Background | None = None

    @property
    def database(self) -> Database:
        return self.state.database

    # ---- epochs

    def bootstrap(self, facts: Mapping[str, Words]) -> EpochReport:
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

    def start_over(self, facts: Mapping[str, Words], why: str) -> EpochReport:
        """Bootstrap the whole program; the report's change is from the state before."""
        start = time.perf_counter()
        run = Bootstrap(self.state, self.options.limits, self.observer)
        replaced = run.run(facts)
        self.efforts = run.efforts
        report = EpochReport(self.epoch + 1, "bootstrap", why, 0.0, run.derivations)
        changes = {}
        for old in replaced:
            new = self.database[old.name]
            if new.stateful:
                changes[old.name] = mark_before(new, old) if old.count else Change(np.arange(new.count), EMPTY)
            self.database.retire(old)
        self.report_changes(report, changes)
        for name in changes:
            self.state.forget_before(self.database[name])
        self.state.begin_epoch()
        self.updates = {s.relations: self.updater(s) for s in self.state.program.strata if self.follows(s)}
        self.preparation = Background(self.prepare)
        self.bootstrap_seconds = time.perf_counter() - start
        self.epoch += 1
        return report

    def prepare(self) -> None:
        for update in self.updates.values():
            update.prepare()

    def finish_preparation(self) -> None:
        """Wait until nobody else works on the database."""
        if self.preparation is not None:
            self.preparation.wait()
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
        report = EpochReport(self.epoch + 1, "update", "it fits the budget", 0.0, 0, self.budget())
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
        self.report_changes(report, self.state.epoch.changes)
        self.state.commit()
        self.epoch += 1
        return report

    def reached(self, stratum: StatefulStratum) -> bool:
        """Whether the change reaches a stratum: through the strata below, or its facts."""
        changes = self.state.epoch.changes
        given = any(f"{name}@given" in self.state.epoch.replaced for name in stratum.relations)
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
        if update.stale:
            update = self.updates[stratum.relations] = self.updater(stratum)
        if isinstance(update, AggregateUpdate):
            return StratumReport(stratum.relations, "update", "the touched groups", update.run())
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
            return self.evaluate_anew(stratum, why)

    def evaluate_anew(self, stratum: StatefulStratum, why: str) -> StratumReport:
        run = Bootstrap(self.state, self.options.limits, self.observer)
        evaluate_anew(self.state, stratum, run)
        self.efforts |= run.efforts
        return StratumReport(stratum.relations, "bootstrap", why, run.derivations)

    def updater(self, stratum: StatefulStratum) -> StratumUpdate | AggregateUpdate:
        if stratum.aggregate is not None:
            return AggregateUpdate(self.state, stratum.aggregate)
        return StratumUpdate(self.state, stratum)

    def follows(self, stratum: StatefulStratum) -> bool:
        """Whether updates follow the stratum: changes may reach it, and it is a sum of derivations."""
        reachable = stratum.inputs or not self.state.inputs.isdisjoint(stratum.relations)
        return bool(reachable and (stratum.rules or stratum.aggregate) and not stratum.whole)

    def budget(self, stratum: StatefulStratum | None = None) -> int:
        """What Update may cost, in bindings, for a stratum or for all."""
        if self.strategy != "elastic" or self.options.budget == "seconds":
            return UNLIMITED
        if stratum is None or self.options.switching == "program":
            effort = sum(self.efforts.values())
        else:
            effort = self.efforts.get(stratum.relations, 0)
        return max(LEAST_BUDGET, int(self.options.switch * effort))

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
            for told, numbers in ((report.inserted, change.inserted), (report.deleted, change.deleted)):
                if len(numbers):
                    told[name] = self.database[name].rows()[numbers]

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


class Background:
    """Something that runs in another thread; `wait` raises what it raised."""

    def __init__(self, action: Callable[[], None]) -> None:
        self._future: Future[None] = Future()
        self._action = action
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._action()
            self._future.set_result(None)
        except BaseException as problem:
            self._future.set_exception(problem)

    def wait(self) -> None:
        self._thread.join()
        self._future.result()


EMPTY = np.empty(0, np.int64)
