"""Evaluation of a stratum in which only the best value of a key counts, from nothing, rank by rank.

Rules without atoms of the stratum offer their heads what they give; then the least rank is settled, what it brings is
offered, and so on: of a key only the best value ever becomes a tuple, and no value is looked at twice. This is an
update (`updates/best_of.py`) of a stratum that is empty, and it leaves the same state: value, level and count of each
key. If a derivation is better than its body, or values overflow, the rules are not what was taken for granted, and
nothing remains. Cost: each derivation of final values once, and a heap's depth for each.

Relations without state are filled in the end, and have neither levels nor counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np

from tidelog.errors import error
from tidelog.evaluate.context import Context
from tidelog.evaluate.stages import PlanRun
from tidelog.evaluate.statistics import Statistics
from tidelog.plan import core, steps
from tidelog.plan.best_of import BestOf
from tidelog.plan.orders.rank_plans import first_plan, plans_from_nothing
from tidelog.plan.steps import View
from tidelog.store import NEVER, ArithmeticFault, Database, NotWorse, Relation
from tidelog.store.operations import VALUE_KINDS
from tidelog.store.pending import Pending
from tidelog.store.rank_states import ranked_words
from tidelog.store.rank_update import RankUpdate
from tidelog.values import Kind

Watching = Callable[[int, int], None]
FARTHEST = 2**63
"""A sum that overflows is better than its body by at least as much; what else is added to a value is less."""


def order_of(best: BestOf) -> int:
    """The order of values, as kernels number it."""
    return 2 * VALUE_KINDS[best.kind] + best.descending


def give_ranks(database: Database, relations: Sequence[str], best: BestOf) -> None:
    """Let the rows of these relations have ranks."""
    for name in relations:
        if name in best.columns:
            database[name].rank_by_column(best.columns[name], order_of(best))
        else:
            database[name].rank_by_hidden()


def mount_keys(database: Database, relations: Sequence[str]) -> None:
    """Let plans find the keys of these relations by their names."""
    for keys in (database[name].keys for name in relations):
        if keys is not None:
            database.relations[keys.name] = keys


def ranked(database: Database, best: BestOf) -> bool:
    """Whether the rows of the relations with values have levels."""
    return all(_has_levels(database[name]) for name in best.columns)


def forget_levels(database: Database, best: BestOf) -> None:
    """Mark the rows of relations that were evaluated otherwise: 0 is no level of a derived row."""
    for name in best.columns:
        relation = database[name]
        relation.forget_ranks()
        relation.put_states(np.arange(relation.count), 0, np.ones(relation.count, np.int64))


def _has_levels(relation: Relation) -> bool:
    now = relation.now()
    return bool((now != 0).all())


class FromNothing:
    """One such evaluation. The relations hold nothing but facts, and only ordinary ones of the stratum have some."""

    def __init__(
        self,
        context: Context,
        relations: Sequence[str],
        rules: Sequence[core.CoreRule],
        best: BestOf,
        watch: Watching,
    ) -> None:
        self.context, self.database, self.relations, self.best = context, context.database, tuple(relations), best
        self.rules = [rule for rule in rules if not rule.subsumes]
        self.watch = watch
        self.derivations = self.effort = 0
        self.once: tuple[steps.Plan, ...] = ()
        self.delta: tuple[steps.Plan, ...] = ()

    def run(self) -> bool:
        """Evaluate; False if the relations are as they were, since the data do not fit."""
        if self.database[self.relations[0]].stateful:
            return self._run_with_facts()
        held = {name: self.database[name] for name in self.relations}
        try:
            for name, relation in held.items():
                scratch = self.database.unmounted(name, relation.arity, stateful=True)
                self.database.relations[name] = scratch
                scratch.insert(relation.rows())
                scratch.settle()
            fits = self._run_with_facts()
            for name, relation in held.items():
                if fits:
                    relation.insert(self.database[name].rows())
                    relation.settle()
        finally:
            for name, relation in held.items():
                if self.database.relations[name] is not relation:
                    self.database.retire(self.database.relations[name])
                    self.database.relations[name] = relation
        return fits

    def _run_with_facts(self) -> bool:
        facts = {name: self.database[name].rows() for name in self.relations if self.database[name].count}
        try:
            self._run()
        except NotWorse:
            for name in self.relations:
                relation = self.database[name]
                relation.clear()
                relation.begin_log()
                if name in facts:
                    relation.insert(facts[name])
                    relation.settle()
            return False
        return True

    def _run(self) -> None:
        own, database = self.relations, self.database
        give_ranks(database, own, self.best)
        mount_keys(database, own)
        inputs = {atom.relation for rule in self.rules for atom in rule.atoms()}
        expected = max((database[name].count for name in inputs), default=0)
        estimate = Statistics(database, own, float(expected))
        recursive = [rule for rule in self.rules if not _begins(rule, own)]
        plans = [plan for rule in recursive for plan in plans_from_nothing(rule, own, self.best, estimate)]

        def stages(number: int, pending: Pending) -> PlanRun:
            return PlanRun(self.context, plans[number], changing=own, pending=pending)

        update = RankUpdate(database, own, [plan.steps for plan in plans], stages, from_nothing=True)
        first = update.new_round()
        update.ready()
        begin = [first_plan(rule, self.best, estimate) for rule in self.rules if _begins(rule, own)]
        self.once, self.delta = tuple(begin), tuple(plans)
        for plan in begin:
            run = PlanRun(self.context, plan, changing=own, pending=update.pending)
            start = time.perf_counter()
            self._fault(run.run, [plan])
            self._record(plan, 0, time.perf_counter() - start, run.derivations)
            self.effort += run.effort
        self._list_facts(first)
        self._fault(lambda: update.run(watch=self._look), plans)
        for plan, (filed, seconds) in zip(plans, update.figures(), strict=False):
            self._record(plan, update.bucket, seconds, filed)
        self.effort += update.work
        update.pending.reset()
        for name in own:
            relation = database[name]
            relation.dirty, relation.iteration = False, 0
            relation.forget_log()

    def _record(self, plan: steps.Plan, rounds: int, seconds: float, derivations: int) -> None:
        """Count derivations, and tell a profile."""
        self.derivations += derivations
        if self.context.recorder is not None:
            self.context.recorder.rule(plan.rule, rounds, seconds, 0, derivations)

    def _fault(self, run: Callable[[], None], plans: Sequence[steps.Plan]) -> None:
        """Run, and say of which rule it was if something goes wrong."""
        try:
            run()
        except ArithmeticFault as fault:
            raise self.context.fault(plans[fault.plan].rule, str(fault)) from None
        except NotWorse as problem:
            refuse_wrong_values(problem, plans[problem.plan], self.best, self.context)
            raise

    def _look(self, rounds: int, work: int) -> None:
        self.watch(rounds, sum(self.database[name].count for name in self.relations))

    def _list_facts(self, number: int) -> None:
        """Facts of ordinary relations come in the round before the first."""
        for name in self.relations:
            relation = self.database[name]
            if relation.keys is None and relation.count:
                rows = np.arange(relation.count)
                relation.set_before(rows, NEVER)
                relation.stamp(rows, number)
                relation.forget_before()
                relation.list_rows(View.MOVED, rows)


def _begins(rule: core.CoreRule, own: Sequence[str]) -> bool:
    """Whether a rule has no atom of the stratum."""
    return not any(atom.relation in own for atom in rule.atoms())


def refuse_wrong_values(problem: NotWorse, plan: steps.Plan, best: BestOf, context: Context) -> None:
    """An error if a derivation that is not worse than its body has a value that is no number, or too large for one."""
    ranked = next(step for step in plan.steps if isinstance(step, steps.Rank))
    if not problem.is_number:
        raise error(
            "TL0863", f"a value of {ranked.relation} is not a number (NaN), so that no best one can be told",
            context.clauses[plan.rule].span, help="keep such values out with a condition in the rule",
        )  # fmt: skip
    if best.kind is Kind.FLOAT or not isinstance(ranked.value, steps.Slot):
        return
    (value,) = ranked_words([problem.words[ranked.value.index]], order_of(best)).tolist()
    if problem.worst - value >= FARTHEST:
        raise error(
            "TL0864", f"a value of {ranked.relation} is too large for a {best.kind.value}: it overflows",
            context.clauses[plan.rule].span, help="floats are larger, or a condition in the rule keeps such values out",
        )  # fmt: skip
