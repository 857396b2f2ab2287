"""A node on a clock: its tables, what replaces what, and what fires when something comes.

All that follows at the node itself follows in the same instant: first the views are brought up to date, then alarms and
triggers fire, one after the other, until nothing is left to do. What goes to other nodes is handed back. A fact that
came again while it is in its table lives on; that is no news, and nothing else fires.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from tidelog.net.aggregates import result
from tidelog.net.core import Weighted
from tidelog.net.delta import DeltaRules, Made
from tidelog.net.derivations import Derivations
from tidelog.net.join import Join
from tidelog.net.meter import Meter
from tidelog.net.program import NetProgram, Place
from tidelog.net.runtime.node import Node
from tidelog.net.store import OLD
from tidelog.net.timed.program import Action, TimedProgram
from tidelog.net.values import Fact, Update, Value
from tidelog.plain import dataclass, field


class Actions:
    """The triggers and alarms of a program by the relation that sets them off; compiled once for all nodes."""

    def __init__(self, program: TimedProgram) -> None:
        self._joins: dict[str, list[tuple[Action, Join]]] = {}
        for action in program.actions:
            for pivot in action.pivots:
                name = action.rule.body[pivot].name
                self._joins.setdefault(name, []).append((action, Join(action.rule, pivot)))

    def of(self, name: str) -> list[tuple[Action, Join]]:
        return self._joins.get(name, [])


@dataclass
class Instant:
    """What a node did at one instant: the changes of its tables, what it sends, and which facts end when."""

    picked: list[Weighted] = field(default_factory=list)
    sent: Made = field(default_factory=list)
    ends: dict[Fact, float] = field(default_factory=dict)


class TimedNode:
    def __init__(
        self,
        place: Place,
        program: TimedProgram,
        views: NetProgram,
        rules: DeltaRules,
        actions: Actions,
        derivations: Derivations | None,
        meter: Meter,
    ) -> None:
        self.place, self.program, self.views = place, program, views
        self.node = Node(place, views, rules, derivations, meter)
        self.ends: dict[Fact, float] = {}
        self._actions, self._meter = actions, meter
        self._base = derivations.base if derivations else None
        self._holders: dict[tuple[str, tuple[Value, ...]], Fact] = {}
        self._ages: dict[str, dict[Fact, None]] = {}

    def receive(self, update: Update, n: int, now: float) -> Instant:
        """An update comes: of a view, of a table, or an event."""
        instant = Instant()
        news: deque[Weighted] = deque([(update, n)])
        appeared: deque[Fact] = deque()
        while news or appeared:
            if news:
                self._take(*news.popleft(), now, instant, news, appeared)
                continue
            fact = appeared.popleft()
            for head in self._fire(fact):
                self._pass_on([(Update(1, head), 1)], instant, news)
        return instant

    def expire(self, fact: Fact, now: float) -> Instant | None:
        """The fact's lifetime may have ended; None if it came again in the meantime or is gone."""
        return self.receive(Update(-1, fact), 1, now) if self.ends.get(fact, now + 1) <= now else None

    def facts(self) -> frozenset[Fact]:
        return self.node.facts()

    def _take(
        self, update: Update, n: int, now: float, instant: Instant, news: deque[Weighted], appeared: deque[Fact]
    ) -> None:
        fact = update.fact
        if fact.name in self.program.events:
            appeared.append(fact)
            return
        changes = [(update, n)] if fact.name in self.views.derived else self._put(update, now, instant)
        held = self.node.core.K.views[OLD]
        new = [u.fact for u, _ in changes if u.sign > 0 and u.fact not in held]
        if changes:
            reaction = self.node.receive(changes)
            instant.picked += reaction.picked
            self._pass_on(reaction.made, instant, news)
        appeared.extend(f for f in new if self._actions.of(f.name) and f in held)

    def _pass_on(self, made: Made, instant: Instant, news: deque[Weighted]) -> None:
        """What stays here comes before what was waiting to come: views are up to date before anything fires."""
        for update, n in made:
            if self.views.node(update.fact) == self.place:
                news.append((update, n))
            else:
                instant.sent.append((update, n))

    def _put(self, update: Update, now: float, instant: Instant) -> list[Weighted]:
        """The changes of a table into which a fact is put, or from which it is taken."""
        fact, changes = update.fact, list[Weighted]()
        key = (fact.name, self.program.key(fact))
        holder = self._holders.get(key)
        if update.sign < 0:
            return [self._remove(fact)] if holder == fact else []
        lifetime = self.program.lifetimes.get(fact.name)
        if lifetime is not None:
            instant.ends[fact] = self.ends[fact] = now + lifetime
        ages = self._ages.setdefault(fact.name, {})
        ages.pop(fact, None)
        if holder != fact:
            if holder is not None:
                changes.append(self._remove(holder))
            self._holders[key] = fact
            changes.append((Update(1, self.views.entered(fact), self._base), 1))
        ages[fact] = None
        size = self.program.sizes.get(fact.name)
        if size is not None and len(ages) > size:
            changes.append(self._remove(next(iter(ages))))
        return changes

    def _remove(self, fact: Fact) -> Weighted:
        del self._holders[fact.name, self.program.key(fact)]
        self._ages[fact.name].pop(fact, None)
        self.ends.pop(fact, None)
        return Update(-1, self.views.entered(fact), self._base), 1

    def _fire(self, fact: Fact) -> Iterator[Fact]:
        """The heads of the actions that the fact sets off, each once."""
        store = self.node.core.K
        for action, join in self._actions.of(fact.name):
            heads = dict.fromkeys(Fact(action.rule.head, args) for args, _ in join.matches(store, fact))
            self._meter.add(action.rule, len(heads))
            if action.aggregation is None:
                yield from heads
                continue
            groups: dict[tuple[Value, ...], list[Fact]] = {}
            for contribution in heads:
                groups.setdefault(action.aggregation.group(contribution), []).append(contribution)
            for members in groups.values():
                head = result(action.aggregation, members)
                if head is not None:
                    yield head
