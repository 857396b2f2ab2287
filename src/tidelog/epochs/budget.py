"""What an Update may cost, so that giving it up costs little more than never having tried.

An Update is allowed `switch` times the cost of the last Bootstrap, in work done (repeatable) or in seconds. Where
iterations have a price of their own, whatever they find (a Spark job each), the clock is looked at as well: an Update
that is going to take longer than its stratum took from scratch is given up while it has taken less than its share; one
that has taken more is only given up if what is left of it would take longer than all from scratch.
"""

from __future__ import annotations

import math
import time

from tidelog.plain import dataclass, field
from tidelog.store.update import UNLIMITED, OverBudget

LOOKS = 3
"""How often an Update looks at a changed derivation, about: in the state before, in the one after, and again."""


@dataclass(frozen=True)
class CostAnew:
    """Of evaluating a stratum anew: `work`; and, where iterations have a price, the `seconds` that it took the last
    time, and how many `iterations` it has."""

    work: float = 0.0
    seconds: float | None = None
    iterations: int = 1


@dataclass
class Allowance:
    """What an Update of a stratum may cost; `work` is UNLIMITED where none is given up for it."""

    work: int = UNLIMITED
    share: float = 0.2
    cost: CostAnew = field(default_factory=CostAnew)
    until: float = math.inf
    started: float = field(default_factory=time.perf_counter)
    done: int | None = None

    def look(self, iterations: int, work: int) -> None:
        """Raise OverBudget, with the reason, if after so many iterations and so much work it is better to give up."""
        self.done = work
        clock, anew = time.perf_counter(), self.cost.seconds
        if clock > self.until:
            raise OverBudget
        if self.work == UNLIMITED:
            return
        spent = clock - self.started
        early = anew is None or spent <= self.share * anew
        if early and work > self.work:
            raise OverBudget
        if anew is not None:
            left = spent / iterations * max(0, self.cost.iterations - iterations)
            if left + (spent if early else 0) > anew:
                raise OverBudget("Update would have taken longer than its last Bootstrap")

    @property
    def wasted(self) -> int:
        """The work of an Update that was given up."""
        return self.work if self.done is None else self.done


@dataclass(frozen=True)
class Policy:
    """How an engine decides. Only the strategy "elastic" gives an Update up; `switch` is the share of the last
    Bootstrap's cost that it may take, counted in `budget`, which is "derivations" or "seconds". Beyond it, the stratum
    at hand is evaluated anew, or (`switching` "program", as in the paper) everything."""

    strategy: str = "elastic"
    switch: float = 0.2
    budget: str = "derivations"
    switching: str = "stratum"

    @property
    def by_program(self) -> bool:
        return self.switching == "program"

    @property
    def counts_work(self) -> bool:
        return self.strategy == "elastic" and self.budget != "seconds"

    def work(self, cost: float, least: int) -> int:
        """What an Update may do, where Bootstrap costs so much; never less than the least."""
        return max(least, int(self.switch * cost)) if self.counts_work else UNLIMITED

    def until(self, start: float, bootstrap_seconds: float) -> float:
        """When the time of an epoch is over that began then."""
        timed = self.strategy == "elastic" and self.budget == "seconds"
        return start + self.switch * bootstrap_seconds if timed else math.inf

    def hopeless(self, work: int, least: int, changed: int, read: int) -> bool:
        """Whether it is clear beforehand that an Update will not do, of which so much work is allowed: the work grows
        at least with the share of what it reads that changed. Where only the least is allowed, shares say nothing."""
        if work in (least, UNLIMITED):
            return changed > work
        return LOOKS * changed > self.switch * read

    def overrun(self, problem: OverBudget) -> str:
        """Why an Update was given up."""
        which = "the" if self.by_program else "its"
        return str(problem) or f"Update needed more than {self.switch:g} of {which} last Bootstrap"
