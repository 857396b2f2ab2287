"""Plans where only the best value of a key counts: from the rows that moved in a round to what their heads are offered.

Those of an update are like those by signed counts (`update_plans.py`): one for each atom of a body, and one from the
head, for keys that were lost, whose value is not known then. Evaluation from nothing needs no more than those of the
stratum's own atoms, and sees lower strata as they are; rules without own atoms begin it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from tidelog.plan import core, steps
from tidelog.plan.best_of import BestOf
from tidelog.plan.orders.derivations import HEAD, body_atoms, from_pivot, parts_of
from tidelog.plan.orders.estimate import Estimate
from tidelog.plan.orders.order import BodyScheduler
from tidelog.plan.orders.update_plans import seen_from
from tidelog.plan.steps import MatchedRow, Role, View
from tidelog.values import Kind


def keys_of(relation: str) -> str:
    """The relation of the keys of one that has values."""
    return f"{relation}@keys"


def rank_update_plans(
    rule: core.CoreRule, own: Collection[str], best: BestOf, estimate: Estimate
) -> Iterator[steps.Plan]:
    """The plans for a rule of the stratum whose relations are `own`."""
    atoms = body_atoms(rule)
    for place, pivot in enumerate(atoms):
        states: dict[core.CoreItem, View] = {
            atom: seen_from(atom, before_pivot=other < place) for other, atom in enumerate(atoms)
        }
        scheduler = from_pivot(rule, estimate, pivot, View.MOVED, View.AFTER, states)
        position = pivot.position if isinstance(pivot, core.CoreAtom) else HEAD
        yield _offering(scheduler, best, parts_of(scheduler, own), position, asked=False)
    head = core.CoreAtom(keys_of(rule.relation) if rule.relation in best.columns else rule.relation, _key(rule, best))
    scheduler = from_pivot(rule, estimate, _at_head(head), View.LOST, View.AFTER, {})
    yield _offering(scheduler, best, parts_of(scheduler, own), HEAD, asked=True)


def first_plan(rule: core.CoreRule, best: BestOf, estimate: Estimate) -> steps.Plan:
    """All derivations of a rule without atoms of the stratum."""
    scheduler = _FromNothing(rule, {}, estimate, (), {})
    scheduler.schedule(dict.fromkeys(rule.body), None)
    return _offering(scheduler, best, (), None, asked=True)


def plans_from_nothing(
    rule: core.CoreRule, own: Collection[str], best: BestOf, estimate: Estimate
) -> Iterator[steps.Plan]:
    """The plans of a rule with atoms of the stratum, one for each of them."""
    atoms = [atom for atom in body_atoms(rule) if isinstance(atom, core.CoreAtom) and atom.relation in own]
    for place, pivot in enumerate(atoms):
        states: dict[core.CoreItem, View] = {
            atom: seen_from(atom, before_pivot=other < place) for other, atom in enumerate(atoms)
        }
        scheduler = _FromNothing(rule, {pivot.position: View.MOVED}, estimate, own, states)
        scheduler.schedule(dict.fromkeys(rule.body), pivot.position)
        parts = tuple(MatchedRow(scheduler.rows[atom], atom.relation, Role.OWN) for atom in atoms)
        yield _offering(scheduler, best, parts, pivot.position, asked=False)


class _FromNothing(BodyScheduler):
    """Sees rows of the stratum in the running round, and other relations as they are."""

    def __init__(
        self,
        rule: core.CoreRule,
        views: dict[int, View],
        estimate: Estimate,
        own: Collection[str],
        states: Mapping[core.CoreItem, View],
    ) -> None:
        super().__init__(rule, views, estimate, existential=False, state=View.AFTER, states=states)
        self.own = own

    def seen(self, item: core.CoreAtom | core.CoreAbsent) -> View:
        return super().seen(item) if item.relation in self.own else View.ALL

    def row(self, atom: core.CoreAtom | core.CoreAbsent) -> int | None:
        return super().row(atom) if atom.relation in self.own else None


def _at_head(atom: core.CoreAtom) -> core.CoreAtom:
    return core.CoreAtom(atom.relation, atom.args, HEAD)


def _key(rule: core.CoreRule, best: BestOf) -> tuple[steps.Operand, ...]:
    return tuple(rule.args[column] for column in best.key_columns(rule.relation, len(rule.args)))


def _offering(
    scheduler: BodyScheduler, best: BestOf, parts: tuple[MatchedRow, ...], pivot: int | None, asked: bool
) -> steps.Plan:
    """The scheduled steps, and then the derivation is ranked and its head told."""
    rule = scheduler.rule
    column = best.columns.get(rule.relation)
    before, after = (
        steps.RankSlots(scheduler.new_slot(Kind.NUMBER), scheduler.new_slot(Kind.NUMBER)) for _ in range(2)
    )
    value = None if column is None else rule.args[column]
    scheduler.steps.append(steps.Rank(rule.relation, value, before, after, parts, asked))
    scheduler.steps.append(steps.Offer(rule.relation, _key(rule, best), before, after, asked))
    return steps.Plan(rule.number, pivot, tuple(scheduler.steps), tuple(scheduler.slots))
