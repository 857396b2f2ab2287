"""DataFrames as the holder of a program's relations (`epochs/holder.py`).

What is always true: `contents` are those of the last epoch that ended. An epoch makes new contents from the old ones,
frames that never change, so that giving it up is forgetting it. A stratum that no change reaches keeps its table; of
the others, those above see the net change. Values inside are described in `values.py`, relations in `tables.py`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from tidelog.analysis.checked import Checked
from tidelog.analysis.types import RelationInfo
from tidelog.epochs.budget import Allowance, CostAnew
from tidelog.epochs.changes import Batch
from tidelog.errors import InternalError
from tidelog.evaluate.context import recorded
from tidelog.evaluate.limits import Limits
from tidelog.plain import dataclass, field, replace
from tidelog.plan.stateful import StatefulStratum
from tidelog.spark.dataframe.fixpoint import Evaluation
from tidelog.spark.dataframe.given import FactChange, change_facts, given_table, inside
from tidelog.spark.dataframe.report import FrameReport
from tidelog.spark.dataframe.sql import Select
from tidelog.spark.dataframe.strata import FrameProgram, evaluate, facts_of
from tidelog.spark.dataframe.tables import ALONE, COUNT, ITERATION, Table, TableLayout, TablePart, column
from tidelog.spark.dataframe.transitions import Transition, between
from tidelog.spark.dataframe.update import FramePaperUpdate
from tidelog.spark.dataframe.update_aggregate import FrameAggregateUpdate
from tidelog.spark.dataframe.values import go_out
from tidelog.store.update import OverBudget


@dataclass(frozen=True)
class FrameChange:
    """A change set as DataFrames. Rows that change nothing are left out, and counted; an error if it is strict."""

    delete: Mapping[str, DataFrame]
    insert: Mapping[str, DataFrame]
    strict: bool = False
    batch: Batch | None = None


@dataclass
class Contents:
    """The relations at the end of an epoch: the input facts, and for each relation the table it is in."""

    given: Table
    tables: dict[str, Table] = field(default_factory=dict)
    counters: dict[tuple[str, ...], tuple[int, int]] = field(default_factory=dict)  # of autoinc(), around each stratum
    seconds: dict[tuple[str, ...], float] = field(default_factory=dict)  # what each stratum took from scratch


class FrameHolder:
    """See the module's docstring."""

    least_budget = few_changes = 100_000  # to look at so many derivations costs less than a Spark job does

    def __init__(self, program: FrameProgram, evaluation: Evaluation) -> None:
        self.program, self.evaluation = program, evaluation
        self.limits: Limits = evaluation.limits
        self.contents: Contents | None = None
        self.foreign = False  # whether the contents were computed elsewhere
        self._new: Contents | None = None  # those of the running epoch
        self._from_scratch = False  # whether they come from nothing but facts
        self._changes: dict[str, Transition] = {}  # of the relations that it has changed
        self._facts: tuple[FrameChange, FactChange] | None = None  # its change set, and what that does to the facts
        self._actions = 0  # that Spark had run when it began

    @property
    def checked(self) -> Checked:
        return self.program.checked

    @property
    def strata(self) -> Sequence[StatefulStratum]:
        return self.program.strata

    @property
    def old(self) -> Contents:
        """The contents of the last epoch."""
        if self.contents is None:
            raise InternalError("nothing was bootstrapped yet")
        return self.contents

    @property
    def new(self) -> Contents:
        """Those of the running one."""
        if self._new is None:
            raise InternalError("no epoch is running")
        return self._new

    @contextmanager
    def epoch(self, doing: str = "") -> Iterator[None]:
        """Limits hold for each epoch anew."""
        self.evaluation.limits = replace(self.limits, started=time.monotonic())
        self._actions = self.evaluation.checkpoints.actions
        self._forget()
        yield

    def _begin(self, given: Table) -> None:
        """New contents, from these facts. Inline relations, which no stratum has, are empty."""
        self._new, self._changes, self._from_scratch = Contents(given), {}, False
        self.evaluation.surroundings.counter = 0
        held = {name for stratum in self.strata for name in stratum.relations}
        for name in self.checked.relations.keys() - held:
            self._new.tables[name] = facts_of(self.program, (name,), {})

    def _visit(self, stratum: StatefulStratum) -> None:
        self.evaluation.observer.stratum(self.strata.index(stratum), len(self.strata), stratum.relations)
        self.evaluation.limits.relations = stratum.relations

    # ---- from scratch

    def take_over(
        self, relations: Mapping[str, DataFrame], counts: Mapping[str, int], facts: Mapping[str, DataFrame]
    ) -> None:
        """Go on from an epoch that was computed elsewhere: the tuples of its relations (those left out are empty), how
        many they are, and the facts. The next epoch starts over, since nobody knows how the tuples were derived."""
        tables = {}
        for name, info in self.checked.relations.items():
            layout, state = TableLayout({name: info.kinds}), {ITERATION: "0", COUNT: "1L"}
            rows = layout.empty()
            if name in relations:
                rows = layout.tagged(name, inside(relations[name], info, self.checked), state)
            tables[name] = Table(layout, (TablePart(rows, 0, 0),), {name: counts.get(name, 0)}, counts.get(name, 0))
        given = given_table(self.evaluation, self.checked, facts)
        self.contents, self.foreign = Contents(given, tables), True

    def start_over(self, facts: Mapping[str, DataFrame] | Table) -> int:
        self._begin(facts if isinstance(facts, Table) else given_table(self.evaluation, self.checked, facts))
        self._from_scratch = True
        return sum(self._from_facts(stratum) for stratum in self.strata)

    def _from_facts(self, stratum: StatefulStratum) -> int:
        """Fill the stratum's table, from scratch; the derivations found."""
        self._visit(stratum)
        contents, surroundings = self.new, self.evaluation.surroundings
        if not stratum.defined:
            self._enter_facts(stratum)
            return 0
        start, began = surroundings.counter, time.perf_counter()
        own = {name: contents.given for name in stratum.relations if name in contents.given.layout.kinds}
        table = evaluate(self.evaluation, self.program, stratum, {**contents.tables, **own})
        contents.counters[stratum.relations] = start, surroundings.counter
        contents.seconds[stratum.relations] = time.perf_counter() - began
        contents.tables.update(dict.fromkeys(stratum.relations, table))
        return table.derivations

    def _enter_facts(self, stratum: StatefulStratum) -> None:
        """The tables of a stratum without rules."""
        given = self.new.given
        for name in stratum.relations:
            is_input = name in given.layout.kinds
            self.new.tables[name] = given if is_input else facts_of(self.program, (name,), {})

    # ---- from the epoch before

    def facts_after(self, change: FrameChange) -> Table:
        return self._fact_change(change).transition.after

    def _fact_change(self, change: FrameChange) -> FactChange:
        if self._facts is None or self._facts[0] is not change:
            found = change_facts(self.evaluation, self.checked, self.old.given, change.delete, change.insert)
            self._facts = change, found
        return self._facts[1]

    def apply(self, change: FrameChange) -> None:
        found = self._fact_change(change)
        if change.strict:
            found.refuse_needless()
        if self.foreign:
            raise OverBudget("it has become too large for one process")
        self._begin(found.transition.after)
        self.new.seconds |= self.old.seconds

    def reached(self, stratum: StatefulStratum) -> bool:
        start, stop = self.old.counters.get(stratum.relations, (0, 0))
        shifted = start != stop and start != self.evaluation.surroundings.counter
        own = self._own_facts(stratum) is not None
        return shifted or own or any(name in self._changes for name in stratum.inputs)

    def _own_facts(self, stratum: StatefulStratum) -> Transition | None:
        """The transition of the facts, if some of the stratum's own relations changed."""
        assert self._facts is not None
        facts = self._facts[1].transition
        own = any(facts.inserted.get(name) or facts.deleted.get(name) for name in stratum.relations)
        return facts if own else None

    def pass_by(self, stratum: StatefulStratum) -> None:
        for name in stratum.relations:
            self.new.tables[name] = self.old.tables[name]
        if not stratum.defined:
            self._enter_facts(stratum)
        start, stop = self.old.counters.get(stratum.relations, (0, 0))
        self.new.counters[stratum.relations] = start, stop
        self.evaluation.surroundings.counter += stop - start

    def changed(self, stratum: StatefulStratum) -> int:
        changes = [(name, self._changes[name]) for name in stratum.inputs if name in self._changes]
        return sum(change.inserted[name] + change.deleted[name] for name, change in changes)

    def read(self, stratum: StatefulStratum) -> int:
        return sum(self.old.tables[name].counts[name] for name in stratum.inputs)

    def cost(self, stratum: StatefulStratum) -> CostAnew:
        """In derivations; and by the clock, since an iteration has the price of a Spark job."""
        if not stratum.defined:
            return CostAnew()
        table = self.old.tables[stratum.relations[0]]
        return CostAnew(table.derivations, self.old.seconds.get(stratum.relations), table.parts[-1].last)

    def take_facts(self, stratum: StatefulStratum) -> None:
        self._visit(stratum)
        self._enter_facts(stratum)
        facts = self._own_facts(stratum)
        if facts is not None:
            self._note(stratum, facts)

    def update(self, stratum: StatefulStratum, allowance: Allowance) -> int:
        self._visit(stratum)
        tables = {name: self.old.tables[name] for name in (*stratum.inputs, *stratum.relations)}
        changes = {name: self._changes[name] for name in stratum.inputs if name in self._changes}
        with recorded(self.evaluation.recorder, f"update of {', '.join(stratum.relations)}"):
            if stratum.aggregate is not None:
                parts = self.program, stratum.aggregate, tables, changes
                transition, work = FrameAggregateUpdate(self.evaluation, *parts).run(), 0
            else:
                own = self._own_facts(stratum)
                update = FramePaperUpdate(self.evaluation, self.program, stratum, tables, changes, own, allowance)
                transition, work = update.run(), update.work
        self.new.counters[stratum.relations] = (self.evaluation.surroundings.counter,) * 2
        self.new.tables.update(dict.fromkeys(stratum.relations, transition.after))
        self._note(stratum, transition)
        return work

    def give_up(self, stratum: StatefulStratum) -> None:
        """There is nothing to take back: what an update makes is entered at its end."""

    def evaluate(self, stratum: StatefulStratum) -> int:
        if not stratum.defined:
            self.take_facts(stratum)
            return 0
        found, first = self._from_facts(stratum), stratum.relations[0]
        transition = between(self.evaluation.checkpoints, self.old.tables[first], self.new.tables[first])
        self.new.tables.update(dict.fromkeys(stratum.relations, transition.after))
        self._note(stratum, transition)
        return found

    def _note(self, stratum: StatefulStratum, transition: Transition) -> None:
        for name in stratum.relations:
            if transition.inserted.get(name) or transition.deleted.get(name):
                self._changes[name] = transition

    # ---- the end

    def new_report(self, epoch: int, strategy: str, why: str) -> FrameReport:
        return FrameReport(epoch, strategy, why, 0.0, 0)

    def report_changes(self, report: FrameReport) -> None:
        for name in self.checked.relations:
            if not self._from_scratch:
                if name in self._changes:
                    self._report(report, name, self._changes[name])
            elif self.contents is not None:
                tables = [contents.tables[name] for contents in (self.old, self.new)]
                parts = [facts_of(self.program, (name,), {name: table}) for table in tables]
                self._report(report, name, between(self.evaluation.checkpoints, *parts))
            elif number := self.new.tables[name].counts[name]:
                report.inserted[name] = self.outside(name, self.new.tables[name].relation(name))
                report.inserted_counts[name] = number
        if self._facts is not None:
            found = self._facts[1]
            report.ignored_inserts, report.ignored_deletes = found.ignored_inserts, found.ignored_deletes
        report.actions = self.evaluation.checkpoints.actions - self._actions

    def _report(self, report: FrameReport, name: str, change: Transition) -> None:
        if change.inserted[name]:
            report.inserted[name] = self.outside(name, change.rows_inserted(name))
            report.inserted_counts[name] = change.inserted[name]
        if change.deleted[name]:
            report.deleted[name] = self.outside(name, change.rows_deleted(name))
            report.deleted_counts[name] = change.deleted[name]

    def effects(self) -> None:
        """Nobody keeps them."""

    def commit(self) -> None:
        self.contents, self.foreign = self.new, False
        self._forget()

    def undo(self) -> None:
        facts = self._facts
        self._forget()
        self._facts = facts  # for an epoch that starts over

    def _forget(self) -> None:
        self._new, self._changes, self._facts = None, {}, None

    # ---- contents, as users see them

    def outside(self, name: str, rows: Select) -> DataFrame:
        columns = outer_columns(self.checked, self.checked.relations[name])
        return rows.frame(self.evaluation.surroundings.spark).select(*columns)


def outer_columns(checked: Checked, info: RelationInfo) -> list[Column]:
    """A relation's columns as users see them."""
    types = [checked.types.types[declared] for declared in info.types]
    return [
        go_out(column(i), declared).alias(attribute)
        for i, (attribute, declared) in enumerate(zip(info.attributes, types, strict=True))
    ] or [F.lit(True).alias(ALONE)]
