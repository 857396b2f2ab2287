"""A network in one process: nodes that are made when first spoken to, a transport, bursts of updates.

After each burst the network has converged: nothing is in flight and no node can pick anything. The union of the nodes'
facts is then what centralised evaluation of the base facts gives (Theorem 18 of paper 000). A message is an update that
a node makes for another one; a step is one node receiving one message, or (in batches) all that arrived for it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Protocol

from tidelog.net.delta import DeltaRules
from tidelog.net.derivations import Derivations
from tidelog.net.meter import Meter
from tidelog.net.program import NetProgram
from tidelog.net.program import Node as Place
from tidelog.net.runtime import wire
from tidelog.net.runtime.node import Node, Reaction
from tidelog.net.runtime.transport import Message, Transport
from tidelog.net.values import Fact, Update

_STEPS_BETWEEN_NEWS = 1_000

News = Callable[["Convergence"], None]
"""Called now and then with what the burst has cost so far."""


class Watcher(Protocol):
    """Sees everything a network does; a trace is one."""

    def burst(self, messages: list[Message]) -> None: ...

    def step(self, node: Node, received: list[Message], reaction: Reaction, sent: list[Message]) -> None: ...

    def converged(self, cost: Convergence) -> None: ...


@dataclass
class Convergence:
    """What it took until a burst had settled. `waiting`: deletions of facts that never came."""

    updates: int = 0
    messages: int = 0
    bytes: int = 0
    rounds: int = 0
    steps: int = 0
    cancelled: int = 0
    seconds: float = 0.0
    waiting: list[Update] = field(default_factory=list)

    def add(self, other: Convergence) -> None:
        """The cost of another part of the same network in the same burst."""
        self.updates += other.updates
        self.messages += other.messages
        self.bytes += other.bytes
        self.rounds = max(self.rounds, other.rounds)
        self.steps += other.steps
        self.cancelled += other.cancelled
        self.waiting += other.waiting


class Network:
    def __init__(
        self,
        program: NetProgram,
        transport: Transport,
        derivations: Derivations | None = None,
        meter: Meter | None = None,
        batch: bool = False,
        cancel: bool = False,
        watcher: Watcher | None = None,
        news: News | None = None,
        numbers: Iterator[int] | None = None,
    ) -> None:
        self.program, self.transport = program, transport
        self.derivations, self.meter = derivations, meter or Meter()
        self.batch, self.cancel = batch, cancel
        self.watcher, self.news = watcher, news
        self.nodes: dict[Place, Node] = {}
        self.cost = Convergence()
        self._rules = DeltaRules(program)
        self._sizes = wire.Sizes(derivations)
        self._numbers = numbers or count(1)

    def burst(self, updates: Iterable[Update]) -> Convergence:
        """Sends updates of base facts to their nodes and runs until nothing happens any more."""
        started = time.perf_counter()
        self.cost = Convergence()
        self.submit(updates)
        while self.step():
            if self.news and self.cost.steps % _STEPS_BETWEEN_NEWS == 0:
                self.news(self.cost)
        self.cost.seconds = time.perf_counter() - started
        self.cost.waiting = list(self.waiting())
        if self.watcher:
            self.watcher.converged(self.cost)
        return self.cost

    def submit(self, updates: Iterable[Update]) -> None:
        """The updates of a burst go to their nodes; nothing is evaluated yet."""
        base = self.derivations.base if self.derivations else None
        sent = [self._message(Update(u.sign, u.fact, base), None, 0) for u in updates]
        if self.watcher:
            self.watcher.burst(sent)
        for message in sent:
            self.transport.send(message)

    def step(self) -> bool:
        """One node receives something; False if there is nothing to receive."""
        received = self.transport.deliver(self.batch)
        if not received:
            return False
        place = received[0].destination
        node = self.nodes.get(place)
        if node is None:
            node = self.nodes[place] = Node(
                place, self.program, self._rules, self.derivations, self.meter, self.cancel
            )  # fmt: skip
        reaction = node.receive(m.update for m in received)
        hops = max(m.hops for m in received)
        self.cost.steps += 1
        self.cost.updates += len(reaction.picked)
        self.cost.cancelled += reaction.cancelled
        self.cost.rounds = max(self.cost.rounds, hops)
        sent = [self._message(u, place, hops) for u, n in reaction.made for _ in range(n)]
        for message in sent:
            if message.travels:
                self.cost.messages += 1
                self.cost.bytes += self._sizes.of(message.update)
            self.transport.send(message)
        if self.watcher:
            self.watcher.step(node, received, reaction, sent)
        return True

    def facts(self) -> frozenset[Fact]:
        """The facts of all nodes."""
        return frozenset(f for node in self.nodes.values() for f in node.facts())

    def waiting(self) -> Iterator[Update]:
        return (u for node in self.nodes.values() for u in node.waiting)

    def _message(self, update: Update, source: Place, hops: int) -> Message:
        """`hops` are those of the cause; a message to another node is one further."""
        destination = self.program.node(update.fact)
        further = source is not None and source != destination
        return Message(update, source, destination, hops + further, next(self._numbers))
