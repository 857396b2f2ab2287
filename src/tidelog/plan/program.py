"""A checked program as plans: for each stratum, what runs once and what runs in every iteration."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from tidelog.analysis.checked import Checked
from tidelog.analysis.strata import Stratum
from tidelog.analysis.unsupported import refuse_unsupported
from tidelog.errors import Report
from tidelog.lang.depth import deep_recursion
from tidelog.plain import dataclass, field, replace
from tidelog.plan import core, steps
from tidelog.plan.best_of import BestOf
from tidelog.plan.gates import GatePlan
from tidelog.plan.orders.delta import delta_plans
from tidelog.plan.orders.estimate import Estimate, Guess
from tidelog.plan.orders.order import order
from tidelog.plan.rewrites import BATCH
from tidelog.plan.rewrites.read_classes import classes_of, implicit_equivalences, sizes_of
from tidelog.plan.stateful import Rewriting


@dataclass(frozen=True)
class StratumPlan:
    """The rules of a stratum. `once` starts it; `delta` is repeated until nothing new is found. What some relations are
    sent goes through their `gates`.

    A `counted` one finds each derivation once, for relations that keep state. Where only the best counts (`best`), the
    gates are for data that do not fit. `whole` is why a change evaluates it anew, where that depends on its rules.
    """

    stratum: Stratum
    rules: tuple[core.CoreRule, ...]
    once: tuple[steps.Plan, ...]
    delta: tuple[steps.Plan, ...]
    counted: bool = False
    gates: tuple[GatePlan, ...] = ()
    best: BestOf | None = None
    whole: str | None = None

    @cached_property
    def facts(self) -> dict[str, list[tuple[steps.Const, ...]]]:
        """The facts of the program's text, by relation: they are among `once`, a plan each that has nothing to find."""
        found: dict[str, list[tuple[steps.Const, ...]]] = {}
        for emit in filter(None, map(_fact, self.once)):
            found.setdefault(emit.relation, []).append(tuple(a for a in emit.args if isinstance(a, steps.Const)))
        return found

    @cached_property
    def starting(self) -> tuple[steps.Plan, ...]:
        """`once` without the facts."""
        return tuple(plan for plan in self.once if _fact(plan) is None)


def _fact(plan: steps.Plan) -> steps.Emit | None:
    match plan.steps:
        case (steps.Emit(args=args) as emit,) if all(isinstance(arg, steps.Const) for arg in args):
            return emit
    return None


@dataclass(frozen=True)
class ProgramPlan:
    """The plans of a program; its rules know the `implicit` equivalences by their classes. `parts` are the columns of
    the relations that parts of bodies have become."""

    checked: Checked
    strata: tuple[StratumPlan, ...]
    implicit: frozenset[str] = frozenset()
    parts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def columns(self) -> dict[str, tuple[str, ...]]:
        return columns_of(self.checked, self.implicit) | dict(self.parts)


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
    refuse_unsupported(checked.program, report)
    report.check()


def rules_of_program(checked: Checked) -> ProgramPlan:
    """The strata with their rules, and no plans yet: evaluation orders a stratum by what is there when it begins."""
    implicit = implicit_equivalences(checked)
    rewriting = Rewriting(checked, BATCH, implicit, with_state=False, by_ranks=True)
    with deep_recursion():
        for stratum in checked.strata:
            rewriting.add(stratum)
    strata = tuple(
        StratumPlan(Stratum(s.relations, (), s.recursive), s.rules, (), (), gates=s.gates, best=s.best, whole=s.whole)
        for s in rewriting.strata
    )
    made = (rule for s in strata for rule in s.rules if rule.relation not in checked.relations)
    parts = {rule.relation: tuple(rule.slots[slot][0] for slot in core.slots_in(rule.args)) for rule in made}
    return ProgramPlan(checked, strata, implicit, parts)


def plan_program(checked: Checked) -> ProgramPlan:
    """Plans for every rule, ordered without statistics; what cannot be evaluated yet is refused."""
    refuse_unplannable(checked)
    program = rules_of_program(checked)
    guess = Guess({name: len(columns) for name, columns in program.columns.items()})
    with deep_recursion():
        strata = tuple(
            replace(plan_stratum(s.stratum, s.rules, guess), best=s.best, whole=s.whole) for s in program.strata
        )
    return replace(program, strata=strata)


def plan_stratum(
    stratum: Stratum, rules: tuple[core.CoreRule, ...], estimate: Estimate, counted: bool = False
) -> StratumPlan:
    """The plans of a stratum with these rules, in the order that the estimate makes the best."""
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
