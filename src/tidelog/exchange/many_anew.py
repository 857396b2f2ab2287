"""Many workers for the strategy "batch": every epoch evaluates everything anew.

To the driver it is one stratum that no update can follow, as `epochs/recompute.py` is. The workers evaluate as for any
other strategy, with iterations and counts.
"""

from __future__ import annotations

from tidelog.epochs.budget import CostAnew
from tidelog.epochs.changes import NetChange
from tidelog.evaluate.limits import Limits, Observer
from tidelog.exchange.front import Front
from tidelog.exchange.many import Hire, Many
from tidelog.plan.exchange.cut import Placements
from tidelog.plan.stateful import StatefulStratum


class ManyAnew(Many):
    """See the module's docstring."""

    def __init__(
        self, hire: Hire, front: Front, placed: Placements, limits: Limits, observer: Observer | None = None
    ) -> None:
        super().__init__(hire, front, placed, limits, observer)
        relations = tuple(front.state.checked.relations)
        self.strata = (StatefulStratum(relations, (), whole="what has no state"),)

    def apply(self, change: NetChange) -> None:
        self.change = change

    def reached(self, stratum: StatefulStratum) -> bool:
        return bool(self.change)

    def pass_by(self, stratum: StatefulStratum) -> None:
        pass

    def cost(self, stratum: StatefulStratum) -> CostAnew:
        return CostAnew()

    def evaluate(self, stratum: StatefulStratum) -> int:
        return self.start_over(self.facts_after(self.change))
