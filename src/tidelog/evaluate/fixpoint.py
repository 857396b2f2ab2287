"""Stratified semi-naive evaluation over plans.

Strata run in topological order. A stratum of native steps runs to its fixpoint inside the store; one with steps in
Python, or with special relations, is driven from here, iteration by iteration:

    run the plans without a pivot; then everything found is the delta
    repeat: run each plan with its pivot over the delta; what is new becomes the next delta; until nothing is new

Orders are chosen when a stratum begins, from the sizes and fan-outs of that moment, and looked at again after 8, 16,
32, … iterations if a relation has grown to four times the size that they were chosen for.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from tidelog.evaluate.best_of import FromNothing
from tidelog.evaluate.bindings import Words
from tidelog.evaluate.context import Context, recorded
from tidelog.evaluate.lattices import LatticeGate
from tidelog.evaluate.limits import Limits, Observer, PlanObserver, Silent
from tidelog.evaluate.special import ChoiceGate, EquivalenceGate, Gate
from tidelog.evaluate.stages import PlanRun
from tidelog.evaluate.statistics import Statistics
from tidelog.evaluate.subsumption import SubsumptionGate, reads
from tidelog.plain import replace
from tidelog.plan import steps
from tidelog.plan.best_of import BestOf
from tidelog.plan.gates import GatePlan
from tidelog.plan.program import ProgramPlan, StratumPlan, plan_stratum
from tidelog.store import ArithmeticFault, is_native, release_spare

FIRST_LOOK = 8
"""The iteration after which join orders are reconsidered for the first time."""


class Fixpoint:
    """One batch evaluation of a program. The database must hold the input facts, settled."""

    def __init__(
        self,
        program: ProgramPlan,
        context: Context,
        limits: Limits | None = None,
        observer: Observer | None = None,
    ) -> None:
        self.program = program
        self.context = context
        self.database = context.database
        self.limits = limits or Limits()
        self.observer = observer or Silent()
        self.recorder = context.recorder
        self.size_limits = program.checked.size_limits
        self.derivations = 0
        self.effort = 0
        self.statistics: Statistics | None = None

    def run(self) -> None:
        for number, stratum in enumerate(self.program.strata):
            if stratum.rules and not self.is_idle(stratum):
                self.run_one(number, stratum)
            for name in self.program.implicit.intersection(stratum.stratum.relations):
                self.database.complete_equivalence(name)
        release_spare()

    def is_idle(self, stratum: StratumPlan) -> bool:
        """Whether no rule of the stratum can fire, each having an atom over a relation without tuples, and nobody wants
        to see its plans: they are not made then."""
        if stratum.gates or stratum.best or self.recorder is not None or isinstance(self.observer, PlanObserver):
            return False
        return all(any(self.database[atom.relation].count == 0 for atom in r.atoms()) for r in stratum.rules)

    def run_one(self, number: int, stratum: StratumPlan) -> None:
        """Run a stratum of the program, the one of this number, whose inputs are complete."""
        self.observer.stratum(number, len(self.program.strata), stratum.stratum.relations)
        self.limits.relations = stratum.stratum.relations
        with recorded(self.recorder, "going from iteration to iteration", stage="iterations"):
            if stratum.best is None or not self.run_by_rank(stratum, stratum.best):
                self.run_stratum(self.reordered(stratum))

    def run_by_rank(self, stratum: StratumPlan, best: BestOf) -> bool:
        """Evaluate a stratum in which only the best counts, rank by rank; False, and nothing has changed, if its data
        are not what its rules say."""
        evaluation = FromNothing(self.context, stratum.stratum.relations, stratum.rules, best, self.watch)
        with recorded(self.recorder, f"the best of {', '.join(stratum.stratum.relations)}", stage="rules"):
            if not evaluation.run():
                return False
        if isinstance(self.observer, PlanObserver):
            self.observer.planned(replace(stratum, once=evaluation.once, delta=evaluation.delta))
        self.derivations += evaluation.derivations
        self.effort += evaluation.effort
        return True

    def reordered(self, stratum: StratumPlan) -> StratumPlan:
        """The stratum with plans, ordered by what the relations hold now."""
        names = stratum.stratum.relations
        if self.statistics is None or self.statistics.growing != frozenset(names):
            inputs = {atom.relation for rule in stratum.rules for atom in rule.atoms()}
            expected = max((self.database[name].count for name in inputs), default=0)
            self.statistics = Statistics(self.database, names, float(expected))
        elif not self.statistics.outgrown():
            return stratum
        with recorded(self.recorder, "planning", stage="planning"):
            planned = plan_stratum(stratum.stratum, stratum.rules, self.statistics, stratum.counted)
        planned = replace(planned, gates=stratum.gates, best=stratum.best)
        if isinstance(self.observer, PlanObserver):
            self.observer.planned(planned)
        return planned

    def run_stratum(self, stratum: StratumPlan) -> None:
        gates = {plan.relation: self.gate(plan, stratum) for plan in stratum.gates}
        facts = {name: self.encoded(rows) for name, rows in stratum.facts.items()}
        plans = (*stratum.starting, *stratum.delta)
        limited = not self.size_limits.relations.isdisjoint(stratum.stratum.relations)
        native = all(is_native(step) for plan in plans for step in plan.steps)
        if native and not gates and not limited and self.recorder is None:
            self.run_native(stratum, lambda: self.enter(facts, gates))
        else:
            self.drive(stratum, gates, lambda: self.enter(facts, gates))

    def encoded(self, rows: list[tuple[steps.Const, ...]]) -> Words:
        words = [[self.database.encode(value) for value in row] for row in rows]
        return np.array(words, np.int64).reshape(len(rows), -1)

    def enter(self, facts: dict[str, Words], gates: dict[str, Gate]) -> None:
        for name, batch in facts.items():
            gates[name].accept(batch) if name in gates else self.database[name].insert(batch)
            self.derivations += len(batch)

    def run_native(self, stratum: StratumPlan, begin: Callable[[], None]) -> None:
        """Run to the fixpoint inside the store, stopping now and then to see whether other orders would be better."""
        done, pause = 0, FIRST_LOOK
        while True:
            plans = (*stratum.starting, *stratum.delta)
            native = self.database.stratum(stratum.stratum.relations, plans)
            better = stratum
            while better.delta == stratum.delta:
                try:
                    done = native.run(self.watch, after=done, most=pause, begin=begin)
                except ArithmeticFault as problem:
                    raise self.context.fault(plans[problem.plan].rule, str(problem)) from None
                if native.finished:
                    self.derivations += sum(native.derivations)
                    self.effort += native.effort
                    return
                pause = 2 * done
                better = self.reordered(stratum)
            self.derivations += sum(native.derivations)
            self.effort += native.effort
            stratum = better

    def watch(self, iteration: int, tuples: int) -> None:
        self.observer.progress(iteration, tuples)
        self.limits.check(iteration, tuples)

    # ---- driven strata

    def gate(self, plan: GatePlan, stratum: StratumPlan) -> Gate:
        relation = self.database[plan.relation]
        if plan.subsumptions:
            seen = plan.relation in self.size_limits.relations or _looks_at_all_of(plan.relation, stratum)
            return SubsumptionGate(self.context, relation, plan.subsumptions, seen, stratum.stratum.relations)
        if plan.lubs:
            seen = plan.relation in self.size_limits.relations or _looks_at_all_of(plan.relation, stratum)
            return LatticeGate(self.context, relation, plan.lubs, seen)
        return ChoiceGate(relation, plan.keys) if plan.keys else EquivalenceGate(relation)

    def drive(self, stratum: StratumPlan, gates: dict[str, Gate], begin: Callable[[], None]) -> None:
        relations = [self.database[name] for name in stratum.stratum.relations]
        runs = {
            plan: PlanRun(
                self.context,
                plan,
                gates[head].accept if (head := _head(plan)) in gates else None,
                stratum.stratum.relations,
            )
            for plan in (*stratum.starting, *stratum.delta)
        }
        self.context.iteration = 0
        if stratum.counted:  # iteration 1 is what is found from the facts alone
            _restart(relations)
        begin()
        self.run_plans([runs[p] for p in stratum.starting], 0)
        self.close(gates)
        if stratum.delta:
            if not stratum.counted:
                _restart(relations)
            self.iterate(stratum, [runs[p] for p in stratum.delta], relations, gates)
        for gate in gates.values():
            gate.finish()
        for relation in relations:
            relation.settle()
        self.derivations += sum(run.derivations for run in runs.values())
        self.effort += sum(run.effort for run in runs.values())

    def iterate(self, stratum: StratumPlan, runs: list[PlanRun], relations: list[Any], gates: dict[str, Gate]) -> None:
        iteration = 0
        while True:
            iteration += 1
            self.context.iteration = iteration - 1
            self.watch(iteration, sum(r.count for r in relations))
            self.run_plans(runs, iteration)
            self.close(gates)
            if sum(relation.advance() for relation in relations) == 0 or self.full(stratum):
                return

    def close(self, gates: dict[str, Gate]) -> None:
        for name, gate in gates.items():
            with recorded(self.recorder, f"what stays of {name}", self.context.iteration):
                gate.close()

    def full(self, stratum: StratumPlan) -> bool:
        return self.size_limits.reached(stratum.stratum.relations, lambda name: self.database[name].count)

    def run_plans(self, runs: list[PlanRun], iteration: int) -> None:
        for run in runs:
            if self.recorder is None:
                run.run()
            else:
                head = self.database[_head(run.plan)]
                before, derived, start = head.count, run.derivations, time.perf_counter()
                indexing = self.database.indexing
                run.run()
                indexing = self.database.indexing - indexing
                self.recorder.spent("bringing indexes up to date", "indexes", iteration, indexing)
                self.recorder.rule(
                    run.plan.rule,
                    iteration,
                    time.perf_counter() - start - indexing,
                    head.count - before,
                    run.derivations - derived,
                )


def _looks_at_all_of(name: str, stratum: StratumPlan) -> bool:
    """Whether a plan of the stratum looks at more of a relation than its last changes, or a subsumption of another
    relation looks at it."""
    if any(reads(rule, (name,)) for gate in stratum.gates for rule in gate.subsumptions if rule.relation != name):
        return True
    matches = (match for plan in (*stratum.starting, *stratum.delta) for match in steps.matches_of(plan.steps))
    return any(match.relation == name and match.view is not steps.View.DELTA for match in matches)


def _restart(relations: list[Any]) -> None:
    for relation in relations:
        relation.restart()


def _head(plan: steps.Plan) -> str:
    last = plan.steps[-1]
    assert isinstance(last, steps.Emit)
    return last.relation
