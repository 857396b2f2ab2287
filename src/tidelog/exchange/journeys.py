"""A plan whose matches travel, as one worker runs it: its legs, and where what comes of them goes.

The first leg begins with this worker's tuples; each other one with what arrives on its port. What a leg ends with is
sent in pieces, as it comes: partial matches in the wave of their hop, heads by `heads`, which knows what becomes of
them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tidelog.evaluate.bindings import Bindings, Words
from tidelog.evaluate.context import Context
from tidelog.evaluate.stages import PlanRun
from tidelog.exchange.homes import FIRST, homes, with_homes
from tidelog.exchange.waves import Waves
from tidelog.plain import replace
from tidelog.plan import steps
from tidelog.plan.exchange.cut import legs
from tidelog.plan.steps import Everyone, FirstWorker, HoldersOf, HomeOf, Receive, Send, Slot

Heads = Callable[[Send, Bindings], None]


def leg_runs(
    context: Context, plan: steps.Plan, waves: Waves, changing: Sequence[str], pending: Any = None
) -> list[tuple[PlanRun, Send | None, tuple[int, ...]]]:
    """What runs each leg of a plan, where it is sent to then, and with which slots it begins."""
    found = []
    for leg in legs(plan):
        sent = leg[-1] if isinstance(leg[-1], Send) else None
        begins = leg[0].slots if isinstance(leg[0], Receive) else None
        inner = tuple(step for step in leg if not isinstance(step, Send | Receive))
        lowered = with_homes(replace(plan, steps=inner), waves.me, waves.size)
        wanted = () if sent is None else sent.slots
        found.append((PlanRun(context, lowered, None, changing, pending, begins, wanted), sent, begins or ()))
    return found


class Journey:
    """See the module's docstring. Its ports are those from `port` on, one for each hop but that of the heads."""

    def __init__(
        self,
        context: Context,
        plan: steps.Plan,
        waves: Waves,
        port: int,
        heads: Heads,
        changing: Sequence[str] = (),
        pending: Any = None,
    ) -> None:
        self.plan, self._waves, self._port, self._heads = plan, waves, port, heads
        self._legs = leg_runs(context, plan, waves, changing, pending)
        self._database = context.database

    @property
    def pipelines(self) -> list[Any]:
        """Of all legs; first the one that begins."""
        return [pipeline for run, _, _ in self._legs for pipeline in run.pipelines]

    @property
    def derivations(self) -> int:
        return sum(run.derivations for run, _, _ in self._legs)

    @property
    def effort(self) -> int:
        return sum(run.effort for run, _, _ in self._legs)

    def run(self) -> None:
        """The first leg."""
        self._leg(0, Bindings.one())

    def arrive(self, hop: int, rows: Words) -> None:
        """Go on with what has made so many hops and one."""
        self._leg(hop + 1, Bindings.from_rows(rows, self._legs[hop + 1][2]))

    def _leg(self, number: int, bindings: Bindings) -> None:
        run, sent, _ = self._legs[number]
        for piece in run.results(bindings):
            if sent is not None:
                self._post(number, sent, piece)

    def _post(self, hop: int, sent: Send, bindings: Bindings) -> None:
        waves = self._waves
        if isinstance(sent.route, HoldersOf):
            self._heads(sent, bindings)
            return
        rows = bindings.rows(sent.slots)
        match sent.route:
            case HomeOf(operand=Slot(index=index)):
                places = homes(np.ascontiguousarray(bindings.columns[index]), waves.size)
                for to in range(waves.size):
                    if len(share := rows[places == to]):
                        waves.send(to, hop + 1, self._port + hop, share)
                return
            case HomeOf(operand=operand):
                assert not isinstance(operand, Slot)
                word = np.array([self._database.encode(operand)], np.int64)
                receivers: Sequence[int] = [int(homes(word, waves.size)[0])]
            case FirstWorker():
                receivers = [FIRST]
            case Everyone():
                receivers = range(waves.size)
        for to in receivers:
            waves.send(to, hop + 1, self._port + hop, rows)


def hops_of_matches(plan: steps.Plan) -> int:
    """How many journeys a plan's matches make, that of its head apart."""
    return sum(isinstance(step, Send) and not isinstance(step.route, HoldersOf) for step in plan.steps)


def tells_others(plan: steps.Plan) -> bool:
    """Whether a plan's heads may be held elsewhere."""
    return any(isinstance(step, Send) and isinstance(step.route, HoldersOf) for step in plan.steps)
