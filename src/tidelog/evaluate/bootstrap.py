"""Bootstrap (the paper's Algorithm 2): semi-naive evaluation from scratch that also leaves the state for updates.

    N_0 <- E, each fact once
    for k = 1, 2, …: N_k <- the heads, and how often they are derived, of the rule instances over I_{k-1} with a body
                     tuple in N_{k-1}, but for heads that are in I_{k-1}; until N_k is empty

It is the fixpoint of `fixpoint.py` over *counted* strata and relations with state: each derivation is found exactly
once, and the store counts it if its head belongs to the running iteration. Relations are new ones; those of the last
epoch stay until the new ones are complete.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tidelog.analysis.strata import Stratum
from tidelog.errors import error
from tidelog.evaluate.best_of import forget_levels, ranked
from tidelog.evaluate.bindings import Words
from tidelog.evaluate.facts import Facts, enter
from tidelog.evaluate.fixpoint import Fixpoint
from tidelog.evaluate.limits import Limits, Observer
from tidelog.evaluate.state import State
from tidelog.evaluate.updates.equivalences import classify
from tidelog.plan.program import ProgramPlan, StratumPlan
from tidelog.plan.stateful import StatefulProgram, StatefulStratum
from tidelog.store import MOST_DERIVATIONS, Relation, release_spare


class Bootstrap:
    """Evaluates a state from scratch, or single strata of it."""

    def __init__(self, state: State, limits: Limits | None = None, observer: Observer | None = None) -> None:
        self.state, self.limits, self.observer = state, limits, observer
        self.derivations = 0

    def run(self, facts: Mapping[str, Facts]) -> None:
        """All strata, from these facts; the running epoch has the relations as they were."""
        state, database = self.state, self.state.database
        state.epoch.from_scratch = True
        state.replace([*state.program.arities, *state.given.values()])
        state.context.counter = 0
        for name, rows in facts.items():
            enter(database, name, rows, database[state.given.get(name, name)])
        self.evaluate(state.program.strata)

    def evaluate(self, strata: Sequence[StatefulStratum]) -> None:
        """These strata, whose relations hold nothing but their facts."""
        program = rules_of_strata(self.state.program, strata)
        fixpoint = self.fixpoint(program)
        effort = 0
        for number, (stratum, plan) in enumerate(zip(strata, fixpoint.program.strata, strict=True)):
            if plan.rules or stratum.whole:
                start = self.state.context.counter
                self.run_stratum(fixpoint, number, stratum, plan)
                self.state.counters[stratum.relations] = start, self.state.context.counter
                self.state.efforts[stratum.relations] = fixpoint.effort - effort
                effort = fixpoint.effort
            elif stratum.equivalence is not None:
                self.classify(stratum, stratum.equivalence)
            for name in stratum.relations:
                refuse_overflow(self.state.database[name])
        self.derivations += fixpoint.derivations
        release_spare()

    def fixpoint(self, program: ProgramPlan) -> Fixpoint:
        return Fixpoint(program, self.state.context, self.limits, self.observer)

    def run_stratum(self, fixpoint: Fixpoint, number: int, stratum: StatefulStratum, plan: StratumPlan) -> None:
        fixpoint.run_one(number, plan)
        if stratum.best is not None and not ranked(self.state.database, stratum.best):
            forget_levels(self.state.database, stratum.best)

    def classify(self, stratum: StatefulStratum, equivalence: str) -> None:
        classify(self.state, equivalence)


def rules_of_strata(program: StatefulProgram, strata: Sequence[StatefulStratum]) -> ProgramPlan:
    """The strata, to be ordered when they begin, by plans that find each derivation once; whole ones as in batch."""

    def rules_of(stratum: StatefulStratum) -> StratumPlan:
        rules = stratum.rules if stratum.aggregate is None else (stratum.aggregate.rule(),)
        relations = Stratum(stratum.relations, (), stratum.recursive)
        counted = not (stratum.whole or stratum.best)
        return StratumPlan(relations, rules, (), (), counted, stratum.gates, stratum.best)

    return ProgramPlan(program.checked, tuple(rules_of(stratum) for stratum in strata), program.implicit)


def fill(relation: Relation, rows: Words) -> None:
    """The facts of a relation, in iteration 0."""
    relation.insert(rows)
    relation.settle()
    relation.iteration = 0


def refuse_overflow(relation: Relation) -> None:
    """Raise if a tuple of the relation has more derivations than can be counted: nothing could be taken off soundly."""
    if relation.overflown:
        raise error(
            "TL0904",
            f"a tuple of {relation.name} has more derivations in one iteration than can be counted "
            f"({MOST_DERIVATIONS:,})",
            help="evaluate this program in batch (strategy='batch'), which does not count",
        )
