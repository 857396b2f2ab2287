"""Update where only the best value of a key counts: shortest paths and all recursion for the best.

It is the Update of signed counts with *key* for tuple and *rank* (value, level) for iteration; see
`store/kernels/ranks.py` for what a rank is, `store/kernels/rank_update.py` for the rounds and
`plan/orders/rank_plans.py` for the plans. It leaves the state that evaluation from nothing (`evaluate/best_of.py`)
leaves. Where a derivation turns out to be better than its body (a weight has become negative), the update is given up,
and the stratum is evaluated anew, with the reason. Cost: the derivations at keys whose rank changes, twice.
"""

from __future__ import annotations

import numpy as np

from tidelog.evaluate.best_of import give_ranks, mount_keys, ranked, refuse_wrong_values
from tidelog.evaluate.stages import PlanRun
from tidelog.evaluate.state import RowChange, State
from tidelog.evaluate.statistics import Statistics
from tidelog.plan import core
from tidelog.plan.best_of import BestOf
from tidelog.plan.orders.rank_plans import rank_update_plans
from tidelog.plan.stateful import StatefulStratum
from tidelog.plan.steps import Plan, Rank, Role, View
from tidelog.store import NEVER, ArithmeticFault, NotWorse
from tidelog.store.index import Index
from tidelog.store.pending import Pending
from tidelog.store.rank_update import RankUpdate
from tidelog.store.update import UNLIMITED, OverBudget, Watch, changed_rows


class CannotFollow(OverBudget):
    """The stratum has to be evaluated anew, for this reason."""


class BestOfUpdate:
    """Keeps one stratum up to date."""

    def __init__(self, state: State, stratum: StatefulStratum, best: BestOf) -> None:
        self.state, self.stratum, self.best = state, stratum, best
        self.relations = [state.database[name] for name in stratum.relations]
        self.why = self._unranked()
        if self.why is None:
            mount_keys(state.database, stratum.relations)
            estimate = Statistics(state.database)
            rules = [rule for rule in stratum.rules if not rule.subsumes]
            found = ((rule, rank_update_plans(rule, stratum.relations, best, estimate)) for rule in rules)
            self.ranked = [(rule, plan) for rule, plans in found for plan in plans]
            self.update = RankUpdate(
                state.database, stratum.relations, [plan.steps for _, plan in self.ranked], self.stages
            )

    def _unranked(self) -> str | None:
        """Why there are no ranks to go by, after giving ranks to rows that have levels."""
        database = self.state.database
        if not ranked(database, self.best):
            return f"the value of {', '.join(self.best.columns)} improved along the recursion"
        if all(relation.ranked for relation in self.relations):
            return None
        ordinary = [r.name for r in self.relations if r.name not in self.best.columns and not r.ranked and r.count]
        if ordinary:
            return f"the values that {', '.join(ordinary)} depends on are not kept in files"
        give_ranks(database, [r.name for r in self.relations if not r.ranked], self.best)
        return None

    def stages(self, number: int, pending: Pending) -> PlanRun:
        plan = self.ranked[number][1]
        return PlanRun(self.state.context, plan, changing=self.stratum.relations, pending=pending)

    @property
    def plans(self) -> list[Plan]:
        return [] if self.why is not None else [plan for _, plan in self.ranked]

    @property
    def stale(self) -> bool:
        if self.why is not None:
            return any(self.state.database.relations.get(r.name) is not r for r in self.relations)
        return self.update.stale

    def prepare(self) -> list[Index]:
        """Do what the first update would otherwise wait for, but for these indexes, which are to be built."""
        if self.why is not None:
            return []
        mount_keys(self.state.database, self.stratum.relations)
        return self.update.prepare()

    def run(self, budget: int = UNLIMITED, watch: Watch | None = None) -> int:
        """Update the stratum by what changed below it and among its facts; the work done."""
        if self.why is not None:
            if watch is not None:
                watch(1, 0)  # so much was done
            raise CannotFollow(self.why)
        self.prepare()
        self.list_changes(self.update.new_round())
        before = self.figures()
        try:
            self.update.run(budget, watch)
            if watch is not None:
                watch(self.update.bucket, self.update.work)
        except ArithmeticFault as fault:
            raise self.state.context.fault(self.ranked[fault.plan][0].number, str(fault)) from None
        except NotWorse as problem:
            rule, plan = self.ranked[problem.plan]
            refuse_wrong_values(problem, plan, self.best, self.state.context)
            if watch is not None:
                watch(self.update.bucket, self.update.work)
            raise CannotFollow(self.better_than_body(rule, plan, problem)) from None
        finally:
            self.update.pending.reset()
            self.record(before)
        for name in self.stratum.relations:
            self.state.epoch.changes[name] = RowChange(*changed_rows(self.state.database[name]))
        return self.update.work

    def list_changes(self, number: int) -> None:
        """What moved before the first round: tuples of lower strata, and facts of ordinary relations."""
        for name in self.stratum.inputs:
            change = self.state.epoch.changes.get(name)
            if change:
                moved = np.concatenate((change.deleted, change.inserted))
                self.state.database[name].list_rows(View.MOVED, moved)
        for relation in (r for r in self.relations if r.keys is None):
            rows = relation.changed()
            before, now = relation.before(rows), relation.now(rows)
            relation.stamp(rows[before != now], number)
            relation.list_rows(View.LOST, rows[(before == 0) & (now == NEVER)])
            relation.list_rows(View.MOVED, rows[before != now])

    def better_than_body(self, rule: core.CoreRule, plan: Plan, problem: NotWorse) -> str:
        """The reason to give up, with the tuples of lower strata that the derivation needs: a negative weight."""
        ranked = next(step for step in plan.steps if isinstance(step, Rank))
        needed = [
            self._shown(part.relation, problem.words[part.row]) for part in ranked.parts if part.role is Role.LOWER
        ]
        where = f" (at {', '.join(needed)})" if needed else ""
        return f"the value of {rule.relation} improves along the recursion{where}"

    def _shown(self, relation: str, row: int) -> str:
        """A tuple as text."""
        words, kinds = self.state.database[relation].rows()[row].astype(np.int64), self.state.program.kinds[relation]
        decoder = self.state.context.decoder
        values = [decoder.values(words[c : c + 1], kind)[0] for c, kind in enumerate(kinds)]
        return f"{relation}({', '.join(map(str, values))})"

    def figures(self) -> list[tuple[int, float]]:
        return [] if self.state.context.recorder is None else self.update.figures()

    def record(self, before: list[tuple[int, float]]) -> None:
        """Tell a profile what each rule had to do."""
        recorder = self.state.context.recorder
        for (rule, _), old, new in zip(self.ranked, before, self.figures(), strict=False):
            if recorder is not None and new[0] > old[0]:
                recorder.rule(rule.number, self.update.bucket, new[1] - old[1], 0, new[0] - old[0])
