"""Exhibit: delete and re-derive (Gupta et al.; paper 000, section 6), with the messages it sends.

DRed keeps a set of facts. A deletion first deletes everything that some derivation with it supports, then re-derives
what has another derivation. The state it ends with is right; what it costs in a network is the point: facts are taken
back and sent again that PSN, which counts derivations, would only have counted down. A message is a head derived (for
deletion, re-derivation or insertion) at a node other than its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from tidelog.errors import error
from tidelog.net.join import GroundJoin
from tidelog.net.program import NetProgram
from tidelog.net.store import OLD, Store
from tidelog.net.values import Fact, Update


@dataclass
class Cost:
    """Messages by phase, and the facts that were deleted only to be derived again."""

    deletions: int = 0
    rederivations: int = 0
    insertions: int = 0
    rederived: list[Fact] = field(default_factory=list)

    @property
    def messages(self) -> int:
        return self.deletions + self.rederivations + self.insertions


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
        gone = self._delete([f for f in deleted if f not in self.base], cost)
        self._rederive(gone, cost)
        cost.insertions += self._insert([f for f in inserted if f in self.base])
        return cost

    def _delete(self, facts: list[Fact], cost: Cost) -> set[Fact]:
        """Over-deletion: everything that the old state derives with a deleted fact."""
        gone, pending = set(facts), list(facts)
        while pending:
            fact = pending.pop(0)
            for head, body in self._derive(fact):
                cost.deletions += self._crosses(head, body)
                if head not in gone and head in self._store.views[OLD]:
                    gone.add(head)
                    pending.append(head)
        for fact in gone:
            if fact in self._store.views[OLD]:
                self._store.change(OLD, fact, None, -1)
        return gone

    def _rederive(self, gone: set[Fact], cost: Cost) -> None:
        """What is left derives some of the deleted facts again, and those derive more."""
        found: list[Fact] = [f for f in gone if f in self.base]
        for name in dict.fromkeys(f.name for f in gone):
            for rule in (r for r in self.program.rules if r.head == name):
                join = self._joins[rule.body[0].name]
                first = next(j for j in join if j.rule is rule and j.pivot == 0)
                for fact in list(self._store.find(rule.body[0].name, (), None, OLD)):
                    for args, body in first.matches(self._store, fact):
                        head = Fact(rule.head, args)
                        if head in gone:
                            cost.rederivations += self._crosses(head, body)
                            found.append(head)
        cost.rederivations += self._insert(list(dict.fromkeys(found)))
        cost.rederived = [f for f in gone if f in self._store.views[OLD]]

    def _insert(self, facts: list[Fact]) -> int:
        """Semi-naïve insertion; the number of messages."""
        messages = 0
        pending = [f for f in facts if f not in self._store.views[OLD]]
        while pending:
            fact = pending.pop(0)
            if fact in self._store.views[OLD]:
                continue
            self._store.change(OLD, fact, None, 1)
            for head, body in self._derive(fact):
                messages += self._crosses(head, body)
                pending.append(head)
        return messages

    def _derive(self, fact: Fact) -> Iterator[tuple[Fact, tuple[Fact | None, ...]]]:
        seen = set()
        for join in self._joins.get(fact.name, ()):
            for args, body in join.matches(self._store, fact):
                if (join.rule.number, body) not in seen:
                    seen.add((join.rule.number, body))
                    yield Fact(join.rule.head, args), body

    def _crosses(self, head: Fact, body: tuple[Fact | None, ...]) -> bool:
        return body[0] is not None and self.program.node(head) != self.program.node(body[0])
