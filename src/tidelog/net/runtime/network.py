"""A network in one process: nodes that are made when first spoken to, a transport, bursts of updates.

After each burst the network has converged: nothing is in flight and no node can pick anything. The union of the nodes'
facts is then what centralised evaluation of the base facts gives (Theorem 18 of paper 000). A message is an update that
a node makes for another one, of however many copies; a step is one node receiving one message, or (in batches) all
that arrived for it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from itertools import count
from typing import Protocol

from tidelog.net.algorithms import check_facts, check_program
from tidelog.net.delta import DeltaRules, Made
from tidelog.net.derivations import Derivations
from tidelog.net.ledger import Ledger
from tidelog.net.meter import Meter
from tidelog.net.program import NetProgram, Place
from tidelog.net.runtime.dictionary import Sender
from tidelog.net.runtime.node import Node, Reaction
from tidelog.net.runtime.packed import size
from tidelog.net.runtime.transport import Delivery, InFlight
from tidelog.net.supports import Supports
from tidelog.net.values import Fact, Update
from tidelog.plain import dataclass, field
from tidelog.wire.codec import dumps

_STEPS_BETWEEN_NEWS = 1_000

News = Callable[["Convergence"], None]
"""Called now and then with what the burst has cost so far."""


class Watcher(Protocol):
    """Sees everything a network does; a trace is one."""

    def burst(self, messages: list[InFlight]) -> None: ...

    def step(self, node: Node, received: list[InFlight], reaction: Reaction, sent: list[InFlight]) -> None: ...

    def converged(self, cost: Convergence) -> None: ...

    def forgets(self, place: Place) -> None:
        """The node begins anew."""


@dataclass
class BurstCost:
    """What a burst has cost so far."""

    updates: int = 0
    messages: int = 0
    bytes: int = 0
    rounds: int = 0
    steps: int = 0
    cancelled: int = 0


@dataclass
class Convergence(BurstCost):
    """What it took until a burst had settled.

    `left_out`: deletions of base facts that were not there. `waiting`: others, whose facts never came; there are none.
    `started_over`: every node forgot everything and was told its base facts anew, one message each.
    """

    seconds: float = 0.0
    waiting: list[Update] = field(default_factory=list)
    left_out: list[Update] = field(default_factory=list)
    started_over: bool = False

    def add(self, other: BurstCost) -> None:
        """The cost of another part of the same network in the same burst."""
        self.updates += other.updates
        self.messages += other.messages
        self.bytes += other.bytes
        self.rounds = max(self.rounds, other.rounds)
        self.steps += other.steps
        self.cancelled += other.cancelled


class Network:
    def __init__(
        self,
        program: NetProgram,
        transport: Delivery,
        derivations: Derivations | None = None,
        meter: Meter | None = None,
        batch: bool = False,
        cancel: bool = False,
        watcher: Watcher | None = None,
        news: News | None = None,
        numbers: Iterator[int] | None = None,
        start_over: float | None = None,
    ) -> None:
        """`start_over`: when a burst changes a larger part of the base facts, all nodes begin anew."""
        check_program(program, derivations, cancel)
        self.start_over = start_over
        self.program, self.transport = program, transport
        self.derivations, self.meter = derivations, meter or Meter()
        self.batch, self.cancel = batch, cancel
        self.watcher, self.news = watcher, news
        self.nodes: dict[Place, Node] = {}
        self.cost = Convergence()
        self.ledger = Ledger(program.keys)
        self._rules = DeltaRules(program)
        self._held: dict[Place, dict[Update, int]] = {}
        self._connections: dict[tuple[Place, Place], Sender] = {}
        self._numbers = numbers or count(1)

    def burst(self, updates: Iterable[Update]) -> Convergence:
        """Sends updates of base facts to their nodes and runs until nothing happens any more."""
        started = time.perf_counter()
        self.cost = Convergence()
        updates = list(updates)
        if self.start_over is not None and self.ledger.share_changed(updates) > self.start_over:
            self._begin_anew(updates)
        else:
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
        updates, left_out = self.ledger.admit(updates)
        self.cost.left_out += left_out
        check_facts(self.program, self.derivations, (u.fact for u in updates if u.sign > 0))
        base = self.derivations.base if self.derivations else None
        sent = [self._message(Update(u.sign, self.program.entered(u.fact), base), None, 0) for u in updates]
        if self.watcher:
            self.watcher.burst(sent)
        for message in sent:
            self.transport.send(message)

    def _begin_anew(self, updates: list[Update]) -> None:
        """All nodes forget everything, and get the base facts as the burst leaves them."""
        self.cost.started_over = True
        self.cost.messages += len(self.nodes)
        _, self.cost.left_out = self.ledger.admit(updates)
        facts = list(self.ledger.counts.elements())
        if self.watcher:
            for place in self.nodes:
                self.watcher.forgets(place)
        self.nodes, self._held, self._connections = {}, {}, {}
        self.ledger = Ledger(self.program.keys)
        self.submit([Update(1, f) for f in facts])

    def step(self) -> bool:
        """One node receives something; False if there is nothing to receive, and nothing was held back."""
        received = self.transport.deliver(self.batch)
        if not received:
            return bool(self._held) and self._let_go()
        place = received[0].destination
        node = self.nodes.get(place)
        if node is None:
            node = self.nodes[place] = Node(
                place, self.program, self._rules, self.derivations, self.meter, self.cancel
            )  # fmt: skip
        reaction = node.receive((m.update, m.copies) for m in received)
        hops = max(m.hops for m in received)
        self.cost.steps += 1
        self.cost.updates += len(reaction.picked)
        self.cost.cancelled += reaction.cancelled
        self.cost.rounds = max(self.cost.rounds, hops)
        sent = self._send(place, hops, self._hold_back(place, hops, reaction.made))
        if self.watcher:
            self.watcher.step(node, received, reaction, sent)
        return True

    def _send(self, place: Place, hops: int, made: Made) -> list[InFlight]:
        sent = [self._message(u, place, hops, n) for u, n in made]
        for message in sent:
            if message.travels:
                self.cost.messages += 1
                self.cost.bytes += self._size(message)
            self.transport.send(message)
        return sent

    def _hold_back(self, place: Place, hops: int, made: Made) -> Made:
        """What is sent now. Fallbacks (see `supports`) wait; one that is taken back before that was never made."""
        if not isinstance(self.derivations, Supports):
            return made
        fallbacks = self.derivations.fallbacks(made)
        held = self._held.get(place)
        if not fallbacks and not held:
            return made
        if held is None:
            held = self._held[place] = {}
        now: Made = []
        for i, (update, n) in enumerate(made):
            if i in fallbacks:
                held[update] = hops
            elif update.complement in held:
                del held[update.complement]
            else:
                now.append((update, n))
        return now

    def _let_go(self) -> bool:
        """What was held back is made now; False if nothing was."""
        held, self._held = self._held, {}
        for place, updates in held.items():
            for update, hops in updates.items():
                sent = self._send(place, hops, [(update, 1)])
                if self.watcher:
                    self.watcher.step(self.nodes[place], [], Reaction([], []), sent)
        return any(held.values())

    def facts(self) -> frozenset[Fact]:
        """The facts of all nodes."""
        return frozenset(f for node in self.nodes.values() for f in node.facts())

    def waiting(self) -> Iterator[Update]:
        return (u for node in self.nodes.values() for u, n in node.waiting for _ in range(n))

    def _size(self, message: InFlight) -> int:
        """How many bytes the message takes on the connection of its two nodes."""
        if self.derivations is None:
            return size(message.update, message.copies)
        ends = message.source, message.destination
        sender = self._connections.get(ends)
        if sender is None:
            sender = self._connections[ends] = Sender(self.derivations)
        return len(dumps(sender.pack(message.update, message.copies)))

    def _message(self, update: Update, source: Place, hops: int, copies: int = 1) -> InFlight:
        """`hops` are those of the cause; a message to another node is one further."""
        destination = self.program.node(update.fact)
        further = source is not None and source != destination
        return InFlight(update, source, destination, hops + further, next(self._numbers), copies)
