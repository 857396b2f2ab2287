"""A checked program as plans: for each stratum, what runs once and what runs in every iteration.

A run takes the rules of each stratum (`core_program`) and orders them when the stratum begins, by what its relations
hold then; `plan_program` orders all of them beforehand, by a guess, to be shown.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tidelog.analysis.check import Checked
from tidelog.analysis.graph import Stratum
from tidelog.analysis.unsupported import refuse_unsupported
from tidelog.errors import Report
from tidelog.lang.depth import deep_recursion
from tidelog.plan import core, steps
from tidelog.plan.delta import delta_plans
from tidelog.plan.equivalences import by_classes, classes_of, implicit_equivalences, sizes_of
from tidelog.plan.estimate import Estimate, Guess
from tidelog.plan.flatten import flatten
from tidelog.plan.indexes import Index, fewest_indexes, signatures
from tidelog.plan.order import order


@dataclass(frozen=True)
class StratumRules:
    """The rules of a stratum, not yet ordered."""

    stratum: Stratum
    rules: tuple[core.CoreRule, ...]

    @property
    def relations(self) -> tuple[str, ...]:
        return self.stratum.relations

    @property
    def subsumptions(self) -> tuple[core.CoreRule, ...]:
        return tuple(rule for rule in self.rules if rule.subsumes)


@dataclass(frozen=True)
class StratumPlan(StratumRules):
    """The rules and their plans. `once` starts the stratum; `delta` is repeated until nothing new is found."""

    once: tuple[steps.Plan, ...]
    delta: tuple[steps.Plan, ...]


@dataclass(frozen=True)
class ProgramPlan:
    strata: tuple[StratumPlan, ...]
    indexes: dict[str, list[Index]]
    columns: dict[str, tuple[str, ...]]  # of every relation that a plan may name

    def plans(self) -> Iterator[steps.Plan]:
        for stratum in self.strata:
            yield from stratum.once
            yield from stratum.delta


def columns_of(checked: Checked) -> dict[str, tuple[str, ...]]:
    """The columns of the program's relations and of those that rewriting adds."""
    columns = {name: tuple(info.attributes) for name, info in checked.relations.items()}
    for name in implicit_equivalences(checked):
        columns[classes_of(name)] = ("element", "class")
        columns[sizes_of(name)] = ("class", "size")
    return columns


def core_program(checked: Checked) -> tuple[StratumRules, ...]:
    """The rules of every stratum; what cannot be evaluated yet is refused."""
    report = Report()
    refuse_unsupported(checked.program, checked.clauses, report)
    report.check()
    implicit = implicit_equivalences(checked)
    with deep_recursion():
        return tuple(
            StratumRules(
                stratum,
                tuple(
                    rule
                    for number in stratum.clauses
                    for rule in by_classes(flatten(number, checked.clause_types[number]), implicit)
                ),
            )
            for stratum in checked.strata
        )


def plan_program(checked: Checked) -> ProgramPlan:
    """Plans for every rule, ordered without statistics."""
    columns = columns_of(checked)
    arities = {name: len(found) for name, found in columns.items()}
    guess = Guess(arities)
    strata = tuple(plan_stratum(rules, guess) for rules in core_program(checked))
    plans = [plan for s in strata for plan in (*s.once, *s.delta)]
    needed = signatures(plans, arities)
    return ProgramPlan(strata, {name: fewest_indexes(name, found) for name, found in needed.items()}, columns)


def plan_stratum(stratum: StratumRules, estimate: Estimate) -> StratumPlan:
    """The plans of a stratum, ordered by what is known of its relations."""
    once: list[steps.Plan] = []
    delta: list[steps.Plan] = []
    with deep_recursion():
        for rule in stratum.rules:
            if rule.subsumes:
                continue
            plans = delta_plans(rule, stratum.relations, estimate)
            delta += plans
            if not plans:
                once.append(order(rule, {}, estimate))
    return StratumPlan(stratum.stratum, stratum.rules, tuple(once), tuple(delta))
