"""The state that is kept between epochs: the relations of a program, each tuple with its iteration and its count.

What it holds, in the words of the paper: for each stratum the multisets N_k, as one row per tuple with k (`now`) and
the number of derivations; and E, the input facts, which are the rows of iteration 0. During an update a row also has
the iteration that it had before, so that both states can be asked; `commit` makes the new one the old
one, `undo` gives it up. Rows of tuples that are gone stay, marked, until they are many; then the relation is compacted.
Cost of commit and undo: proportional to the rows that the update has changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from tidelog.analysis.check import Checked
from tidelog.evaluate.bindings import Words
from tidelog.evaluate.engine import EngineOptions
from tidelog.evaluate.prepare import Prepared
from tidelog.evaluate.rows import among
from tidelog.plan.stateful import StatefulProgram, StatefulStratum, stateful_program
from tidelog.store import Database, Relation, release_spare
from tidelog.store.layout import NEVER

TOO_MANY_DEAD = 0.5
"""A relation is compacted when this share of its rows is dead, and they are not few."""
FEW_DEAD = 1024


@dataclass
class Change:
    """The net change of a relation in this epoch, as row numbers. Of a relation that was replaced, the deleted ones are
    rows of the `old` one."""

    inserted: Words
    deleted: Words
    old: Relation | None = None

    def __bool__(self) -> bool:
        return len(self.inserted) + len(self.deleted) > 0


@dataclass
class Epoch:
    """What the running epoch has done so far: enough to commit it, or to undo it."""

    changes: dict[str, Change] = field(default_factory=dict)
    replaced: dict[str, Relation] = field(default_factory=dict)  # relations that were evaluated anew, as they were
    given: dict[str, Relation] = field(default_factory=dict)  # lists of given facts that were changed, as they were
    counters: dict[tuple[str, ...], tuple[int, int]] = field(default_factory=dict)  # as they were


class State:
    """See the module's docstring."""

    def __init__(self, checked: Checked, options: EngineOptions) -> None:
        self.checked = checked
        self.program: StatefulProgram = stateful_program(checked)
        self.inputs = {directive.relation for directive in checked.directives("input")}
        self.database = Database()  # one thread: tables that lead to rows are not shared between several
        for name, arity in self.program.arities.items():
            self.database.create(name, arity, stateful=True)
        self.context = Prepared(checked, options.functors).context(self.database)
        self.given = {name: self.database.create(f"{name}@given", self.database[name].arity) for name in self._hidden()}
        self.live: dict[str, int] = dict.fromkeys(self.program.arities, 0)
        self.counters: dict[tuple[str, ...], tuple[int, int]] = {}  # of autoinc(), before and after each stratum
        self.epoch = Epoch()

    def _hidden(self) -> list[str]:
        """Input relations whose rows do not tell whether they were given: those of strata that have no iterations."""
        return [name for s in self.program.strata if s.whole for name in s.relations if name in self.inputs]

    # ---- contents

    def present(self, name: str) -> Words:
        """The numbers of the rows that are there."""
        return np.flatnonzero(self.database[name].now() != NEVER)

    def rows(self, name: str) -> Words:
        relation = self.database[name]
        rows = relation.rows()
        return rows[self.present(name)] if relation.dirty else rows

    def facts(self, name: str) -> Words:
        """The tuples of a relation that were given as facts."""
        relation = self.database[name]
        if name not in self.inputs:
            return np.empty((0, relation.arity), np.int64)
        if name in self.given:
            return self.given[name].rows().astype(np.int64)
        return relation.rows()[relation.now() == 0].astype(np.int64)

    def given_as_fact(self, name: str, rows: Words) -> np.ndarray:
        if name in self.given:
            return self.given[name].contains(rows)
        relation = self.database[name]
        numbers = relation.find(rows)
        found = numbers >= 0
        found[found] = relation.now(numbers[found]) == 0
        return found

    # ---- facts of an epoch

    def apply_facts(self, delete: Mapping[str, Words], insert: Mapping[str, Words]) -> None:
        """Iteration 0 of the new state: E without E- and with E+."""
        for name in {**delete, **insert}:
            relation = self.database[name]
            gone, come = (c.get(name, np.empty((0, relation.arity), np.int64)) for c in (delete, insert))
            if name in self.given:
                self._give(name, gone, come)
                continue
            rows = relation.find(gone)
            relation.remember(rows)
            relation.set_now(rows, NEVER)
            relation.set_derived(rows, 0)
            rows = relation.enter_absent(come)
            relation.remember(rows)
            relation.set_now(rows, 0)
            relation.set_derived(rows, 1)
            relation.dirty = True

    def _give(self, name: str, gone: Words, come: Words) -> None:
        """Facts of a relation that is evaluated as a whole: a new list of them."""
        (old,) = self.database.renew([self.given[name].name])
        self.epoch.given[name] = old
        self.given[name] = self.database[old.name]
        kept = old.rows().astype(np.int64)
        self.given[name].insert(np.concatenate((kept[~among(kept, gone)], come)))
        self.given[name].settle()

    # ---- the program's counter, autoinc()

    def shifted(self, stratum: StatefulStratum) -> bool:
        """Whether a stratum that counts would begin with another number than it did."""
        start, stop = self.counters.get(stratum.relations, (0, 0))
        return start != stop and start != self.context.counter

    def pass_by(self, stratum: StatefulStratum) -> None:
        """Count what an untouched stratum counts."""
        start, stop = self.counters.get(stratum.relations, (0, 0))
        self.context.counter += stop - start

    # ---- the end of an epoch

    def commit(self) -> None:
        """The new state is the state."""
        for name, change in self.epoch.changes.items():
            self.live[name] += len(change.inserted) - len(change.deleted)
        for relation in self.database:
            if relation.stateful and len(relation.log):
                relation.commit()
                self._compact(relation)
        release_spare()  # what this epoch had no use for; what it replaced is for the indexes that come next
        for name, old in self.epoch.replaced.items():
            self.database.retire(old)
            self.forget_before(self.database[name])
        for old in self.epoch.given.values():
            self.database.retire(old)
        self.begin_epoch()

    def forget_before(self, relation: Relation) -> None:
        """The end of an epoch that replaced the relation."""
        relation.forget_before()
        relation.forget_log()
        self._compact(relation)

    def _compact(self, relation: Relation) -> None:
        dead = relation.count - self.live[relation.name]
        if dead > FEW_DEAD and dead > TOO_MANY_DEAD * relation.count:
            relation.compact()

    def undo(self) -> None:
        """As if the epoch had never begun."""
        for old in self.epoch.replaced.values():
            self.database.reinstate(old)
        for name, old in self.epoch.given.items():
            self.database.reinstate(old)
            self.given[name] = old
        for relation in self.database:
            if relation.stateful and len(relation.log):
                relation.undo()
        self.counters = self.epoch.counters
        self.begin_epoch()

    def begin_epoch(self) -> None:
        self.epoch = Epoch(counters=dict(self.counters))
        self.context.counter = 0
