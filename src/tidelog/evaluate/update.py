"""Update by events: from the changed facts to the state that Bootstrap would compute, stratum by stratum.

The paper's Algorithm 3 re-evaluates its three terms in every iteration over everything that has changed so far. This is
its equivalent that visits each affected derivation a constant number of times (design section 4): changed tuples file
the derivations that they leave and those that they make under the iterations in which these count; see
`store/kernels/events.py` for the bookkeeping and `plan/derivations.py` for the plans. `update_paper.py` is the paper's
own formulation.

A stratum is told only the net change of the strata below it, and is not visited if there is none.
"""

from __future__ import annotations

from tidelog.evaluate.stages import PlanRun
from tidelog.evaluate.state import Change, State
from tidelog.evaluate.statistics import Statistics
from tidelog.plan.derivations import update_plans
from tidelog.plan.stateful import StatefulStratum
from tidelog.store import ArithmeticFault
from tidelog.store.filing import Filing
from tidelog.store.index import Index
from tidelog.store.layout import NEVER, R_CAME, R_LEFT, R_LOST
from tidelog.store.update import UNLIMITED, Update, Watch, changed_rows


class StratumUpdate:
    """Keeps one stratum up to date. Made when the sizes of its relations are known."""

    def __init__(self, state: State, stratum: StatefulStratum) -> None:
        self.state, self.stratum = state, stratum
        estimate = Statistics(state.database)
        self.plans = [plan for rule in stratum.rules for plan in update_plans(rule, stratum.relations, estimate)]
        self.update = Update(state.database, stratum.relations, [plan.steps for plan in self.plans], self.stages)

    def stages(self, number: int, filing: Filing) -> PlanRun:
        return PlanRun(self.state.context, self.plans[number], changing=self.stratum.relations, filing=filing)

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
                relation = self.state.database[name]
                relation.list_rows(R_LEFT, change.deleted)
                relation.list_rows(R_CAME, change.inserted)
        for name in self.stratum.relations:
            self.list_facts(name)
        try:
            self.update.run(budget, watch)
            if watch is not None:
                watch(self.update.bucket, self.update.work)
        except ArithmeticFault as fault:
            raise self.state.context.fault(self.plans[fault.plan].rule, str(fault)) from None
        finally:
            self.update.filing.reset()
        for name in self.stratum.relations:
            self.state.epoch.changes[name] = Change(*changed_rows(self.state.database[name]))
        return self.update.work

    def list_facts(self, name: str) -> None:
        """What bucket 0 does to a relation: its facts that went and came, which may have been, or may be, derived."""
        relation = self.state.database[name]
        rows = relation.changed()
        before, now = relation.before(rows), relation.now(rows)
        relation.list_rows(R_LOST, rows[(before == 0) & (now == NEVER)])
        relation.list_rows(R_LEFT, rows[before != NEVER])
        relation.list_rows(R_CAME, rows[now == 0])
