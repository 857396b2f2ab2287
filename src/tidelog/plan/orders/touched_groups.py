"""Which groups of an aggregate a change touches, and their new values, as plans.

An aggregate (`extract_aggregates.py` in `plan/rewrites/`) changes for a group only if a match of its body for that
group comes or goes, or the group itself does. A match goes when one of its tuples is deleted or a tuple is inserted
that a negated atom excludes; it was a match of the old state, and joining that changed tuple with the rest of the body
in the old state finds it. What comes is found in the same way in the new state. So there is a plan for each atom of
the body:

    in the old state    positive atoms pivot on deleted rows, negated atoms on inserted rows
    in the new state    positive atoms pivot on inserted rows, negated atoms on deleted rows

Each plan scans the relation `changed(name)`, which holds those rows, and emits groups of the domain into `TOUCHED`.
Afterwards `plan_for_recompute` finds the values of the touched groups in the new state and emits them into `VALUES`;
a group without a value there has none any more. The cost is that of the matches which come and go, and of all matches
of the touched groups.
"""

from __future__ import annotations

from collections.abc import Iterable

from tidelog.plain import dataclass, replace
from tidelog.plan import core, steps
from tidelog.plan.core import AggregateRelation
from tidelog.plan.orders.estimate import Estimate
from tidelog.plan.orders.order import order
from tidelog.plan.steps import Operand, Slot

TOUCHED = "@touched"
"""The relation of touched groups: the columns of the domain."""

VALUES = "@values"
"""The relation of new values: the columns of the aggregate's relation."""


def changed(relation: str) -> str:
    """The name of the relation that holds changed rows of another."""
    return f"Δ{relation}"


@dataclass(frozen=True, slots=True)
class TouchedPlan:
    """A plan that scans changed rows of `relation`; `negated` if it is for a negated atom."""

    relation: str
    negated: bool
    plan: steps.Plan


def plans_for_touched(aggregate: AggregateRelation, estimate: Estimate) -> list[TouchedPlan]:
    """A plan for the domain, and one for each atom of the body, positive or negated."""
    domain = core.CoreAtom(aggregate.domain, aggregate.groups)
    body = aggregate.aggregate.body
    found = [TouchedPlan(domain.relation, False, _pivoted(aggregate, domain, (), estimate))]
    for place, item in enumerate(body):
        if isinstance(item, (core.CoreAtom, core.CoreAbsent)):
            others = (domain, *body[:place], *body[place + 1 :])
            negated = isinstance(item, core.CoreAbsent)
            found.append(TouchedPlan(item.relation, negated, _pivoted(aggregate, item, others, estimate)))
    return found


def plan_for_recompute(aggregate: AggregateRelation, estimate: Estimate) -> steps.Plan:
    """The values of those touched groups that are in the domain."""
    touched = core.CoreAtom(TOUCHED, aggregate.groups)
    domain, define = aggregate.rule().body
    groups = _plan(aggregate, TOUCHED, aggregate.groups, (touched, domain), estimate)
    values = _plan(aggregate, VALUES, (*aggregate.groups, Slot(aggregate.result)), (touched, define), estimate)
    # Planned as one, the aggregate would come first, also for groups that are gone.
    return replace(values, steps=(*groups.steps[:-1], *values.steps[1:]))


def _pivoted(
    aggregate: AggregateRelation,
    item: core.CoreAtom | core.CoreAbsent,
    others: Iterable[core.CoreItem],
    estimate: Estimate,
) -> steps.Plan:
    """The groups of the matches in which a changed row takes the item's place."""
    pivot = core.CoreAtom(changed(item.relation), item.args)
    return _plan(aggregate, TOUCHED, aggregate.groups, (pivot, *others), estimate)


def _plan(
    aggregate: AggregateRelation,
    relation: str,
    args: tuple[Operand, ...],
    body: tuple[core.CoreItem, ...],
    estimate: Estimate,
) -> steps.Plan:
    """`relation(args) :- body`, beginning with the body's first atom."""
    items = tuple(core.positioned(body))
    rule = core.CoreRule(aggregate.number, relation, args, items, aggregate.slots, aggregate.clause)
    return order(rule, {}, estimate, pivot=0)
