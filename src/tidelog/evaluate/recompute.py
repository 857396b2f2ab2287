"""Strategy "batch": no state but the relations themselves; every epoch evaluates everything anew.

What is always true: an epoch is computed in a database of its own, which takes the place of the last one only when it
is complete; all of them share symbols and records. Cost: a whole evaluation per epoch, and while it runs the memory
of two. What changed is found by asking each database for the rows of the other.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tidelog.analysis.check import Checked
from tidelog.evaluate.bindings import Words
from tidelog.evaluate.engine import EngineOptions, EpochReport
from tidelog.evaluate.facts import Facts, enter
from tidelog.evaluate.fixpoint import Fixpoint
from tidelog.evaluate.limits import Observer
from tidelog.evaluate.prepare import Prepared
from tidelog.evaluate.rows import among
from tidelog.io.sizes import size_limits
from tidelog.store import Database, Relation


class Recompute:
    """See evaluate.engine.Engine."""

    def __init__(self, checked: Checked, options: EngineOptions, observer: Observer | None = None) -> None:
        self.checked = checked
        self.options = options
        self.observer = observer
        self.prepared = Prepared(checked, options.functors)
        self.database = Database(threads=options.threads)  # holds the dictionaries, and no relations
        self.inputs = tuple(dict.fromkeys(d.relation for d in checked.directives("input")))
        self._derived = {clause.head.name for clause in checked.clauses} | self.prepared.plan.implicit
        self._epoch = 0
        self._current = self._empty()

    def bootstrap(self, facts: Mapping[str, Facts]) -> EpochReport:
        return self._run(facts, "bootstrap", "the facts were given anew")

    def gather(self, name: str) -> Relation:
        return self.database.unmounted(name, self.checked.relations[name].arity)

    def update(self, delete: Mapping[str, Words], insert: Mapping[str, Words]) -> EpochReport:
        if not delete and not insert:
            self._epoch += 1
            return EpochReport(self._epoch, "batch", "nothing was to be changed", 0.0, 0)
        facts = {}
        for name in self.inputs:
            rows = self.facts(name)
            if name in delete:
                rows = rows[~among(rows, delete[name])]
            facts[name] = np.concatenate((rows, insert[name])) if name in insert else rows
        return self._run(facts, "batch", "this strategy keeps no state")

    def rows(self, name: str) -> Words:
        return self._current[name].rows()

    def count(self, name: str) -> int:
        return int(self._current[name].count)

    def facts(self, name: str) -> Words:
        return self._given(self._current, name).rows().astype(np.int64)

    def contains(self, name: str, rows: Words) -> NDArray[np.bool_]:
        return self._given(self._current, name).contains(rows)

    def query_database(self) -> Database:
        return self._current

    def _run(self, facts: Mapping[str, Facts], strategy: str, why: str) -> EpochReport:
        start = time.perf_counter()
        database = self._empty()
        for name, rows in facts.items():
            enter(database, name, rows, self._given(database, name))
        limits = replace(self.options.limits, started=time.monotonic())
        sizes = size_limits(self.checked.directives("limitsize"))
        context = self.prepared.context(database)
        fixpoint = Fixpoint(self.prepared.plan, context, limits, self.observer, size_limits=sizes)
        fixpoint.run()
        report = EpochReport(self._epoch + 1, strategy, why, 0.0, fixpoint.derivations)
        for name in self.checked.relations:
            _compare(self._current[name], database[name], name, report)
        report.seconds = time.perf_counter() - start
        past, self._current, self._epoch = self._current, database, report.epoch
        for relation in past:  # its memory goes now, not when the collector finds the cycles of a database
            relation.dispose()
        return report

    def _empty(self) -> Database:
        """A database with the program's relations, and one more for the facts of each that rules derive into."""
        database = self.database.sibling()
        self.prepared.create_relations(database)
        for name in self._derived.intersection(self.inputs):
            database.create(_facts_of(name), self.checked.relations[name].arity)
        return database

    def _given(self, database: Database, name: str) -> Relation:
        """The relation that holds the facts of an input relation."""
        return database[_facts_of(name) if name in self._derived else name]


def _facts_of(name: str) -> str:
    return f"{name} (facts)"


def _compare(old: Relation, new: Relation, name: str, report: EpochReport) -> None:
    """Enter the difference between two states of a relation."""
    before, after = old.rows(), new.rows()
    if not len(before):
        if len(after):
            report.inserted[name] = after  # all of them, and no copy
        return
    gone, come = before[~new.contains(before)], after[~old.contains(after)]
    if len(gone):
        report.deleted[name] = gone.astype(np.int64)
    if len(come):
        report.inserted[name] = come.astype(np.int64)
