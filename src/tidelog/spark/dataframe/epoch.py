"""One epoch: new contents from old ones, stratum by stratum.

A stratum that no change reaches keeps its table. One that a change reaches is updated; or evaluated anew, where no
update can follow (`StatefulStratum.whole`) or where it would cost more than its share of the last evaluation from
scratch. The strata above see the net change either way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tidelog.evaluate.engine import EngineOptions, StratumReport
from tidelog.plan.stateful import StatefulStratum
from tidelog.spark.dataframe.fixpoint import Evaluation
from tidelog.spark.dataframe.strata import Program, evaluate, facts_of
from tidelog.spark.dataframe.tables import Table
from tidelog.spark.dataframe.transitions import Transition, between
from tidelog.spark.dataframe.update import PaperUpdate
from tidelog.spark.dataframe.update_aggregate import AggregateUpdate
from tidelog.store.update import UNLIMITED, OverBudget

LEAST_BUDGET = 100_000
"""A stratum is always allowed to look at so many derivations: they cost less than a Spark job does."""
LOOKS = 3
"""How often Update looks at a changed derivation, about."""


@dataclass
class Contents:
    """The relations at the end of an epoch: the input facts, and for each relation the table it is in."""

    given: Table
    tables: dict[str, Table] = field(default_factory=dict)
    counters: dict[tuple[str, ...], tuple[int, int]] = field(default_factory=dict)  # of autoinc(), around each stratum
    derivations: int = 0


class Epoch:
    """The making of an epoch's contents. `changes` are the transitions of the relations that changed."""

    def __init__(self, evaluation: Evaluation, program: Program, given: Table) -> None:
        self.evaluation, self.program = evaluation, program
        self.contents = Contents(given)
        self.changes: dict[str, Transition] = {}
        self.strata: list[StratumReport] = []
        evaluation.surroundings.counter = 0

    # ---- from scratch

    def start_over(self) -> Contents:
        """Everything from the facts."""
        for number, stratum in enumerate(self.program.strata):
            self.evaluation.observer.stratum(number, len(self.program.strata), stratum.relations)
            if stratum.rules or stratum.aggregate:
                self.enter(stratum, self.evaluated(stratum))
            else:
                self.enter_facts(stratum)
        return self.finished()

    def finished(self) -> Contents:
        """The contents; inline relations, which no stratum has, are empty."""
        for name in self.program.checked.relations:
            if name not in self.contents.tables:
                self.contents.tables[name] = facts_of(self.program, (name,), {})
        return self.contents

    def evaluated(self, stratum: StatefulStratum) -> Table:
        """The stratum's table, from scratch."""
        self.evaluation.limits.relations = stratum.relations
        start = self.evaluation.surroundings.counter
        given = self.contents.given
        own = {name: given for name in stratum.relations if name in given.layout.kinds}
        table = evaluate(self.evaluation, self.program, stratum, {**self.contents.tables, **own})
        self.contents.counters[stratum.relations] = start, self.evaluation.surroundings.counter
        self.contents.derivations += table.derivations
        return table

    def enter(self, stratum: StatefulStratum, table: Table) -> None:
        self.contents.tables.update(dict.fromkeys(stratum.relations, table))

    def enter_facts(self, stratum: StatefulStratum) -> None:
        """A stratum without rules."""
        given = self.contents.given
        for name in stratum.relations:
            is_input = name in given.layout.kinds
            self.contents.tables[name] = given if is_input else facts_of(self.program, (name,), {})

    # ---- from the last epoch

    def follow(self, old: Contents, facts: Transition, options: EngineOptions, strategy: str) -> Contents:
        """What follows from a change of the facts."""
        for number, stratum in enumerate(self.program.strata):
            if not self.reached(stratum, old, facts):
                self.pass_by(stratum, old)
                continue
            self.evaluation.observer.stratum(number, len(self.program.strata), stratum.relations)
            if stratum.rules or stratum.aggregate:
                budget = self.budget(stratum, old, options) if strategy == "elastic" else UNLIMITED
                transition = self.updated(stratum, old, facts, budget, options)
                self.enter(stratum, transition.after)
            else:
                transition = facts
                self.enter_facts(stratum)
            for name in stratum.relations:
                if transition.inserted.get(name) or transition.deleted.get(name):
                    self.changes[name] = transition
        return self.finished()

    def reached(self, stratum: StatefulStratum, old: Contents, facts: Transition) -> bool:
        """Whether the change reaches a stratum: through those below, its facts, or the numbers of the counter."""
        start, stop = old.counters.get(stratum.relations, (0, 0))
        shifted = start != stop and start != self.evaluation.surroundings.counter
        return shifted or _own(stratum, facts) or any(name in self.changes for name in stratum.inputs)

    def pass_by(self, stratum: StatefulStratum, old: Contents) -> None:
        """Keep the stratum's tables, and count what it counts."""
        for name in stratum.relations:
            self.contents.tables[name] = old.tables[name]
        if not (stratum.rules or stratum.aggregate):
            self.enter_facts(stratum)
        start, stop = old.counters.get(stratum.relations, (0, 0))
        self.contents.counters[stratum.relations] = start, stop
        self.evaluation.surroundings.counter += stop - start

    def updated(
        self, stratum: StatefulStratum, old: Contents, facts: Transition, budget: int, options: EngineOptions
    ) -> Transition:
        if stratum.whole:
            return self.anew(stratum, old, f"{stratum.whole} cannot be updated")
        names = (*stratum.inputs, *stratum.relations)
        tables = {name: old.tables[name] for name in names}
        changes = {name: self.changes[name] for name in stratum.inputs if name in self.changes}
        self.evaluation.limits.relations = stratum.relations
        if stratum.aggregate is not None:
            transition = AggregateUpdate(self.evaluation, self.program, stratum.aggregate, tables, changes).run()
            self.report(stratum, "the touched groups", 0)
            return transition
        if budget != UNLIMITED and self.hopeless(stratum, tables, options):
            return self.anew(stratum, old, "too much of what it reads has changed for an Update")
        own = facts if _own(stratum, facts) else None
        update = PaperUpdate(self.evaluation, self.program, stratum, tables, changes, own, budget)
        try:
            transition = update.run()
        except OverBudget:
            why = f"Update needed more than {options.switch:g} of its last Bootstrap"
            return self.anew(stratum, old, why, update.work)
        self.contents.counters[stratum.relations] = (self.evaluation.surroundings.counter,) * 2
        self.report(stratum, "it fits the budget", update.work)
        return transition

    def report(self, stratum: StatefulStratum, why: str, work: int) -> None:
        self.contents.derivations += work
        self.strata.append(StratumReport(stratum.relations, "update", why, work))

    def anew(self, stratum: StatefulStratum, old: Contents, why: str, wasted: int = 0) -> Transition:
        """The transition to what an evaluation from scratch finds."""
        table = self.evaluated(stratum)
        self.contents.derivations += wasted
        self.strata.append(StratumReport(stratum.relations, "bootstrap", why, table.derivations + wasted))
        return between(self.evaluation.checkpoints, old.tables[stratum.relations[0]], table)

    def budget(self, stratum: StatefulStratum, old: Contents, options: EngineOptions) -> int:
        """What Update may cost, in derivations."""
        return max(LEAST_BUDGET, int(options.switch * old.tables[stratum.relations[0]].derivations))

    def hopeless(self, stratum: StatefulStratum, tables: Mapping[str, Table], options: EngineOptions) -> bool:
        """Whether it is clear beforehand that Update will not do."""
        changes = [(name, self.changes[name]) for name in stratum.inputs if name in self.changes]
        changed = sum(change.inserted[name] + change.deleted[name] for name, change in changes)
        rows = sum(tables[name].counts[name] for name in stratum.inputs)
        return changed > LEAST_BUDGET and LOOKS * changed > options.switch * rows


def _own(stratum: StatefulStratum, facts: Transition) -> bool:
    """Whether facts of the stratum's own relations changed."""
    return any(facts.inserted.get(name) or facts.deleted.get(name) for name in stratum.relations)
