"""An epoch, from its change set to its end: the one place that decides what is done to which stratum, and why.

An epoch tries Update, stratum by stratum, with a budget (`budget.py`). What a change does not reach is passed by. Where
the budget does not suffice, nothing of what Update did remains, and evaluation starts over: with the stratum that
needed too much, or with the whole program. A stratum that no Update can follow (`StatefulStratum.whole`) is evaluated
anew whenever a change reaches it. Before an epoch ends, its effects are handed to the keeper.

What is always true: between two calls, holder, keeper and position are at the same epoch; a call that raises, be it for
a user's mistake, a limit or Ctrl-C, leaves them at the epoch before.
"""

from __future__ import annotations

import time
from typing import Generic

from tidelog.epochs.budget import Allowance, Policy
from tidelog.epochs.changes import Batch
from tidelog.epochs.holder import Changing, Forgetful, GivenFacts, Holder, Keeper, Position, Report
from tidelog.epochs.report import EpochSummary, StratumReport
from tidelog.plain import replace
from tidelog.plan.stateful import StatefulStratum
from tidelog.store.update import UNLIMITED, OverBudget

ASKED = "asked for"
FITS = "it fits the budget"
FACTS = "facts"
TOO_MUCH = "too much of what it reads has changed for an Update"
STATELESS = "this strategy keeps no state"
UNCHANGED = "nothing was to be changed"


class Driver(Generic[GivenFacts, Changing, Report]):
    """Drives the epochs of a holder."""

    def __init__(
        self, holder: Holder[GivenFacts, Changing, Report], policy: Policy, keeper: Keeper | None = None
    ) -> None:
        self.holder, self.policy = holder, policy
        self.keeper = keeper or Forgetful()
        self.position = Position()

    @property
    def epoch(self) -> int:
        """The number of the last epoch."""
        return self.position.epoch

    def go_on_from(self, position: Position) -> None:
        """The holder is at this position already, or (before the first bootstrap) takes the place of one that was."""
        self.position = position

    def has_applied(self, batch: Batch | None) -> bool:
        """Whether a batch of a stream is part of the relations."""
        return self.position.has(batch)

    # ---- from scratch

    def bootstrap(self, facts: GivenFacts) -> Report:
        """Begin anew with these facts of the `.input` relations and no others. The report's change is from the state
        before, whatever it was."""
        following = self.position.after(None)
        with self.keeper.around(following.epoch, None), self.holder.epoch():
            start = time.perf_counter()
            report = self._start_over(facts, ASKED, following)
            report.seconds = time.perf_counter() - start
        return report

    def _start_over(self, facts: GivenFacts, why: str, following: Position) -> Report:
        start = time.perf_counter()
        report = self.holder.new_report(following.epoch, "bootstrap", why)
        try:
            report.derivations = self.holder.start_over(facts)
            self.holder.report_changes(report)
            report.seconds = time.perf_counter() - start
            self._end(report, replace(following, bootstrap_seconds=report.seconds))
        except BaseException:
            self.holder.undo()
            raise
        return report

    def _end(self, report: Report, following: Position) -> None:
        self.keeper.keep(report, self.holder.effects(), following)
        self.holder.commit()
        self.position = following

    # ---- from the epoch before

    def update(self, change: Changing) -> Report:
        """The next epoch."""
        following = self.position.after(change.batch)
        with self.keeper.around(following.epoch, change), self.holder.epoch("while getting ready for an Update"):
            start = time.perf_counter()
            try:
                report = self._follow(change, following, start)
            except OverBudget as problem:
                self.holder.undo()
                report = self._start_over(self.holder.facts_after(change), self.policy.overrun(problem), following)
            except BaseException:
                self.holder.undo()
                raise
            report.seconds = time.perf_counter() - start
        return report

    def _follow(self, change: Changing, following: Position, start: float) -> Report:
        holder = self.holder
        report = holder.new_report(following.epoch, "update", FITS)
        everything = self._work_for_all()
        report.budget = None if everything == UNLIMITED else everything
        holder.apply(change)
        until = self.policy.until(start, self.position.bootstrap_seconds)
        unreached = True
        for stratum in holder.strata:
            if not holder.reached(stratum):
                holder.pass_by(stratum)
                continue
            unreached = False
            done = self._update(stratum, everything, until)
            report.derivations += done.derivations
            if stratum.rules or stratum.aggregate:
                report.strata.append(done)
        self._summarise(report, unreached)
        holder.report_changes(report)
        report.seconds = time.perf_counter() - start
        self._end(report, following)
        return report

    def _work_for_all(self) -> int:
        """What the Updates of all strata may do together."""
        if not self.policy.counts_work:
            return UNLIMITED
        holder = self.holder
        return self.policy.work(sum(holder.cost(stratum).work for stratum in holder.strata), holder.least_budget)

    def _update(self, stratum: StatefulStratum, everything: int, until: float) -> StratumReport:
        """Follow the change in a stratum that it reaches."""
        holder, policy = self.holder, self.policy
        if stratum.whole:
            return self._anew(stratum, f"{stratum.whole} cannot be updated")
        if not stratum.defined:
            holder.take_facts(stratum)
            return StratumReport(stratum.relations, "update", FACTS, 0)
        cost, least = holder.cost(stratum), holder.least_budget
        work = everything if policy.by_program else policy.work(cost.work, least)
        changed = 0 if stratum.equivalence else holder.changed(stratum)
        if changed > holder.few_changes and policy.hopeless(work, least, changed, holder.read(stratum)):
            if policy.by_program:
                raise OverBudget
            return self._anew(stratum, TOO_MUCH)
        allowance = Allowance(work, policy.switch, cost, until)
        try:
            return StratumReport(stratum.relations, "update", FITS, holder.update(stratum, allowance))
        except OverBudget as problem:
            if policy.by_program:
                raise
            holder.give_up(stratum)
            return self._anew(stratum, policy.overrun(problem), allowance.wasted)

    def _anew(self, stratum: StatefulStratum, why: str, wasted: int = 0) -> StratumReport:
        return StratumReport(stratum.relations, "bootstrap", why, self.holder.evaluate(stratum) + wasted)

    def _summarise(self, report: EpochSummary, unreached: bool) -> None:
        if self.policy.strategy == "batch":
            report.strategy, report.why = "batch", UNCHANGED if unreached else STATELESS
        else:
            report.summarise()
