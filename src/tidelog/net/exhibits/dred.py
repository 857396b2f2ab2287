"""Exhibit: delete and re-derive (Gupta et al.; paper 000, section 6), with the messages it sends.

DRed keeps a set of facts. A deletion first deletes everything that some derivation with it supports, then re-derives
what has another derivation. The state it ends with is right; what it costs in a network is the point: facts are taken
back and sent again that PSN, which counts derivations, would only have counted down. A message is a head derived (for
deletion, re-derivation or insertion) at a node other than its own. Each phase begins when the one before has ended
everywhere, so the rounds are the longest chain of messages of each phase, added up; what nodes would have to say to
each other to know that a phase has ended is not counted.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator

from tidelog.errors import error
from tidelog.net.join import GroundJoin
from tidelog.net.program import NetProgram
from tidelog.net.runtime.packed import size
from tidelog.net.store import OLD, Store
from tidelog.net.values import Fact, Update
from tidelog.plain import dataclass, field

Body = tuple[Fact | None, ...]


@dataclass
class Phase:
    """Deletion, re-derivation or insertion: the messages sent, their bytes, and the longest chain of them."""

    sign: int
    messages: int = 0
    bytes: int = 0
    rounds: int = 0

    def send(self, head: Fact, hops: int) -> None:
        self.messages += 1
        self.bytes += size(Update(self.sign, head))
        self.rounds = max(self.rounds, hops)


@dataclass
class Cost:
    """What a burst took, and the facts that were deleted only to be derived again."""

    deletion: Phase = field(default_factory=lambda: Phase(-1))
    rederivation: Phase = field(default_factory=lambda: Phase(1))
    insertion: Phase = field(default_factory=lambda: Phase(1))
    rederived: list[Fact] = field(default_factory=list)

    @property
    def phases(self) -> tuple[Phase, ...]:
        return self.deletion, self.rederivation, self.insertion

    @property
    def messages(self) -> int:
        return sum(phase.messages for phase in self.phases)

    @property
    def bytes(self) -> int:
        return sum(phase.bytes for phase in self.phases)

    @property
    def rounds(self) -> int:
        return sum(phase.rounds for phase in self.phases)


class Dred:
    """The state of a program without negation and aggregates, as a set."""

    def __init__(self, program: NetProgram, facts: Iterable[Fact] = ()) -> None:
        if program.negated or program.aggregations:
            raise error("TL1046", "the exhibits are for programs without negation and aggregates")
        self.program = program
        self.base: set[Fact] = set()
        self._store = Store()
        self._joins: dict[str, list[GroundJoin]] = {}
        for rule in program.rules:
            for i, literal in enumerate(rule.body):
                self._joins.setdefault(literal.name, []).append(GroundJoin(rule, i))
        self.update(Update(1, f) for f in (*program.facts, *facts))

    @property
    def facts(self) -> frozenset[Fact]:
        return frozenset(self._store.facts(OLD))

    def update(self, updates: Iterable[Update]) -> Cost:
        """Applies a burst: deletions, re-derivations, then insertions."""
        cost = Cost()
        inserted: list[Fact] = []
        deleted: list[Fact] = []
        for u in updates:
            if u.sign > 0 and u.fact not in self.base:
                self.base.add(u.fact)
                inserted.append(u.fact)
            elif u.sign < 0 and u.fact in self.base:
                self.base.remove(u.fact)
                deleted.append(u.fact)
        gone = self._delete([f for f in deleted if f not in self.base], cost.deletion)
        self._rederive(gone, cost.rederivation)
        cost.rederived = [f for f in gone if f in self._store.views[OLD]]
        self._insert([(f, 0) for f in inserted if f in self.base], cost.insertion)
        return cost

    def _delete(self, facts: list[Fact], phase: Phase) -> set[Fact]:
        """Over-deletion: everything that the old state derives with a deleted fact."""
        gone, pending = set(facts), deque((fact, 0) for fact in facts)
        while pending:
            fact, hops = pending.popleft()
            for head, body in self._derive(fact):
                after = self._sent(phase, head, body, hops)
                if head not in gone and head in self._store.views[OLD]:
                    gone.add(head)
                    pending.append((head, after))
        for fact in gone:
            if fact in self._store.views[OLD]:
                self._store.change(OLD, fact, None, -1)
        return gone

    def _rederive(self, gone: set[Fact], phase: Phase) -> None:
        """What is left derives some of the deleted facts again, and those derive more."""
        found = [(f, 0) for f in gone if f in self.base]
        for name in dict.fromkeys(f.name for f in gone):
            for rule in (r for r in self.program.rules if r.head == name):
                join = self._joins[rule.body[0].name]
                first = next(j for j in join if j.rule is rule and j.pivot == 0)
                for fact in self._store.find(rule.body[0].name, (), None, OLD):
                    for args, body in first.matches(self._store, fact):
                        head = Fact(rule.head, args)
                        if head in gone:
                            found.append((head, self._sent(phase, head, body, 0)))
        self._insert(found, phase)

    def _insert(self, facts: list[tuple[Fact, int]], phase: Phase) -> None:
        """Semi-naïve insertion of facts, each with the length of the chain of messages behind it."""
        pending = deque(facts)
        while pending:
            fact, hops = pending.popleft()
            if fact in self._store.views[OLD]:
                continue
            self._store.change(OLD, fact, None, 1)
            for head, body in self._derive(fact):
                pending.append((head, self._sent(phase, head, body, hops)))

    def _derive(self, fact: Fact) -> Iterator[tuple[Fact, Body]]:
        seen = set()
        for join in self._joins.get(fact.name, ()):
            for args, body in join.matches(self._store, fact):
                if (join.rule.number, body) not in seen:
                    seen.add((join.rule.number, body))
                    yield Fact(join.rule.head, args), body

    def _sent(self, phase: Phase, head: Fact, body: Body, hops: int) -> int:
        """Counts a message if the head is not where its body is; the length of the chain to the head."""
        if body[0] is None or self.program.node(head) == self.program.node(body[0]):
            return hops
        phase.send(head, hops + 1)
        return hops + 1
