"""The holder of the strategy "batch": no state but the relations themselves; every epoch evaluates everything anew.

To the driver it is one stratum that no update can follow. What is always true: an epoch is computed in a database of
its own, which takes the place of the last one only when it is complete; all of them share symbols and records. Cost: a
whole evaluation per epoch, and while it runs the memory of two. What changed is found by asking each database for the
rows of the other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from tidelog import room
from tidelog.analysis.checked import Checked
from tidelog.epochs.budget import CostAnew
from tidelog.epochs.changes import NetChange
from tidelog.epochs.report import EpochReport
from tidelog.errors import InternalError
from tidelog.evaluate.bindings import Words
from tidelog.evaluate.facts import Facts, enter
from tidelog.evaluate.fixpoint import Fixpoint
from tidelog.evaluate.limits import Limits, Observer
from tidelog.evaluate.prepare import Prepared
from tidelog.evaluate.profile import Recorder
from tidelog.evaluate.rows import among
from tidelog.plan.stateful import StatefulStratum
from tidelog.store import Database, Equivalence, Relation, pair_changes, present


class Recompute:
    """See the module's docstring, and `holder.Holder`."""

    least_budget = few_changes = 0

    def __init__(
        self,
        checked: Checked,
        functors: Mapping[str, Callable[..., Any]],
        limits: Limits,
        threads: int = 1,
        observer: Observer | None = None,
        recorder: Recorder | None = None,
    ) -> None:
        self.checked, self.limits, self.observer, self.recorder = checked, limits, observer, recorder
        self.prepared = Prepared(checked, functors)
        self.database = Database(threads=threads)  # holds the dictionaries, and no relations
        self.strata = (StatefulStratum(tuple(checked.relations), (), whole="what has no state"),)
        self.inputs = tuple(dict.fromkeys(d.relation for d in checked.directives("input")))
        self._derived = {clause.head.name for clause in checked.clauses} | self.prepared.plan.implicit
        self._current = self.database
        self._facts: dict[str, Words] = {}  # of inputs that rules derive into, too
        self._next: tuple[Database, dict[str, Words]] | None = None  # those of the running epoch
        self._change = NetChange()

    def epoch(self, doing: str = "") -> AbstractContextManager[None]:
        return self.limits.epoch()

    # ---- an epoch

    def gather(self, name: str) -> Relation:
        return self.database.unmounted(name, self.checked.relations[name].arity)

    def start_over(self, facts: Mapping[str, Facts]) -> int:
        database = self.database.sibling()
        self.prepared.create_relations(database)
        for name, rows in facts.items():
            enter(database, name, rows, database[name])
        given = self._derived.intersection(self.inputs)
        self._next = database, {name: database[name].rows() for name in given}  # rows stay as they are
        context = self.prepared.context(database, self.recorder)
        fixpoint = Fixpoint(self.prepared.plan, context, self.limits, self.observer)
        fixpoint.run()
        return fixpoint.derivations

    def facts_after(self, change: NetChange) -> dict[str, Facts]:
        facts: dict[str, Facts] = {}
        for name in self.inputs:
            rows = self.facts(name)
            if name in change.delete:
                rows = rows[~among(rows, change.delete[name])]
            facts[name] = np.concatenate((rows, change.insert[name])) if name in change.insert else rows
        return facts

    def apply(self, change: NetChange) -> None:
        self._change = change

    def reached(self, stratum: StatefulStratum) -> bool:
        return bool(self._change)

    def evaluate(self, stratum: StatefulStratum) -> int:
        return self.start_over(self.facts_after(self._change))

    def pass_by(self, stratum: StatefulStratum) -> None:
        pass

    def cost(self, stratum: StatefulStratum) -> CostAnew:
        return CostAnew()

    def _updated(self, *_: Any) -> Any:
        """Asked of strata that an update can follow, and there is none."""
        raise InternalError("what has no state is not updated")

    changed = read = take_facts = update = give_up = _updated

    # ---- its end

    def new_report(self, epoch: int, strategy: str, why: str) -> EpochReport:
        return EpochReport(epoch, strategy, why, 0.0, 0)

    def report_changes(self, report: EpochReport) -> None:
        if self._next is not None:
            for name in self.checked.relations:
                _compare(self._current.relations.get(name), self._next[0][name], name, report)

    def effects(self) -> None:
        """Nobody keeps them."""

    def commit(self) -> None:
        if self._next is not None:
            past, (self._current, self._facts), self._next = self._current, self._next, None
            for relation in past:  # its memory goes now, not when the collector finds the cycles of a database
                relation.dispose()

    def undo(self) -> None:
        self._next = None

    # ---- contents

    def rows(self, name: str) -> Words:
        relation: Relation | Equivalence = self._current[name]
        if isinstance(relation, Equivalence):
            return cast(Words, relation.pairs())  # to its readers, an array
        return relation.rows()

    def count(self, name: str) -> int:
        return int(self._current[name].count)

    def facts(self, name: str) -> Words:
        held = self._facts[name] if name in self._derived else self._current[name].rows()
        return held.astype(np.int64)

    def contains(self, name: str, rows: Words) -> NDArray[np.bool_]:
        return among(rows, self.facts(name)) if name in self._derived else self._current[name].contains(rows)

    def query_database(self) -> Database:
        return self._current


def _compare(old: Relation | None, new: Relation, name: str, report: EpochReport) -> None:
    """Enter the difference between two states of a relation, of which the first may be that before all epochs."""
    if isinstance(new, Equivalence):
        report.enter_pairs(name, pair_changes(_classes(old), _classes(new)))
        return
    after = new.rows()
    if old is None or not old.count:
        if len(after):
            report.inserted[name] = after  # all of them, and no copy
        return
    before = old.rows()
    for rows, other, changed in ((before, new, report.deleted), (after, old, report.inserted)):
        fresh = ~other.contains(rows)
        if count := int(fresh.sum()):
            room.ensure(count * rows.shape[1] * rows.itemsize)
            changed[name] = rows[fresh]


def _classes(relation: Relation | Equivalence | None) -> tuple[Words, Words]:
    """The elements of an equivalence and their classes; none of one that has not been completed."""
    found = present(relation.classes) if isinstance(relation, Equivalence) else np.empty((0, 2), np.int64)
    return found[:, 0], found[:, 1]
