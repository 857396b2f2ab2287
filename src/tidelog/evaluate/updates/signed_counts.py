"""Update by signed counts: from the changed facts to the state that Bootstrap would compute, stratum by stratum.

The paper's Algorithm 3 re-evaluates its three terms in every iteration over everything that has changed so far. This is
its equivalent that looks at each affected derivation a constant number of times (design section 4): tuples that move
tell the heads of their derivations, which settle by what reaches them in sum; see `store/kernels/signed_counts.py` for
the algorithm and `plan/orders/update_plans.py` for the plans. `paper.py` is the paper's own formulation.

A stratum is told only the net change of the strata below it, and is not visited if there is none.
"""

from __future__ import annotations

import numpy as np

from tidelog.evaluate.stages import PlanRun
from tidelog.evaluate.state import RowChange, State
from tidelog.evaluate.statistics import Statistics
from tidelog.plan.orders.update_plans import update_plans
from tidelog.plan.stateful import StatefulStratum
from tidelog.plan.steps import View
from tidelog.store import NEVER, ArithmeticFault
from tidelog.store.index import Index
from tidelog.store.pending import Pending
from tidelog.store.update import UNLIMITED, NativeUpdate, Watch, changed_rows


class StratumUpdate:
    """Keeps one stratum up to date. Made when the sizes of its relations are known."""

    def __init__(self, state: State, stratum: StatefulStratum) -> None:
        self.state, self.stratum = state, stratum
        estimate = Statistics(state.database)
        self.plans = [plan for rule in stratum.rules for plan in update_plans(rule, stratum.relations, estimate)]
        self.update = NativeUpdate(state.database, stratum.relations, [plan.steps for plan in self.plans], self.stages)

    def stages(self, number: int, pending: Pending) -> PlanRun:
        return PlanRun(self.state.context, self.plans[number], changing=self.stratum.relations, pending=pending)

    @property
    def stale(self) -> bool:
        return self.update.stale

    def prepare(self) -> list[Index]:
        """Do what the first update would otherwise wait for, but for these indexes, which are to be built."""
        return self.update.prepare()

    def run(self, budget: int = UNLIMITED, watch: Watch | None = None) -> int:
        """Update the stratum by what changed below it and among its facts; the work done."""
        for name in self.stratum.inputs:
            change = self.state.epoch.changes.get(name)
            if change:
                moved = np.concatenate((change.deleted, change.inserted))
                self.state.database[name].list_rows(View.MOVED, moved)
        for name in self.stratum.relations:
            self.list_facts(name)
        before = self.figures()
        try:
            self.update.run(budget, watch)
            if watch is not None:
                watch(self.update.bucket, self.update.work)
        except ArithmeticFault as fault:
            raise self.state.context.fault(self.plans[fault.plan].rule, str(fault)) from None
        finally:
            self.update.pending.reset()
            self.record(before)
        for name in self.stratum.relations:
            self.state.epoch.changes[name] = RowChange(*changed_rows(self.state.database[name]))
        return self.update.work

    def figures(self) -> list[tuple[int, float]]:
        return [] if self.state.context.recorder is None else self.update.figures()

    def record(self, before: list[tuple[int, float]]) -> None:
        """Tell a profile what each rule had to do."""
        recorder = self.state.context.recorder
        for plan, old, new in zip(self.plans, before, self.figures(), strict=False):
            if recorder is not None and new[0] > old[0]:
                recorder.rule(plan.rule, self.update.bucket, new[1] - old[1], 0, new[0] - old[0])

    def list_facts(self, name: str) -> None:
        """What round 0 does to a relation: its facts that went and came, which may have been, or may be, derived."""
        relation = self.state.database[name]
        rows = relation.changed()
        before, now = relation.before(rows), relation.now(rows)
        relation.list_rows(View.LOST, rows[(before == 0) & (now == NEVER)])
        relation.list_rows(View.MOVED, rows[before != now])
