"""Evaluation from scratch: what a program derives from base facts, as a set, all in one place and in no hurry.

This is what every run has to end in, and the judge of the checker. It shares the joins with the algorithms and nothing
else: no counts, no deltas, no messages. Component by component, the independent ones first; a recursive component is
iterated from nothing. Of a recursive min or max that is not measured (`recursion`), the best value of all groups is
settled first, as Dijkstra's algorithm does: later ones are no better, or else the program is refused (TL1058).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tidelog.analysis.recursion import component_numbers
from tidelog.errors import error
from tidelog.net.aggregates import result
from tidelog.net.join import GroundJoin
from tidelog.net.meter import Meter
from tidelog.net.program import Aggregation, NetProgram, NetRule
from tidelog.net.recursion import program_edges
from tidelog.net.store import OLD, Store
from tidelog.net.values import Fact, Value, order_key


def evaluate(program: NetProgram, base: Iterable[Fact], limit: int | None = None) -> frozenset[Fact]:
    """All facts of the program for its own base facts and the given ones, without contributions of aggregates."""
    return _Evaluation(program, [*program.facts, *base], Meter(limit) if limit else Meter()).run()


class _Evaluation:
    def __init__(self, program: NetProgram, base: list[Fact], meter: Meter) -> None:
        self.program, self.meter, self.base = program, meter, base
        self.store = Store()
        self._joins: dict[NetRule, list[GroundJoin]] = {
            rule: [GroundJoin(rule, i) for i, b in enumerate(rule.body) if not b.negated] for rule in program.rules
        }

    def run(self) -> frozenset[Fact]:
        for fact in self.base:
            self._enter(fact)
        for names in self._order():
            rules = [r for r in self.program.rules if r.head in names]
            aggregations = [a for a in self.program.aggregations.values() if a.head in names]
            if not any(a.source in names for a in aggregations):
                self._close(rules)
                for aggregation in aggregations:
                    for head in self._results(aggregation).values():
                        self._enter(head)
            elif any(c.measured(self.base) for c in self.program.components if c.relations & names):
                self._iterate(names, rules, aggregations)
            else:
                self._best_first(rules, aggregations)
        return frozenset(self.program.visible(self.store.facts(OLD)))

    def _order(self) -> list[set[str]]:
        graph: dict[str, set[str]] = {name: set() for name in self.program.arity}
        for edge in program_edges(self.program):
            graph[edge.head].add(edge.body)
        found: dict[int, set[str]] = {}
        for name, number in component_numbers(graph).items():
            found.setdefault(number, set()).add(name)
        return [found[number] for number in sorted(found)]

    def _enter(self, fact: Fact) -> bool:
        if fact in self.store.views[OLD]:
            return False
        self.store.change(OLD, fact, None, 1)
        return True

    def _close(self, rules: list[NetRule]) -> None:
        """Everything that the rules derive, from each new fact on."""
        pending = [f for rule in rules for f in self._all(rule)]
        while pending:
            fact = pending.pop()
            if self._enter(fact):
                for rule in rules:
                    for join in self._joins[rule]:
                        if rule.body[join.pivot].name == fact.name:
                            pending += self._heads(join, fact)

    def _all(self, rule: NetRule) -> Iterator[Fact]:
        """What a rule derives from the facts as they are."""
        first = self._joins[rule][0]
        for fact in self.store.find(rule.body[first.pivot].name, (), None, OLD):
            yield from self._heads(first, fact)

    def _heads(self, join: GroundJoin, fact: Fact) -> list[Fact]:
        rule, found = join.rule, list[Fact]()
        for args, matched in join.matches(self.store, fact):
            if not any(b.negated and m in self.store.views[OLD] for b, m in zip(rule.body, matched, strict=True)):
                found.append(Fact(rule.head, args))
                self.meter.add(rule)
        return found

    def _groups(self, aggregation: Aggregation) -> dict[tuple[Value, ...], list[Fact]]:
        groups: dict[tuple[Value, ...], list[Fact]] = {}
        for fact in self.store.find(aggregation.source, (), None, OLD):
            groups.setdefault(aggregation.group(fact), []).append(fact)
        return groups

    def _results(self, aggregation: Aggregation) -> dict[tuple[Value, ...], Fact]:
        found = {key: result(aggregation, members) for key, members in self._groups(aggregation).items()}
        return {key: head for key, head in found.items() if head is not None}

    def _iterate(self, names: set[str], rules: list[NetRule], aggregations: list[Aggregation]) -> None:
        """Round by round from nothing, each round anew from the one before, until nothing changes."""
        given = {f for f in self.base if f.name in names}
        state = set(given)
        while True:
            new = given.union(f for rule in rules for f in self._all(rule))
            new |= {head for a in aggregations for head in self._results(a).values()}
            if new == state:
                return
            for fact in state - new:
                self.store.change(OLD, fact, None, -1)
            for fact in new - state:
                self._enter(fact)
            state = new

    def _best_first(self, rules: list[NetRule], aggregations: list[Aggregation]) -> None:
        settled: dict[tuple[str, tuple[Value, ...]], Fact] = {}
        while True:
            self._close(rules)
            open_: list[tuple[tuple[int, object], tuple[str, tuple[Value, ...]], Fact]] = []
            for aggregation in aggregations:
                column = next(i for i, op in enumerate(aggregation.operators) if op)
                for key, head in self._results(aggregation).items():
                    known = settled.get((aggregation.head, key))
                    if known is None:
                        open_.append((order_key(head.args[column]), (aggregation.head, key), head))
                    elif known != head:
                        raise error(
                            "TL1058", f"rule `{aggregation.label}` is a recursive min or max, and {head} was derived "
                            f"from {known} or what came before it", aggregation.span,
                            help="a min or max may use its own results only to derive what is no better",
                        )  # fmt: skip
            if not open_:
                return
            values = [value for value, _, _ in open_]
            best = max(values) if "max" in aggregations[0].operators else min(values)
            for value, group, head in open_:
                if value == best:
                    settled[group] = head
                    self._enter(head)
