"""Elastic evaluation: Update for small changes, Bootstrap for large ones.

An epoch tries Update, with a budget of `switch` times the cost of the last Bootstrap, in bindings made (repeatable) or
in seconds. If it does not suffice, nothing of what Update did remains, and Bootstrap starts over.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from tidelog.analysis.check import Checked
from tidelog.evaluate.bindings import Words
from tidelog.evaluate.bootstrap import Bootstrap
from tidelog.evaluate.engine import EngineOptions, EpochReport, StratumReport
from tidelog.evaluate.limits import Observer
from tidelog.evaluate.state import Change, State
from tidelog.evaluate.update import StratumUpdate
from tidelog.store import Database, Relation
from tidelog.store.layout import NEVER, NOW
from tidelog.store.update import UNLIMITED, OverBudget


class Elastic:
    """The engine of the strategies "elastic" and "update" (which never switches)."""

    def __init__(
        self, checked: Checked, options: EngineOptions, strategy: str = "elastic", observer: Observer | None = None
    ) -> None:
        self.options, self.strategy, self.observer = options, strategy, observer
        self.state = State(checked, options)
        self.epoch = -1
        self.bootstrap_effort = 0
        self.bootstrap_seconds = 0.0
        self.updates: dict[tuple[str, ...], StratumUpdate] = {}

    @property
    def database(self) -> Database:
        return self.state.database

    # ---- epochs

    def bootstrap(self, facts: Mapping[str, Words]) -> EpochReport:
        return self._bootstrap(facts, "asked for")

    def _bootstrap(self, facts: Mapping[str, Words], why: str) -> EpochReport:
        start = time.perf_counter()
        run = Bootstrap(self.state, self.options.limits, self.observer)
        replaced = run.run(facts)
        self.updates = {
            s.relations: StratumUpdate(self.state, s) for s in self.state.program.strata if s.rules and not s.whole
        }
        for update in self.updates.values():
            update.prepare()
        self.bootstrap_effort, self.bootstrap_seconds = run.effort, time.perf_counter() - start
        self.epoch += 1
        report = EpochReport(self.epoch, "bootstrap", why, 0.0, run.derivations)
        for old in replaced:
            self.database.retire(old)
        report.seconds = time.perf_counter() - start
        return report

    def update(self, delete: Mapping[str, Words], insert: Mapping[str, Words]) -> EpochReport:
        start = time.perf_counter()
        report = EpochReport(self.epoch + 1, "update", "asked for", 0.0, 0)
        try:
            self.state.apply_facts(delete, insert)
            for stratum in self.state.program.strata:
                self._update_stratum(stratum, report)
        except BaseException:
            self.state.undo()
            raise
        for name, change in self.state.epoch.changes.items():
            rows = self.database[name].rows()
            report.inserted[name], report.deleted[name] = rows[change.inserted], rows[change.deleted]
        self.state.commit()
        self.epoch += 1
        report.seconds = time.perf_counter() - start
        return report

    def _update_stratum(self, stratum, report) -> None:
        changes = self.state.epoch.changes
        own = any(len(self.database[name].log) for name in stratum.relations)
        if not own and not any(changes.get(name) for name in stratum.inputs):
            return
        update = self.updates.get(stratum.relations)
        if update is not None:
            update.run()
            report.derivations += update.update.work
        else:
            from tidelog.store.update import changed_rows

            for name in stratum.relations:
                changes[name] = Change(*changed_rows(self.database[name]))

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
        return self.database
