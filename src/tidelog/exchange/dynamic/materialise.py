"""Asynchronous materialisation of a program on many workers: `strategy="async"`, in batch.

`SharedProgram` is what all workers have in common: phases with their plans, positions, who owns what. `Cluster` has
workers in this process, on transports that are given; they share the dictionaries of one database, so that a word means
the same to all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from tidelog.analysis.checked import Checked
from tidelog.epochs.one_store import Functors
from tidelog.errors import error
from tidelog.evaluate.bindings import Words
from tidelog.evaluate.context import Context
from tidelog.evaluate.limits import Limits
from tidelog.evaluate.prepare import Prepared
from tidelog.exchange.dynamic.clocks import LamportClock
from tidelog.exchange.dynamic.dijkstra_scholten import Tree
from tidelog.exchange.dynamic.gathering import AtFirst
from tidelog.exchange.dynamic.given_sizes import GivenSizes
from tidelog.exchange.dynamic.loading import Shares
from tidelog.exchange.dynamic.occurrences import Occurrences, Positions
from tidelog.exchange.dynamic.partial_matches import Held
from tidelog.exchange.dynamic.partition import Partition
from tidelog.exchange.dynamic.server import INTRODUCTIONS, Does, PlannedPhase, Server, Tally
from tidelog.exchange.dynamic.termination import MakeDetector
from tidelog.exchange.dynamic.termination_ring import Ring
from tidelog.exchange.homes import FIRST
from tidelog.exchange.seeded import Seeded
from tidelog.exchange.transport import Transport
from tidelog.plan import core
from tidelog.plan.exchange.phases import makes_values, phases_of, pivot_plans, told_positions
from tidelog.plan.orders.estimate import Estimate
from tidelog.plan.stateful import StatefulProgram, stateful_program
from tidelog.plan.steps import Const
from tidelog.store import Database

DETECTORS: Mapping[str, MakeDetector] = {"ring": Ring, "tree": Tree}


class SharedProgram:
    """What all workers of a program have in common. `keys` are the columns by which relations are shared out, the first
    where nothing is said."""

    def __init__(
        self,
        checked: Checked,
        estimate: Estimate | None = None,
        keys: Mapping[str, int] | None = None,
        program: StatefulProgram | None = None,
    ) -> None:
        self.checked = checked
        self.stateful = program or stateful_program(checked)
        self.arities = self.stateful.arities
        self.keys = {name: 0 if arity else -1 for name, arity in self.arities.items()} | dict(keys or {})
        for name, column in (keys or {}).items():
            if not 0 <= column < self.arities.get(name, 0):
                raise error("TL1285", f"{name} has no column {column + 1} to be shared out by")
        self.estimate = estimate or GivenSizes(self.arities, {})

    @cached_property
    def phases(self) -> tuple[PlannedPhase, ...]:
        found: list[PlannedPhase] = []
        for phase in phases_of(self.stateful):
            if phase.whole:
                found += [PlannedPhase(Does.GATHER, phase), PlannedPhase(Does.EVALUATE, phase)]
            else:
                plans = pivot_plans(phase.rules, phase.relations, self.estimate)
                found.append(PlannedPhase(Does.MATCH, phase, tuple(plans)))
        return tuple(found)

    @cached_property
    def positions(self) -> Positions:
        plans = [plan for planned in self.phases for plan in planned.plans]
        return Positions(*told_positions(plans, self.keys))

    @property
    def rules(self) -> list[core.CoreRule]:
        return [rule for planned in self.phases for rule in planned.phase.rules]

    def met(self, database: Database) -> Words | None:
        """Which values are always told to their meeting worker: those that only heads of rules have, and all if rules
        compute some, or one worker derives facts for all: nobody need have such a value when it is derived."""
        if any(planned.phase.whole for planned in self.phases) or any(map(makes_values, self.rules)):
            return None
        found = {database.encode(arg) for rule in self.rules for arg in rule.args if isinstance(arg, Const)}
        return np.array(sorted(found), np.int64)

    def held(self, context: Context, partition: Partition, me: int) -> Held:
        """What a worker has in the beginning: relations of its database, and no knowledge of others."""
        database: Database = context.database
        return Held(
            context,
            LamportClock({name: database[name] for name in self.arities}),
            Occurrences(database, self.positions.count, partition.size),
            self.positions,
            partition,
            self.keys,
            self.met(database),
            me,
            partition.size,
        )


class Cluster:
    """See the module's docstring."""

    server_class: type[Server] = Server

    def __init__(
        self,
        program: SharedProgram,
        partition: Partition,
        transports: Sequence[Transport],
        dictionaries: Database,
        functors: Functors | None = None,
        limits: Limits | None = None,
        termination: str = "ring",
        tallies: Sequence[Tally] = (),
        chunk: int = 512,
    ) -> None:
        self.program, self.partition = program, partition
        self._dictionaries, self._chunk = dictionaries, chunk
        functors = functors or {}
        self.held = [program.held(self._context(functors), partition, me) for me in range(partition.size)]
        first = AtFirst(program.checked, program.stateful, functors, self._database(), limits or Limits())
        self._parts = [
            (transport, held, first if me == FIRST else None, tallies[me] if tallies else None)
            for me, (transport, held) in enumerate(zip(transports, self.held, strict=True))
        ]
        self._detector = DETECTORS[termination]
        self.servers: list[Server] = []

    def _database(self) -> Database:
        made = Database(chunk=self._chunk)
        made.share_dictionaries(self._dictionaries)
        return made

    def _context(self, functors: Functors) -> Context:
        database = self._database()
        for name, arity in self.program.arities.items():
            database.create(name, arity, stateful=True)
        return Prepared(self.program.checked, functors).context(database)

    def load(self, facts: Mapping[str, Words], introduced: bool = True) -> None:
        """Share out facts; the workers are ready then. If they are not `introduced` to each other, they begin with
        that."""
        shares = Shares(facts, self.held[0])
        for held in self.held:
            shares.give(held, introduced)
        phases = (*(() if introduced else INTRODUCTIONS), *self.program.phases)
        self.servers = [
            self.server_class(transport, held, phases, self._detector, first, tally)
            for transport, held, first, tally in self._parts
        ]

    def rows(self, name: str) -> Words:
        """The facts of a relation, of all workers."""
        return np.concatenate([held.context.database[name].rows() for held in self.held])


def materialise(
    checked: Checked,
    facts: Mapping[str, Words],
    partition: Partition,
    dictionaries: Database,
    functors: Functors | None = None,
    termination: str = "ring",
    seed: int = 0,
) -> Cluster:
    """All that follows from the facts, on workers in this process that take turns."""
    arities = {name: info.arity for name, info in checked.relations.items()}
    program = SharedProgram(checked, GivenSizes(arities, facts))
    seeded = Seeded(partition.size, seed)
    cluster = Cluster(program, partition, seeded.transports, dictionaries, functors, termination=termination)
    cluster.load(facts)
    seeded.run(cluster.servers)
    return cluster
