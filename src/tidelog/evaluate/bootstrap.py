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

from tidelog.analysis.graph import Stratum
from tidelog.errors import TidelogError, error
from tidelog.evaluate.bindings import Words
from tidelog.evaluate.facts import Facts, enter
from tidelog.evaluate.fixpoint import Fixpoint
from tidelog.evaluate.limits import Limits, Observer
from tidelog.evaluate.state import State
from tidelog.io.sizes import size_limits
from tidelog.plan.estimate import Guess
from tidelog.plan.program import ProgramPlan, StratumPlan, plan_stratum
from tidelog.plan.stateful import StatefulProgram, StatefulStratum
from tidelog.store import Relation, release_spare
from tidelog.store.layout import NEVER, R_OVERFLOW


class Bootstrap:
    """Evaluates a state from scratch, or single strata of it."""

    def __init__(self, state: State, limits: Limits | None = None, observer: Observer | None = None) -> None:
        self.state, self.limits, self.observer = state, limits, observer
        self.derivations = 0
        self.efforts: dict[tuple[str, ...], int] = {}  # bindings made, per stratum

    def run(self, facts: Mapping[str, Facts]) -> list[Relation]:
        """All strata, from these facts; the relations that were replaced."""
        state, database = self.state, self.state.database
        names = [*state.program.arities, *(given.name for given in state.given.values())]
        replaced = database.renew(names)
        state.context.counter = 0
        try:
            for name, rows in facts.items():
                enter(database, name, rows, database[state.given[name].name if name in state.given else name])
            self.evaluate(state.program.strata)
        except BaseException:
            self.give_up(replaced)
            raise
        for name in state.given:
            state.given[name] = database[state.given[name].name]
        state.live = {name: database[name].count for name in state.program.arities}
        return replaced

    def give_up(self, replaced: list[Relation]) -> None:
        """Put everything back that `run` has replaced."""
        state = self.state
        for relation in replaced:
            state.database.reinstate(relation)
        for name in state.given:
            state.given[name] = state.database[state.given[name].name]
        state.live = {name: int((state.database[name].now() != NEVER).sum()) for name in state.program.arities}
        state.undo()

    def evaluate(self, strata: Sequence[StatefulStratum]) -> None:
        """These strata, whose relations hold nothing but their facts."""
        sizes = size_limits(self.state.checked.directives("limitsize"))
        fixpoint = Fixpoint(
            counted_plan(self.state.program, strata), self.state.context, self.limits, self.observer, size_limits=sizes
        )
        effort = 0
        for stratum, plan in zip(strata, fixpoint.program.strata, strict=True):
            if plan.rules or stratum.whole:
                start = self.state.context.counter
                fixpoint.run_one(plan)
                self.state.counters[stratum.relations] = start, self.state.context.counter
                self.efforts[stratum.relations] = fixpoint.effort - effort
                effort = fixpoint.effort
            for name in stratum.relations:
                if self.state.database[name].block[R_OVERFLOW // 8]:
                    raise too_many_derivations(name)
        self.derivations += fixpoint.derivations
        release_spare()


def counted_plan(program: StatefulProgram, strata: Sequence[StatefulStratum]) -> ProgramPlan:
    """The strata as plans that find each derivation once; whole ones as they are in batch."""
    guess = Guess(program.arities)

    def planned(stratum: StatefulStratum) -> StratumPlan:
        rules = stratum.rules if stratum.aggregate is None else (stratum.aggregate.rule(),)
        relations = Stratum(stratum.relations, (), stratum.recursive)
        return plan_stratum(program.checked, relations, guess, rules, counted=not stratum.whole)

    return ProgramPlan(program.checked, tuple(planned(stratum) for stratum in strata), {})


def fill(relation: Relation, rows: Words) -> None:
    """The facts of a relation, in iteration 0."""
    relation.insert(rows)
    relation.settle()
    relation.iteration = 0


def too_many_derivations(name: str) -> TidelogError:
    return error(
        "TL0904",
        f"a tuple of {name} has more derivations in one iteration than can be counted",
        help="evaluate this program in batch (strategy='batch'), which does not count",
    )
