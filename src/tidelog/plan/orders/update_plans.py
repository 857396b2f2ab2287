"""Plans of an Update by signed counts: from the tuples that moved in a round to the heads of their derivations.

For each rule of a stratum there is one plan for each atom of its body (the pivot, whose moved tuples lie in a list),
and one from the head, for tuples that were lost and ask for their derivations again. One plan serves for the state just
before the round and for the one after it: its atoms match what is there in one of the two, and the levels of both are
folded at the end. Each derivation is told once, by the first of its atoms that moved: atoms before the pivot (by their
place in the body, whatever the order of the join) match only what did not move in this round.

The moved tuples come first in the order (they are few), and the rest follows as the search finds best, so that no cross
product is made where a connected order exists.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from tidelog.plan import core, steps
from tidelog.plan.orders.derivations import HEAD, body_atoms, from_pivot, parts_of
from tidelog.plan.orders.estimate import Estimate
from tidelog.plan.steps import View
from tidelog.values import Kind


def update_plans(rule: core.CoreRule, own: Collection[str], estimate: Estimate) -> Iterator[steps.Plan]:
    """The plans for a rule of the stratum whose relations are `own`."""
    atoms = body_atoms(rule)
    for place, pivot in enumerate(atoms):
        states: dict[core.CoreItem, View] = {
            atom: seen_from(atom, before_pivot=other < place) for other, atom in enumerate(atoms)
        }
        yield _plan(rule, own, estimate, pivot, View.MOVED, states)
    yield _plan(rule, own, estimate, core.CoreAtom(rule.relation, rule.args, HEAD), View.LOST, {})


def seen_from(atom: core.CoreAtom | core.CoreAbsent, before_pivot: bool) -> View:
    """The tuples that an atom matches. A negated one holds where its tuple is not there: in one of the two states, if
    it is not there in both; before the pivot in both, if it is in neither."""
    if isinstance(atom, core.CoreAbsent):
        return View.EITHER if before_pivot else View.BOTH
    return View.STILL if before_pivot else View.EITHER


def _plan(
    rule: core.CoreRule,
    own: Collection[str],
    estimate: Estimate,
    pivot: core.CoreAtom | core.CoreAbsent,
    listed: View,
    states: Mapping[core.CoreItem, View],
) -> steps.Plan:
    scheduler = from_pivot(rule, estimate, pivot, listed, View.AFTER, states)
    before, after = scheduler.new_slot(Kind.NUMBER), scheduler.new_slot(Kind.NUMBER)
    asked = listed is View.LOST
    scheduler.steps.append(steps.Fold(before, after, parts_of(scheduler, own), asked))
    scheduler.steps.append(steps.Tell(rule.relation, rule.args, before, after, asked))
    position = pivot.position if isinstance(pivot, core.CoreAtom) else HEAD
    return steps.Plan(rule.number, position, tuple(scheduler.steps), tuple(scheduler.slots))
