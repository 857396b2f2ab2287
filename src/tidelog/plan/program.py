"""A checked program as plans: for each stratum, what runs once and what runs in every iteration."""

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
from tidelog.plan.equivalences import classes_of, implicit_equivalences, rules_by_classes, sizes_of
from tidelog.plan.estimate import Estimate, Guess
from tidelog.plan.flatten import flatten
from tidelog.plan.indexes import Index, fewest_indexes, signatures
from tidelog.plan.order import order


@dataclass(frozen=True)
class StratumPlan:
    """The rules of a stratum. `once` starts it; `delta` is repeated until nothing new is found.

    A `counted` one finds each derivation once, for relations that keep state.
    """

    stratum: Stratum
    rules: tuple[core.CoreRule, ...]
    once: tuple[steps.Plan, ...]
    delta: tuple[steps.Plan, ...]
    counted: bool = False

    @property
    def subsumptions(self) -> tuple[core.CoreRule, ...]:
        return tuple(rule for rule in self.rules if rule.subsumes)


@dataclass(frozen=True)
class ProgramPlan:
    """The plans of a program; its rules know the `implicit` equivalences by their classes."""

    checked: Checked
    strata: tuple[StratumPlan, ...]
    indexes: dict[str, list[Index]]
    implicit: frozenset[str] = frozenset()

    @property
    def columns(self) -> dict[str, tuple[str, ...]]:
        return columns_of(self.checked, self.implicit)

    def plans(self) -> Iterator[steps.Plan]:
        for stratum in self.strata:
            yield from stratum.once
            yield from stratum.delta


def columns_of(checked: Checked, implicit: frozenset[str]) -> dict[str, tuple[str, ...]]:
    """The columns of the program's relations and of the classes of the equivalences."""
    columns = {name: tuple(info.attributes) for name, info in checked.relations.items()}
    for name in implicit:
        columns[classes_of(name)] = ("element", "class")
        columns[sizes_of(name)] = ("class", "size")
    return columns


def refuse_unplannable(checked: Checked) -> None:
    """An error with everything in the program that cannot be evaluated yet."""
    report = Report()
    refuse_unsupported(checked.program, checked.clauses, report)
    report.check()


def plan_program(checked: Checked) -> ProgramPlan:
    """Plans for every rule, ordered without statistics; what cannot be evaluated yet is refused."""
    refuse_unplannable(checked)
    implicit = implicit_equivalences(checked)
    arities = {name: len(columns) for name, columns in columns_of(checked, implicit).items()}
    guess = Guess(arities)
    with deep_recursion():
        strata = tuple(
            plan_stratum(checked, stratum, guess, rules_by_classes(flat_rules(checked, stratum), implicit))
            for stratum in checked.strata
        )
    plans = [plan for s in strata for plan in (*s.once, *s.delta)]
    needed = signatures(plans, arities)
    indexes = {name: fewest_indexes(name, found) for name, found in needed.items()}
    return ProgramPlan(checked, strata, indexes, implicit)


def flat_rules(checked: Checked, stratum: Stratum) -> tuple[core.CoreRule, ...]:
    return tuple(flatten(number, checked.clause_types[number]) for number in stratum.clauses)


def plan_stratum(
    checked: Checked,
    stratum: Stratum,
    estimate: Estimate,
    rules: tuple[core.CoreRule, ...] | None = None,
    counted: bool = False,
) -> StratumPlan:
    """The plans of a stratum; `rules` spares the work when they are known from an earlier planning."""
    if rules is None:
        rules = flat_rules(checked, stratum)
    once: list[steps.Plan] = []
    delta: list[steps.Plan] = []
    for rule in rules:
        if rule.subsumes:
            continue
        plans = delta_plans(rule, stratum.relations, estimate, existential=not counted)
        delta += plans
        if not plans:
            once.append(order(rule, {}, estimate, existential=not counted))
    return StratumPlan(stratum, rules, tuple(once), tuple(delta), counted)
