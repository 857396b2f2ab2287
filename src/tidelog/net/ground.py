"""Ground instances of the rules, found once for each fact that becomes known.

The checker and the exhibits fire the same few rules from very many states. So rule instances are found once, over
everything ever known, and a state is then only a vector of counts. Negated atoms are noted, not tested: whether they
hold is a matter of the state. Instances are kept by the facts that take part in them, with their position.
"""

from __future__ import annotations

from typing import NamedTuple

from tidelog.net.join import GroundJoin
from tidelog.net.program import Aggregation, NetProgram, NetRule
from tidelog.net.store import OLD, Store
from tidelog.net.values import Fact, Value


class Instance(NamedTuple):
    """`head :- body`, all facts as numbers; `negated` says which body facts must be absent."""

    rule: NetRule
    head: int
    body: tuple[int, ...]
    negated: tuple[bool, ...]


class Grounding:
    def __init__(self, program: NetProgram) -> None:
        self.program = program
        self.facts: list[Fact] = []
        self.numbers: dict[Fact, int] = {}
        self.uses: list[list[tuple[Instance, int]]] = []
        self.groups: dict[tuple[str, tuple[Value, ...]], list[int]] = {}
        self._known: set[int] = set()
        self._store = Store()
        self._seen: set[tuple[int, tuple[int, ...]]] = set()
        self._joins: dict[str, list[GroundJoin]] = {}
        for rule in program.rules:
            for i, literal in enumerate(rule.body):
                if not literal.negated:
                    self._joins.setdefault(literal.name, []).append(GroundJoin(rule, i))

    def number(self, fact: Fact) -> int:
        number = self.numbers.get(fact)
        if number is None:
            number = self.numbers[fact] = len(self.facts)
            self.facts.append(fact)
            self.uses.append([])
        return number

    def know(self, fact: Fact) -> list[Instance]:
        """The fact may be in a state from now on; the instances that this brings."""
        number = self.number(fact)
        if number in self._known:
            return []
        self._known.add(number)
        self._store.change(OLD, fact, None, 1)
        aggregation = self.program.aggregations.get(fact.name)
        if aggregation is not None:
            self.groups.setdefault((fact.name, aggregation.group(fact)), []).append(number)
        found: list[Instance] = []
        for join in self._joins.get(fact.name, ()):
            rule = join.rule
            for args, matched in join.matches(self._store, fact):
                body = tuple(self.number(f) for f in matched if f is not None)
                if (rule.number, body) in self._seen:
                    continue
                self._seen.add((rule.number, body))
                head = self.number(Fact(rule.head, args))
                instance = Instance(rule, head, body, tuple(b.negated for b in rule.body))
                found.append(instance)
                for position, taking_part in enumerate(body):
                    self.uses[taking_part].append((instance, position))
        return found

    def group_of(self, number: int) -> tuple[Aggregation, list[int]] | None:
        """For a contribution: its aggregation and all known contributions of its group."""
        fact = self.facts[number]
        aggregation = self.program.aggregations.get(fact.name)
        if aggregation is None:
            return None
        return aggregation, self.groups[fact.name, aggregation.group(fact)]
