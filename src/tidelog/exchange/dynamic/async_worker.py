"""A worker in a process of its own that evaluates without rounds: the strategy "async" of a session.

It is a worker like others (`part_worker.py`) whose tuples are each at one place, by the home of one column's value;
what it does otherwise is to evaluate from scratch. What is always true: all workers plan alike, since they plan by
the program alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tidelog.analysis.check import check
from tidelog.analysis.checked import Checked
from tidelog.errors import Report
from tidelog.evaluate.facts import Facts, enter
from tidelog.exchange.dynamic.dijkstra_scholten import Tree
from tidelog.exchange.dynamic.gathering import AtFirst
from tidelog.exchange.dynamic.materialise import SharedProgram
from tidelog.exchange.dynamic.partition import ByHash
from tidelog.exchange.dynamic.server import INTRODUCTIONS, Server
from tidelog.exchange.homes import FIRST
from tidelog.exchange.part_store import PartStore
from tidelog.exchange.part_worker import PartOrder, PartWorker, functors_of
from tidelog.exchange.transport import WaitingTransport
from tidelog.plan.exchange.cut import Placements
from tidelog.plan.exchange.making import makes_values
from tidelog.plan.exchange.placement import FIRST as AT_FIRST
from tidelog.plan.exchange.placement import Placement
from tidelog.plan.stateful import StatefulProgram
from tidelog.store import Database


def async_worker(order: PartOrder, line: WaitingTransport) -> AsyncWorker:
    """The worker of an order."""
    return AsyncWorker(check(order.program), functors_of(order), order.limits, line, order.said)


def alone(program: StatefulProgram, said: Mapping[str, Placement]) -> dict[str, Placement]:
    """Where the tuples of each relation are: by the column that the user says, or the first."""
    return {name: said.get(name, Placement((0,))) if arity else AT_FIRST for name, arity in program.arities.items()}


def refuse_async(checked: Checked, program: StatefulProgram, said: Mapping[str, Placement]) -> None:
    """An error with everything that workers without rounds cannot do."""
    report = Report()
    help = "take the strategy batch, with or without workers"
    for stratum in program.strata:
        names = ", ".join(name for name in stratum.relations if name in checked.relations)
        if stratum.equivalence is not None:
            report.error("TL1286", f"workers without rounds do not hold the eqrel {stratum.equivalence}", help=help)
        elif makes_values(stratum):
            report.error("TL1286", f"the rules of {names} make texts or records, which workers without rounds cannot "
                         "number", help=help)  # fmt: skip
    for name in _not_alone(said):
        report.error("TL1286", f"without rounds each tuple of {name} is with one worker",
                     help="name one attribute of it in `placement`")  # fmt: skip
    report.check()


def _not_alone(said: Mapping[str, Placement]) -> Iterable[str]:
    return (name for name, placement in said.items() if not placement.alone)


class AsyncStore(PartStore):
    """A worker's part of the relations."""

    def start_over(self, facts: Mapping[str, Facts]) -> int:
        state, line = self.state, self.waves.line
        state.epoch.from_scratch = True
        state.replace([*state.program.arities, *state.given.values()])
        state.context.counter = 0
        for name, rows in facts.items():
            enter(self.database, name, rows, self.database[state.given.get(name, name)])
        keys = {name: placement.columns[0] for name, placement in self.share.placed.items() if placement.columns}
        shared = SharedProgram(state.checked, keys=keys, program=state.program)
        held = shared.held(state.context, ByHash(line.size), line.me)
        phases = (*INTRODUCTIONS, *shared.phases)
        server = Server(line, held, phases, Tree, self._at_first() if line.me == FIRST else None)
        names = tuple(state.program.arities)
        self.limits.relations = names
        while not server.done:
            self.limits.check(1, sum(self.database[name].count for name in names))
            if not server.act():
                line.wait()
        return server.tally.derived

    def _at_first(self) -> AtFirst:
        database = Database()
        database.share_dictionaries(self.database)
        state = self.state
        return AtFirst(state.checked, state.program, state.context.functors, database, self.limits)


class AsyncWorker(PartWorker):
    """See the module's docstring."""

    store_class = AsyncStore

    def placements(self, program: StatefulProgram, said: Mapping[str, Placement]) -> Placements:
        return alone(program, said)
