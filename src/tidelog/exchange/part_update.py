"""Update by signed counts on many workers (design section 5): `evaluate/updates/signed_counts.py` with rounds of all.

In a round every worker settles its tuples of the agreed bucket; those that moved begin their plans; partial matches hop
with two running maxima, the levels just before the round and after it; heads go to all who hold them, who judge by
their own state. All are in the same round meanwhile. The markers of the last wave carry the least bucket for which
something waits, the least one told to each worker, and the work done: the least of all is the next round, and if there
was too much work, all give up here, where nothing is under way. A stratum of which nothing travels is updated inside
of each store.
"""

from __future__ import annotations

import numpy as np

from tidelog.evaluate.bindings import Bindings, Words
from tidelog.evaluate.stages import PlanRun
from tidelog.evaluate.state import State
from tidelog.evaluate.statistics import Statistics
from tidelog.evaluate.updates.signed_counts import StratumUpdate
from tidelog.exchange.homes import holders, with_homes
from tidelog.exchange.journeys import Journey, hops_of_matches, leg_runs
from tidelog.exchange.part_fixpoint import Share
from tidelog.plan import steps
from tidelog.plan.exchange.cut import cut, hops
from tidelog.plan.orders.update_plans import update_plans
from tidelog.plan.stateful import StatefulStratum
from tidelog.plan.steps import HoldersOf, Send, Slot, Tell
from tidelog.store import NEVER
from tidelog.store.pending import Pending
from tidelog.store.update import UNLIMITED, NativeUpdate, OverBudget, Watch


class PartUpdate(StratumUpdate):
    """Keeps a worker's part of a stratum up to date, together with the others."""

    def __init__(self, state: State, stratum: StatefulStratum, share: Share) -> None:
        self.state, self.stratum, self.share = state, stratum, share
        self.plans = share.agreement.planned(
            Statistics(state.database),
            lambda estimate: [
                cut(plan, share.placed)
                for rule in stratum.rules
                for plan in update_plans(rule, stratum.relations, estimate)
            ],
        )
        self._travels = any(hops(plan) for plan in self.plans)
        self.waves = max((hops_of_matches(plan) for plan in self.plans), default=0) + 1
        self._matches: list[tuple[Journey, int]] = []  # by port
        self._tellers: list[Teller] = []  # by port behind those
        self._told = np.full(share.waves.size, NEVER, np.int64)
        self._budget = UNLIMITED
        count = sum(hops_of_matches(plan) for plan in self.plans)
        self._first_teller = count
        me, size = share.waves.me, share.waves.size
        self._here = [plan if hops(plan) else with_homes(plan, me, size) for plan in self.plans]  # as run here
        self.update = NativeUpdate(
            state.database,
            stratum.relations,
            [plan.steps for plan in self._here],
            self.travelling,
            self.between if self._travels else None,
        )

    def travelling(self, number: int, pending: Pending) -> Journey | PlanRun:
        plan = self._here[number]
        if not hops(plan):
            return PlanRun(self.state.context, plan, changing=self.stratum.relations, pending=pending)
        port = len(self._matches)

        def heads(sent: Send, bindings: Bindings) -> None:
            teller.send(bindings)

        context, waves = self.state.context, self.share.waves
        journey = Journey(context, plan, waves, port, heads, self.stratum.relations, pending)
        self._matches += [(journey, hop) for hop in range(hops_of_matches(plan))]
        teller = Teller(self, plan, len(self._tellers), pending)
        self._tellers.append(teller)
        return journey

    def run(self, budget: int = UNLIMITED, watch: Watch | None = None) -> int:
        self._budget = budget
        self._told[:] = NEVER
        self.share.waves.begin()
        return super().run(UNLIMITED if self._travels else budget, watch)  # by itself, each may do what all might

    def between(self) -> int | None:
        """The waves of a round; the next bucket."""
        waves, numbers = self.share.waves, list[tuple[int, ...]]()
        for wave in range(1, self.waves + 1):
            last = wave == self.waves
            mine = (self.update.pending.least(), self.update.work, *self._told.tolist()) if last else ()
            numbers = waves.end(wave, mine)
            for port, rows in waves.arrived(wave):
                if port < self._first_teller:
                    journey, hop = self._matches[port]
                    before = journey.effort
                    journey.arrive(hop, rows)
                    self.update.block.work += journey.effort - before
                else:
                    self._tellers[port - self._first_teller].take(rows)
        if sum(work for _, work, *_ in numbers) > self._budget:
            raise OverBudget
        following = min(min(least, *told) for least, _, *told in numbers)
        self._told[:] = NEVER
        waves.begin()
        return None if following == NEVER else following

    def note_told(self, to: int, bucket: int) -> None:
        self._told[to] = min(self._told[to], bucket)


class Teller:
    """How the heads of a plan get to those who hold them, and what is done with those that come."""

    def __init__(self, update: PartUpdate, plan: steps.Plan, number: int, pending: Pending) -> None:
        self.update, self.number = update, number
        tell = plan.steps[-1]
        assert isinstance(tell, Tell)
        self.tell = tell
        run, _, begins = leg_runs(update.state.context, plan, update.share.waves, (), pending)[-1]
        self.run, self.slots = run, begins
        self.sends = any(isinstance(s, Send) and isinstance(s.route, HoldersOf) for s in plan.steps)

    def send(self, bindings: Bindings) -> None:
        """Tell all holders, in the last wave."""
        waves, tell = self.update.share.waves, self.tell
        columns = [self._column(bindings, operand) for operand in tell.args]
        heads = np.column_stack(columns) if columns else np.empty((bindings.count, 0), np.int64)
        held = holders(self.update.share.placed[tell.relation], heads, waves.size)
        rows = bindings.rows(self.slots)
        levels = np.column_stack((bindings.columns[tell.before], bindings.columns[tell.after]))
        buckets = np.where(levels == NEVER, NEVER, levels + 1).min(axis=1)
        for to in range(waves.size):
            if held[to].any():
                waves.send(to, self.update.waves, self.update._first_teller + self.number, rows[held[to]])
                self.update.note_told(to, int(buckets[held[to]].min()))

    def _column(self, bindings: Bindings, operand: steps.Operand) -> Words:
        if isinstance(operand, Slot):
            return np.ascontiguousarray(bindings.columns[operand.index])
        return np.full(bindings.count, self.update.state.database.encode(operand), np.int64)

    def take(self, rows: Words) -> None:
        for _ in self.run.results(Bindings.from_rows(rows, self.slots)):
            pass
