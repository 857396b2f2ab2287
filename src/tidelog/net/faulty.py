"""A network in which messages are lost and duplicated and nodes crash, as far as the user allows: what can happen next.

A state is what each node holds, which messages are on their way (from whom, to whom, how often), which nodes are down,
which burst is next, and which faults are left. In a localised program a node's step depends on its own facts alone, so
each step of a node is computed once and remembered; a state of many nodes costs what is different in it.

Messages may overtake each other and be as late as they like: that is no fault. A message to a node that is down is
lost; what a node has made for itself is part of its store. A node that comes back without its store is given its base
facts again (its configuration), and nothing else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from tidelog.net.configuration import Configuration
from tidelog.net.core import Core
from tidelog.net.delta import DeltaRules
from tidelog.net.meter import Meter
from tidelog.net.program import Place
from tidelog.net.store import Tag
from tidelog.net.values import Fact, Update, fact_order, order_key, show


class Allowed(NamedTuple):
    """How many faults of each kind may happen in a run; `keeps`: nodes that crash come back with their store."""

    lose: int = 0
    duplicate: int = 0
    crash: int = 0
    keeps: bool = False

    @property
    def any(self) -> bool:
        return bool(self.lose or self.duplicate or self.crash)


class Sent(NamedTuple):
    """An update on its way; from the user if there is no source."""

    source: Place
    destination: Place
    update: Update

    @property
    def travels(self) -> bool:
        return self.source is not None and self.source != self.destination


class NetworkState(NamedTuple):
    """`held` numbers what each node holds, in the order of the nodes."""

    held: tuple[int, ...]
    flying: frozenset[tuple[Sent, int]]
    down: frozenset[Place]
    bursts: int
    allowed: Allowed


class Move(NamedTuple):
    """What happens: a message is received, lost or duplicated; a node crashes or returns; the next burst comes."""

    kind: str
    node: Place = None
    sent: Sent | None = None

    def __str__(self) -> str:
        if self.sent is None:
            node = "" if self.node is None else show(self.node)
            return {"burst": "the next burst", "crash": f"{node} crashes", "return": f"{node} is back"}[self.kind]
        told = str(self.sent.update)
        if self.sent.travels:
            told += f" from {show(self.sent.source)} to {show(self.sent.destination)}"  # type: ignore[arg-type]
        return told if self.kind == "receive" else f"{told} is {'lost' if self.kind == 'lose' else 'duplicated'}"


class FaultyNetwork:
    def __init__(self, start: Configuration, bursts: Sequence[Sequence[Update]], allowed: Allowed, limit: int) -> None:
        self.program, self.derivations = start.program, start.derivations
        self._rules = DeltaRules(self.program)
        self._meter = Meter(limit)
        self._base = self.derivations.base if self.derivations else None
        self._bursts = [tuple(burst) for burst in bursts]
        parts: dict[Place, dict[tuple[Fact, Tag], int]] = {}
        for (fact, tag), n in start.view().items():
            parts.setdefault(self.program.node(fact), {})[fact, tag] = n
        mentioned = {self.program.node(u.fact) for burst in bursts for u in burst} | set(parts)
        self._numbers: dict[frozenset[tuple[tuple[Fact, Tag], int]], int] = {}
        self._held: list[frozenset[tuple[tuple[Fact, Tag], int]]] = []
        self._facts: list[frozenset[Fact]] = []
        self._steps: dict[tuple[int, Update], tuple[int, tuple[tuple[Update, int], ...]] | None] = {}
        self.places: list[Place] = sorted(mentioned, key=_place_order)
        self._order: dict[Sent, int] = {}
        self._index = {place: i for i, place in enumerate(self.places)}
        held = tuple(self._number(frozenset(parts.get(p, {}).items())) for p in self.places)
        self.first = NetworkState(held, frozenset(), frozenset(), 0, allowed)

    def facts(self, state: NetworkState) -> Iterator[Fact]:
        """The facts of the nodes that are up."""
        return (f for p, n in zip(self.places, state.held, strict=False) if p not in state.down for f in self._facts[n])

    def held_by(self, place: Place, state: NetworkState) -> list[str]:
        """What a node holds, with how many copies, as a trace writes it."""
        at = self._index[place]
        held = self._held[state.held[at]] if at < len(state.held) else frozenset()
        return sorted(str(f) if n == 1 else f"{f} × {n}" for (f, _), n in held)

    def due(self, state: NetworkState) -> list[tuple[Move, NetworkState]]:
        """What happens sooner or later: messages arrive, nodes come back, and when nothing does, the next burst."""
        found: list[tuple[Move, NetworkState]] = []
        for sent in self._in_order(state):
            if sent.destination in state.down:
                if sent.travels:
                    found.append((Move("lose", sent=sent), state._replace(flying=_without(state.flying, sent))))
                continue
            then = self._receive(state, sent)
            if then is not None:
                found.append((Move("receive", sent.destination, sent), then))
        back = sorted(state.down, key=_place_order)
        found += [(Move("return", p), state._replace(down=state.down - {p})) for p in back]
        if not found and state.bursts < len(self._bursts):
            tagged = [Update(u.sign, self.program.entered(u.fact), self._base) for u in self._bursts[state.bursts]]
            sends = Counter(Sent(None, self.program.node(u.fact), u) for u in tagged)
            then = state._replace(bursts=state.bursts + 1, flying=_with(state.flying, sends.items()))
            found.append((Move("burst"), self._known(then, sends)))
        return found

    def faults(self, state: NetworkState) -> Iterator[tuple[Move, NetworkState]]:
        """What may go wrong."""
        allowed = state.allowed
        for sent in self._in_order(state):
            if not sent.travels or sent.destination in state.down:
                continue
            if allowed.lose:
                less = allowed._replace(lose=allowed.lose - 1)
                yield Move("lose", sent=sent), state._replace(flying=_without(state.flying, sent), allowed=less)
            if allowed.duplicate:
                less = allowed._replace(duplicate=allowed.duplicate - 1)
                yield (
                    Move("duplicate", sent=sent),
                    state._replace(flying=_with(state.flying, [(sent, 1)]), allowed=less),
                )
        if allowed.crash:
            for place in self.places:
                if place is not None and place not in state.down:
                    yield Move("crash", place), self._crash(state, place)

    def _in_order(self, state: NetworkState) -> list[Sent]:
        """What is on its way, in an order that is the same in every process."""
        return sorted((sent for sent, _ in state.flying), key=self._order.__getitem__)

    def _crash(self, state: NetworkState, place: Place) -> NetworkState:
        allowed = state.allowed._replace(crash=state.allowed.crash - 1)
        state = state._replace(allowed=allowed, down=state.down | {place})
        if allowed.keeps:
            return state
        at = self._index[place]
        held = self._held[state.held[at]]
        base = sorted(
            ((f, n) for (f, _), n in held if f.name not in self.program.derived),
            key=lambda counted: fact_order(counted[0]),
        )
        again = [(Sent(None, place, Update(1, f, self._base)), n) for f, n in base]
        flying = frozenset((sent, n) for sent, n in state.flying if sent.source is None or sent[:2] != (place, place))
        emptied = (*state.held[:at], self._number(frozenset()), *state.held[at + 1 :])
        then = state._replace(held=emptied, flying=_with(flying, again))
        return self._known(then, [sent for sent, _ in again])

    def _receive(self, state: NetworkState, sent: Sent) -> NetworkState | None:
        at = self._index[sent.destination]
        step = self._step(state.held[at], sent.update)
        if step is None:
            return None
        number, made = step
        held = (*state.held[:at], number, *state.held[at + 1 :])
        sends = [(Sent(sent.destination, self.program.node(u.fact), u), n) for u, n in made]
        then = state._replace(held=held, flying=_with(_without(state.flying, sent), sends))
        return self._known(then, [sent for sent, _ in sends])

    def _known(self, state: NetworkState, sends: Iterable[Sent]) -> NetworkState:
        """The state with a place for each node that a message goes to."""
        for sent in sends:
            self._order.setdefault(sent, len(self._order))
            if sent.destination not in self._index:
                self._index[sent.destination] = len(self.places)
                self.places.append(sent.destination)
        missing = len(self.places) - len(state.held)
        return state._replace(held=(*state.held, *[self._number(frozenset())] * missing)) if missing else state

    def _step(self, held: int, update: Update) -> tuple[int, tuple[tuple[Update, int], ...]] | None:
        """A node that holds this picks the update; None if it must wait."""
        key = held, update
        if key not in self._steps:
            core = Core(self.program, self.derivations, self._meter, self._rules)
            core.restore(Counter(dict(self._held[held])))
            self._steps[key] = None
            if update.sign > 0 or core.available(update):
                made = tuple(core.step([(update, 1)]))
                self._steps[key] = self._number(frozenset(core.view().items())), made
        return self._steps[key]

    def _number(self, held: frozenset[tuple[tuple[Fact, Tag], int]]) -> int:
        number = self._numbers.get(held)
        if number is None:
            number = self._numbers[held] = len(self._held)
            self._held.append(held)
            self._facts.append(frozenset(self.program.visible(f for (f, _), _ in held)))
        return number


def _with(flying: frozenset[tuple[Sent, int]], more: Iterable[tuple[Sent, int]]) -> frozenset[tuple[Sent, int]]:
    counts = Counter(dict(flying))
    for sent, n in more:
        counts[sent] += n
    return frozenset(counts.items())


def _without(flying: frozenset[tuple[Sent, int]], sent: Sent) -> frozenset[tuple[Sent, int]]:
    counts = dict(flying)
    counts[sent] -= 1
    if not counts[sent]:
        del counts[sent]
    return frozenset(counts.items())


def _place_order(place: Place) -> tuple[int, object]:
    return (-1, 0) if place is None else order_key(place)
