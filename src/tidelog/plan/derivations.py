"""Plans of an update: they enumerate the derivations that changed tuples take part in, and file them.

For each rule of a stratum and each of its atoms (the pivot, whose changed tuples lie in a list):

- `leave`: the derivations of the state before that the tuples took part in which left their place in it;
- `arrive`: the derivations of the state after that the tuples take part in which came to their place in it;
- `rediscover`: the derivations, in the state after, of the rule's own tuples that were lost: found from the head.

A tuple that comes takes away the derivations in which it is negated, and one that leaves makes new ones: there the
lists change places. The change comes first in the order (it is small), and the rest follows as the search finds best,
so that no cross product is made where a connected order exists. A derivation is named by its rule and the rows that its
atoms matched, in the order of the body, whichever plan found it; and by the values of its ranges, which the rows do not
tell.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from tidelog.plan import core, steps
from tidelog.plan.estimate import Estimate
from tidelog.plan.order import Scheduler
from tidelog.plan.steps import Part, Role, Slot, View
from tidelog.values import Kind

HEAD = -1
"""The position of the head, where it is the pivot."""


def update_plans(rule: core.CoreRule, own: Collection[str], estimate: Estimate) -> Iterator[steps.Plan]:
    """The plans for a rule of the stratum whose relations are `own`; each begins with a list of changed rows."""
    for item in dict.fromkeys(rule.body):
        if isinstance(item, core.CoreAtom):
            yield _plan(rule, own, estimate, item, View.LEFT, View.BEFORE, arrives=False)
            yield _plan(rule, own, estimate, item, View.CAME, View.AFTER, arrives=True)
        elif isinstance(item, core.CoreAbsent):
            yield _plan(rule, own, estimate, item, View.CAME, View.BEFORE, arrives=False)
            yield _plan(rule, own, estimate, item, View.LEFT, View.AFTER, arrives=True)
    head = core.CoreAtom(rule.relation, rule.args, HEAD)
    yield _plan(rule, own, estimate, head, View.LOST, View.AFTER, arrives=True)


def _plan(
    rule: core.CoreRule,
    own: Collection[str],
    estimate: Estimate,
    pivot: core.CoreAtom | core.CoreAbsent,
    changed: View,
    state: View,
    arrives: bool,
) -> steps.Plan:
    body = [item for item in dict.fromkeys(rule.body) if item != pivot]
    first = core.CoreAtom(pivot.relation, pivot.args, HEAD) if isinstance(pivot, core.CoreAbsent) else pivot
    scheduler = Scheduler(rule, {first.position: changed}, estimate, existential=False, state=state)
    scheduler.schedule([first, *body], first.position)
    if isinstance(pivot, core.CoreAbsent):
        scheduler.rows[pivot] = scheduler.rows.pop(first)
    return _filing(scheduler, own, arrives, first.position)


def all_derivations(rule: core.CoreRule, own: Collection[str], estimate: Estimate) -> steps.Plan:
    """The plan for every derivation of a rule in the state after; where it begins with a scan, for those of listed rows
    (CAME)."""
    scheduler = Scheduler(rule, {}, estimate, existential=False, state=View.AFTER)
    scheduler.schedule(dict.fromkeys(rule.body), None)
    if scheduler.steps and isinstance(first := scheduler.steps[0], steps.Scan):
        scheduler.steps[0] = steps.Scan(replace(first.match, view=View.CAME))
    return _filing(scheduler, own, arrives=True, pivot=None)


def _filing(scheduler: Scheduler, own: Collection[str], arrives: bool, pivot: int | None) -> steps.Plan:
    """The scheduled steps, and then the derivation is filed."""
    rule = scheduler.rule
    parts = tuple(
        Part(scheduler.rows[item], item.relation, _role(item, own))
        for item in dict.fromkeys(rule.body)
        if isinstance(item, core.CoreAtom | core.CoreAbsent)
    )
    generated = tuple(Slot(item.slot) for item in rule.body if isinstance(item, core.CoreDefine) and _ranges(item))
    if generated:
        target = scheduler.new_slot(Kind.RECORD)
        scheduler.steps.append(steps.Pack(target, generated))
        parts = (*parts, Part(target, "", Role.VALUE))
    scheduler.steps.append(steps.File(arrives, rule.relation, rule.args, parts, rule.number))
    return steps.Plan(rule.number, pivot, tuple(scheduler.steps), tuple(scheduler.slots))


def _ranges(item: core.CoreDefine) -> bool:
    """Whether a definition gives its slot several values."""
    return isinstance(item.expression, core.Computed) and item.expression.op == "range"


def _role(item: core.CoreAtom | core.CoreAbsent, own: Collection[str]) -> Role:
    if isinstance(item, core.CoreAbsent):
        return Role.NEGATED
    return Role.OWN if item.relation in own else Role.LOWER
