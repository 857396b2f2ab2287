"""Plans that list the derivations which changed tuples take part in, for strategies that do set algebra with them.

For each rule of a stratum and each of its atoms (the pivot, whose changed tuples lie in a list):

- those of the state before, of tuples that left their place in it;
- those of the state after, of tuples that came to their place in it.

A tuple that comes takes away the derivations in which it is negated, and one that leaves makes new ones: there the
lists change places. The change comes first in the order (it is small), and the rest follows as the search finds best,
so that no cross product is made where a connected order exists. A derivation is named by its rule and the rows that its
atoms matched, in the order of the body, whichever plan found it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from tidelog.plain import replace
from tidelog.plan import core, steps
from tidelog.plan.orders.estimate import Estimate
from tidelog.plan.orders.order import BodyScheduler
from tidelog.plan.steps import MatchedRow, Role, View

HEAD = -1
"""The position of the head, where it is the pivot."""


def change_plans(rule: core.CoreRule, own: Collection[str], estimate: Estimate) -> Iterator[steps.Plan]:
    """The plans for a rule of the stratum whose relations are `own`; each begins with a list of changed rows."""
    for item in dict.fromkeys(rule.body):
        if isinstance(item, core.CoreAtom):
            yield _plan(rule, own, estimate, item, View.LEFT, View.BEFORE, arrives=False)
            yield _plan(rule, own, estimate, item, View.CAME, View.AFTER, arrives=True)
        elif isinstance(item, core.CoreAbsent):
            yield _plan(rule, own, estimate, item, View.CAME, View.BEFORE, arrives=False)
            yield _plan(rule, own, estimate, item, View.LEFT, View.AFTER, arrives=True)


def _plan(
    rule: core.CoreRule,
    own: Collection[str],
    estimate: Estimate,
    pivot: core.CoreAtom | core.CoreAbsent,
    changed: View,
    state: View,
    arrives: bool,
) -> steps.Plan:
    scheduler = from_pivot(rule, estimate, pivot, changed, state)
    return _named(scheduler, own, arrives, pivot.position if isinstance(pivot, core.CoreAtom) else HEAD)


def from_pivot(
    rule: core.CoreRule,
    estimate: Estimate,
    pivot: core.CoreAtom | core.CoreAbsent,
    changed: View,
    state: View,
    states: Mapping[core.CoreItem, View] | None = None,
) -> BodyScheduler:
    """The body, scheduled from a list of the pivot's tuples; also if it is the head, or negated."""
    body = [item for item in dict.fromkeys(rule.body) if item != pivot]
    first = core.CoreAtom(pivot.relation, pivot.args, HEAD) if isinstance(pivot, core.CoreAbsent) else pivot
    scheduler = BodyScheduler(rule, {first.position: changed}, estimate, existential=False, state=state, states=states)
    scheduler.schedule([first, *body], first.position)
    if isinstance(pivot, core.CoreAbsent):
        scheduler.rows[pivot] = scheduler.rows.pop(first)
    return scheduler


def all_derivations(rule: core.CoreRule, own: Collection[str], estimate: Estimate) -> steps.Plan:
    """The plan for every derivation of a rule in the state after; where it begins with a scan, for those of listed rows
    (CAME)."""
    scheduler = BodyScheduler(rule, {}, estimate, existential=False, state=View.AFTER)
    scheduler.schedule(dict.fromkeys(rule.body), None)
    if scheduler.steps and isinstance(first := scheduler.steps[0], steps.Scan):
        scheduler.steps[0] = steps.Scan(replace(first.match, view=View.CAME))
    return _named(scheduler, own, arrives=True, pivot=None)


def _named(scheduler: BodyScheduler, own: Collection[str], arrives: bool, pivot: int | None) -> steps.Plan:
    """The scheduled steps, and then the derivation is named."""
    rule = scheduler.rule
    parts = parts_of(scheduler, own)
    scheduler.steps.append(steps.File(arrives, rule.relation, rule.args, parts, rule.number))
    return steps.Plan(rule.number, pivot, tuple(scheduler.steps), tuple(scheduler.slots))


def parts_of(scheduler: BodyScheduler, own: Collection[str]) -> tuple[MatchedRow, ...]:
    """The atoms of the body, in its order, by the rows that they matched."""
    return tuple(
        MatchedRow(scheduler.rows[item], item.relation, _role(item, own)) for item in body_atoms(scheduler.rule)
    )


def body_atoms(rule: core.CoreRule) -> list[core.CoreAtom | core.CoreAbsent]:
    """What a body asks of relations, each once."""
    return [item for item in dict.fromkeys(rule.body) if isinstance(item, core.CoreAtom | core.CoreAbsent)]


def _role(item: core.CoreAtom | core.CoreAbsent, own: Collection[str]) -> Role:
    if isinstance(item, core.CoreAbsent):
        return Role.NEGATED
    return Role.OWN if item.relation in own else Role.LOWER
