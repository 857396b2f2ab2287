"""The state that is kept between epochs: the relations of a program, each tuple with its iteration and its count.

What it holds, in the words of the paper: for each stratum the multisets N_k, as one row per tuple with k (`now`) and
the number of derivations; and E, the input facts, which are the rows of iteration 0. During an update a row also has
the iteration that it had before, so that both states can be asked; `commit` makes the new one the old
one, `undo` gives it up. Rows of tuples that are gone stay, marked, until they are many; then the relation is compacted.
Cost of commit and undo: proportional to the rows that the update has changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

import numpy as np

from tidelog.analysis.checked import Checked
from tidelog.evaluate.bindings import Words
from tidelog.evaluate.prepare import Prepared
from tidelog.evaluate.profile import Recorder
from tidelog.evaluate.rows import among
from tidelog.plain import dataclass, field
from tidelog.plan.stateful import StatefulProgram, StatefulStratum, stateful_program
from tidelog.store import NEVER, Database, PairRows, Relation, release_spare

TOO_MANY_DEAD = 0.5
"""A relation is compacted when this share of its rows is dead, and they are not few."""
FEW_DEAD = 1024


@dataclass
class RowChange:
    """The net change of a relation in this epoch, as row numbers. Of a relation that was replaced, the deleted ones are
    rows of the `old` one."""

    inserted: Words
    deleted: Words
    old: Relation | None = None

    def __bool__(self) -> bool:
        return len(self.inserted) + len(self.deleted) > 0


@dataclass
class RunningEpoch:
    """What the running epoch has done so far: enough to commit it, or to undo it."""

    changes: dict[str, RowChange] = field(default_factory=dict)
    pairs: dict[str, tuple[PairRows, PairRows]] = field(default_factory=dict)  # that equivalences gained and lost
    replaced: dict[str, Relation] = field(default_factory=dict)  # relations that were evaluated anew, as they were
    from_scratch: bool = False  # whether that is all of them
    counters: dict[tuple[str, ...], tuple[int, int]] = field(default_factory=dict)  # as they were
    efforts: dict[tuple[str, ...], int] = field(default_factory=dict)  # as they were


class State:
    """See the module's docstring. `given` names the relations that hold the facts of those whose rows do not tell."""

    def __init__(
        self,
        checked: Checked,
        functors: Mapping[str, Callable[..., Any]],
        recorder: Recorder | None = None,
        by_ranks: bool = True,
        threads: int = 1,
    ) -> None:
        self.checked = checked
        self.program: StatefulProgram = stateful_program(checked, by_classes=True, by_ranks=by_ranks)
        self.inputs = {directive.relation for directive in checked.directives("input")}
        self.database = Database(threads)
        for name, arity in self.program.arities.items():
            self.database.create(name, arity, stateful=True)
        for name in self.program.implicit:
            self.database.view_equivalence(name)
        self.context = Prepared(checked, functors).context(self.database, recorder)
        self.given = {name: f"{name}@given" for name in self._hidden()}
        for name, given in self.given.items():
            self.database.create(given, self.database[name].arity)
        self.live: dict[str, int] = dict.fromkeys(self.program.arities, 0)
        self.counters: dict[tuple[str, ...], tuple[int, int]] = {}  # of autoinc(), before and after each stratum
        self.efforts: dict[tuple[str, ...], int] = {}  # bindings made by each stratum's last evaluation from scratch
        self.epoch = RunningEpoch()

    def _hidden(self) -> list[str]:
        """Input relations whose rows do not tell whether they were given: those of strata that have no iterations."""
        return [name for s in self.program.strata if s.whole for name in s.relations if name in self.inputs]

    # ---- contents

    def present(self, name: str) -> Words:
        """The numbers of the rows that are there."""
        return np.flatnonzero(self.database[name].now() != NEVER)

    def count(self, name: str) -> int:
        return self.database.views[name].count if name in self.database.views else self.live[name]

    def rows(self, name: str) -> Words:
        if name in self.database.views:
            return cast(Words, self.database.views[name].pairs())  # to its readers, an array
        relation = self.database[name]
        rows = relation.rows()
        return rows[self.present(name)] if relation.dirty else rows

    def facts(self, name: str) -> Words:
        """The tuples of a relation that were given as facts."""
        relation = self.database[name]
        if name not in self.inputs:
            return np.empty((0, relation.arity), np.int64)
        if name in self.given:
            return self.database[self.given[name]].rows().astype(np.int64)
        return relation.rows()[relation.now() == 0].astype(np.int64)

    def given_as_fact(self, name: str, rows: Words) -> np.ndarray:
        if name in self.given:
            return self.database[self.given[name]].contains(rows)
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
        (old,) = self.replace([self.given[name]])
        kept = old.rows().astype(np.int64)
        given = self.database[old.name]
        given.insert(np.concatenate((kept[~among(kept, gone)], come)))
        given.settle()

    def replace(self, names: Iterable[str]) -> list[Relation]:
        """Put an empty relation in the place of each of these, until the epoch ends; the ones that were there."""
        replaced = self.database.renew(list(names))
        self.epoch.replaced |= {old.name: old for old in replaced}
        return replaced

    def exchange(self, name: str, gone: Words, come: Words, iteration: int) -> None:
        """Rows of a derived relation, by number, that are there no longer, and others that are, in an iteration."""
        relation = self.database[name]
        for rows, now in ((gone, NEVER), (come, iteration)):
            relation.remember(rows)
            relation.set_now(rows, now)
            relation.set_derived(rows, int(now != NEVER))
        relation.dirty = True
        self.epoch.changes[name] = RowChange(come, gone)

    # ---- strata

    def reached(self, stratum: StatefulStratum) -> bool:
        """Whether the change reaches a stratum: through the strata below, its facts, or the program's counter."""
        changes, replaced = self.epoch.changes, self.epoch.replaced
        own = any(len(self.database[name].log) or self.given.get(name) in replaced for name in stratum.relations)
        return own or self.shifted(stratum) or any(changes.get(name) for name in stratum.inputs)

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
        if self.epoch.from_scratch:
            self.live = {name: self.database[name].count for name in self.program.arities}
            for old in self.epoch.replaced.values():
                self.database.retire(old)
            self.begin_epoch()
            return
        for name, change in self.epoch.changes.items():
            self.live[name] += len(change.inserted) - len(change.deleted)
        for relation in self.database:
            if relation.stateful and len(relation.log):
                relation.commit()
                self._compact(relation)
        release_spare()  # what this epoch had no use for; what it replaced is for the indexes that come next
        for name, old in self.epoch.replaced.items():
            self.database.retire(old)
            if old.stateful:
                relation = self.database[name]
                relation.forget_before()
                relation.forget_log()
                self._compact(relation)
        self.begin_epoch()

    def _compact(self, relation: Relation) -> None:
        dead = relation.count - self.live[relation.name]
        if dead > FEW_DEAD and dead > TOO_MANY_DEAD * relation.count:
            relation.compact()

    def undo(self) -> None:
        """As if the epoch had never begun."""
        for old in self.epoch.replaced.values():
            self.database.reinstate(old)
        for relation in self.database:
            if relation.stateful and len(relation.log):
                relation.undo()
        self.counters, self.efforts = self.epoch.counters, self.epoch.efforts
        self.begin_epoch()

    def begin_epoch(self) -> None:
        self.epoch = RunningEpoch(counters=dict(self.counters), efforts=dict(self.efforts))
        self.context.counter = 0
