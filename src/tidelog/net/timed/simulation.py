"""A network on a virtual clock: messages take time, facts expire, nodes tick, crash and come back.

Nothing sleeps: the clock jumps to what happens next. A seed decides delays, faults and when each node's first tick is,
so a run is repeated by its seed. What happens at the same time happens in the order of nodes and facts, not in that in
which it was caused.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import count
from random import Random
from typing import NamedTuple

from tidelog.net.checks import PERIODIC
from tidelog.net.delta import DeltaRules, Made
from tidelog.net.meter import Meter
from tidelog.net.program import Place
from tidelog.net.runtime import packed
from tidelog.net.runtime.node import Reaction
from tidelog.net.runtime.trace import Trace, name
from tidelog.net.runtime.transport import InFlight
from tidelog.net.timed.node import Actions, Instant, TimedNode
from tidelog.net.timed.program import TimedProgram
from tidelog.net.values import Fact, Update, Value, fact_order, order_key
from tidelog.plain import dataclass


class Crash(NamedTuple):
    """A node is down from a time until another; without `keeps` it comes back with what the user gave it only."""

    node: Value
    since: float
    until: float
    keeps: bool = False


@dataclass(frozen=True)
class SimulationFaults:
    """What goes wrong: shares of the messages between nodes, certain messages by number, and crashes."""

    lose: float = 0.0
    duplicate: float = 0.0
    delay: float = 0.0
    lost: frozenset[int] = frozenset()
    duplicated: frozenset[int] = frozenset()
    crashes: tuple[Crash, ...] = ()


@dataclass
class Spent:
    """What a run has cost so far, and when a table last changed."""

    updates: int = 0
    messages: int = 0
    bytes: int = 0
    lost: int = 0
    duplicated: int = 0
    last_change: float = 0.0


class _Due(NamedTuple):
    """Something that happens at a time; kind, place and order say what comes first of what happens at one time."""

    time: float
    kind: int
    place: tuple[int, object]
    order: tuple[object, ...]
    number: int
    happen: Callable[[], None]


_CRASH, _RETURN, _EXPIRE, _MESSAGE, _TICK = range(5)


class Simulation:
    def __init__(
        self,
        program: TimedProgram,
        nodes: Iterable[Value] = (),
        *,
        seed: int = 0,
        latency: float = 0.01,
        jitter: float = 0.04,
        delays: Mapping[tuple[Place, Place], float] | None = None,
        faults: SimulationFaults = SimulationFaults(),  # noqa: B008
        meter: Meter | None = None,
        trace: Trace | None = None,
    ) -> None:
        self.program, self.faults, self.trace = program, faults, trace
        self.now = 0.0
        self.spent = Spent()
        self._views, self._derivations = program.method.start(program.views)
        self._rules, self._actions = DeltaRules(self._views), Actions(program)
        self._meter = meter or Meter()
        self._random, self._seed = Random(seed), seed
        self._latency, self._jitter, self._delays = latency, jitter, delays or {}
        self._due: list[_Due] = []
        self._numbers, self._places, self._bursts = count(1), count(1), count(1)
        self._travelled = 0
        self.nodes: dict[Place, TimedNode] = {}
        self._down: set[Place] = set()
        self._started: set[Place] = set()
        self._given: dict[Place, dict[Fact, None]] = {}
        for node in nodes:
            self._node(node)
        for crash in faults.crashes:
            self._plan(crash.since, _CRASH, crash.node, (), partial(self._crash, crash))
            self._plan(crash.until, _RETURN, crash.node, (), partial(self._return, crash))

    def at(self, time: float, updates: Iterable[Update]) -> None:
        """The user puts facts into tables, takes them out, or makes events happen, at a time."""
        sent = [InFlight(u, None, self.program.views.node(u.fact), 0, next(self._numbers)) for u in updates]
        burst = next(self._bursts)
        for message in sent:
            update = message.update
            event = update.fact.name in self.program.events
            order = (0, burst, event, -update.sign, fact_order(update.fact))
            self._plan(time, _MESSAGE, message.destination, order, partial(self._deliver, message))
        if self.trace and sent:
            self.trace.burst(sent, time)

    def run(self, until: float) -> Iterator[float]:
        """Goes on until the time, stopping after each thing that happens with the time at which it did."""
        while self._due and self._due[0].time <= until:
            due = heapq.heappop(self._due)
            self.now = due.time
            due.happen()
            yield self.now
        self.now = until

    def finish(self, until: float) -> Spent:
        for _ in self.run(until):
            pass
        return self.spent

    def facts(self) -> frozenset[Fact]:
        """The facts in the tables of all nodes that are up."""
        return frozenset(f for p, node in self.nodes.items() if p not in self._down for f in node.facts())

    def _plan(
        self, time: float, kind: int, place: Place, order: tuple[object, ...], happen: Callable[[], None]
    ) -> None:
        where = order_key(place) if place is not None else (-1, 0)
        heapq.heappush(self._due, _Due(time, kind, where, order, next(self._places), happen))

    def _tick(self, place: Place, period: int | float, number: int) -> None:
        following = partial(self._tick, place, period, number + 1)
        self._plan(self.now + period, _TICK, place, (), following)
        if place not in self._down and place is not None:
            tick = Update(1, Fact(PERIODIC, (place, number, period)))
            self._after(place, self._node(place).receive(tick, 1, self.now), [])

    def _deliver(self, message: InFlight) -> None:
        place, update = message.destination, message.update
        if place in self._down and message.source is not None:
            self._lose(message)
        elif place in self._down:  # what the user does waits until the node is back
            back = min(c.until for c in self.faults.crashes if c.node == place and c.until > self.now)
            self._plan(back, _MESSAGE, place, (0,), partial(self._deliver, message))
        else:
            if message.source is None and update.fact.name not in (self.program.lifetimes.keys() | self.program.events):
                given = self._given.setdefault(place, {})
                given.pop(update.fact, None)
                if update.sign > 0:
                    given[update.fact] = None
            self._after(place, self._node(place).receive(update, message.copies, self.now), [message])

    def _expire(self, place: Place, fact: Fact) -> None:
        instant = None if place in self._down else self._node(place).expire(fact, self.now)
        if instant is not None:
            self._after(place, instant, [])

    def _after(self, place: Place, instant: Instant, received: list[InFlight]) -> None:
        self.spent.updates += len(instant.picked)
        if instant.picked:
            self.spent.last_change = self.now
        for fact, time in instant.ends.items():
            self._plan(time, _EXPIRE, place, (fact_order(fact),), partial(self._expire, place, fact))
        sent = self._send(place, instant.sent)
        if self.trace and (instant.picked or received or sent):
            self.trace.step(self.nodes[place].node, received, Reaction(instant.picked, []), sent, self.now)

    def _send(self, place: Place, made: Made) -> list[InFlight]:
        sent = [InFlight(u, place, self.program.views.node(u.fact), 0, next(self._numbers), n) for u, n in made]
        for message in sent:
            self.spent.messages += 1
            self.spent.bytes += packed.size(message.update, message.copies)
            self._travelled += 1
            if self._travelled in self.faults.lost or self._random.random() < self.faults.lose:
                self._lose(message)
                continue
            self._travel(message)
            if self._travelled in self.faults.duplicated or self._random.random() < self.faults.duplicate:
                self.spent.duplicated += 1
                self._travel(message)
        return sent

    def _travel(self, message: InFlight) -> None:
        ends = message.source, message.destination
        takes = self._delays.get(ends, self._latency)
        takes += self._random.random() * self._jitter
        if self.faults.delay:
            takes += self._random.random() * self.faults.delay
        order = (1, -message.update.sign, fact_order(message.update.fact))
        self._plan(self.now + takes, _MESSAGE, message.destination, order, partial(self._deliver, message))

    def _lose(self, message: InFlight) -> None:
        self.spent.lost += 1
        if self.trace:
            self.trace.fault(name(message.destination), f"{message.update} is lost", [message.number], self.now)

    def _crash(self, crash: Crash) -> None:
        self._down.add(crash.node)
        if not crash.keeps:
            self.nodes.pop(crash.node, None)
        if self.trace:
            told = "keeps its tables" if crash.keeps else "forgets its tables"
            self.trace.fault(name(crash.node), f"{name(crash.node)} crashes and {told}", [], self.now, not crash.keeps)

    def _return(self, crash: Crash) -> None:
        self._down.discard(crash.node)
        if self.trace:
            self.trace.fault(name(crash.node), f"{name(crash.node)} is back", [], self.now)
        node = self._node(crash.node)
        for fact, time in list(node.ends.items()):
            if time <= self.now:
                self._expire(crash.node, fact)
        if not crash.keeps:
            self.at(self.now, [Update(1, f) for f in self._given.get(crash.node, ())])

    def _node(self, place: Place) -> TimedNode:
        node = self.nodes.get(place)
        if node is None:
            node = self.nodes[place] = TimedNode(
                place, self.program, self._views, self._rules, self._actions, self._derivations, self._meter
            )  # fmt: skip
            if place not in self._started:
                self._started.add(place)
                for period in self.program.periods:
                    first = self.now + Random(f"{self._seed} {place} {period}").random() * period
                    self._plan(first, _TICK, place, (), partial(self._tick, place, period, 1))
        return node
