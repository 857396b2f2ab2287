"""Semi-naive evaluation: one plan per changed body atom.

Each atom of the running stratum takes its turn as the pivot, which sees only the last iteration's tuples. Atoms
before it see what is older, atoms after it see everything, so that each derivation is found by exactly one plan.
"""

from __future__ import annotations

from collections.abc import Collection

from tidelog.plan import core, steps
from tidelog.plan.orders.estimate import Estimate
from tidelog.plan.orders.order import order
from tidelog.plan.steps import View


def delta_plans(
    rule: core.CoreRule, changing: Collection[str], estimate: Estimate, existential: bool = True
) -> list[steps.Plan]:
    """The plans for an iteration in which the relations in `changing` may have changed; none if none occurs."""
    pivots = [atom.position for atom in rule.atoms() if atom.relation in changing]
    return [order(rule, delta_views(rule, changing, p), estimate, p, existential) for p in pivots]


def delta_views(rule: core.CoreRule, changing: Collection[str], pivot: int) -> dict[int, View]:
    views = {}
    for atom in rule.atoms():
        if atom.relation in changing:
            place = atom.position
            views[place] = View.DELTA if place == pivot else View.OLD if place < pivot else View.ALL
    return views
