"""Recursion with supports: every recursive fact is there for one well-founded derivation (docs/net/recursion.md).

Where counting is not shown to be right (`recursion`), each copy of a recursive fact carries its support S: the facts,
of a few relations through which every cycle runs, that its derivation needs. Each of these relations r is an
aggregation of its derivations r*: of the copies whose S does not hold r itself, the one of the best rank is chosen, and
its support is r's. The rank is (value, size of S): the value is what a recursive min or max is about, if there is one.
So

- a derivation has a greater rank than all that it needs: its S is greater, and its value no better;
- what is chosen depends on the absence of copies of lesser rank only.

Hence there is exactly one state that is consistent, it holds what is derivable and nothing else, and every run ends in
it. It takes one support for each derivation, not one for each path of derivations (section 5 of paper 000), and ends
also where values could grow around a cycle. Of a min or max, S holds the group, whatever its value.

That a value is never better than one that it was derived from is checked on every derivation, and refused otherwise.
For rules outside of the recursion the relations are sets: a better support is no change for them.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import TypeAlias

from tidelog.errors import TidelogError, error
from tidelog.net.aggregates import GroupsOf
from tidelog.net.derivations import Derivations
from tidelog.net.program import CONTRIBUTIONS, Aggregation, NetProgram
from tidelog.net.recursion import Edge, RecursiveComponent, program_edges, recursive_sets
from tidelog.net.sets import EMPTY, FactSets
from tidelog.net.store import Tag
from tidelog.net.values import Annotation, Fact, Update, Value, order_key, show
from tidelog.plain import dataclass, replace

Made: TypeAlias = list[tuple[Update, int]]


@dataclass(frozen=True, eq=False)
class SupportedPart:
    """Relations that depend on each other; `keys` are the key columns of those that supports speak of."""

    relations: frozenset[str]
    keys: dict[str, tuple[int, ...]]
    operator: str | None

    def is_worse(self, a: Value, b: Value) -> bool:
        return order_key(a) > order_key(b) if self.operator == "min" else order_key(a) < order_key(b)


class Supports(Derivations):
    def __init__(
        self, parts: Iterable[SupportedPart], sets_for_others: frozenset[str], sets: FactSets | None = None
    ) -> None:
        super().__init__(sets)
        self.parts = tuple(parts)
        self.sets_for_others = sets_for_others
        self._part = {name: part for part in self.parts for name in part.relations}

    def part_of(self, name: str) -> SupportedPart | None:
        return self._part.get(name)

    def picked(self, update: Update) -> Update:
        return update

    def admits(self, head: Fact, fact: Fact, tag: Tag) -> bool:
        return True

    def is_set_for(self, head: str, name: str) -> bool:
        part = self._part.get(name)
        return part is not None and head not in part.relations

    def groups(self, aggregation: Aggregation) -> GroupsOf | None:
        part = self._part.get(aggregation.head)
        return None if part is None else Chosen(aggregation, part, self)

    def used(self, head: str, body: Iterable[Fact]) -> int:
        part = self._part.get(head)
        if part is None:
            return EMPTY
        return self.sets.of(_member(f, part) for f in body if f.name in part.keys)

    def annotation(self, head: str, body: int, tags: Iterable[Tag]) -> Annotation:
        part = self._part.get(head)
        if part is None:
            return self.base
        support, worst = body, None
        for tag in tags:
            if tag is not None:
                support = self.sets.union(support, tag.support)
                if tag.worst is not None and (worst is None or part.is_worse(tag.worst, worst)):
                    worst = tag.worst
        return Annotation(support, EMPTY, worst)

    def choose(
        self, aggregation: Aggregation, part: SupportedPart, copies: Iterable[tuple[Fact, Tag]]
    ) -> Update | None:
        """The head fact that these contributions give, with its support: that of the copy of the best rank."""
        own: Fact | None = None
        best: tuple[Fact, Annotation, Value | None] | None = None
        for fact, tag in copies:
            assert tag is not None
            if own is None:
                own = _member(Fact(aggregation.head, fact.args), part)
            value = self._value(aggregation, part, fact, tag)
            if not self.sets.contains(tag.support, own) and (
                best is None or self._better(part, (tag, value), best[1:])
            ):
                best = fact, tag, value
        if best is None:
            return None
        fact, tag, value = best
        head = Fact(aggregation.head, fact.args[: len(aggregation.operators)])
        return Update(1, head, Annotation(tag.support, EMPTY, value))

    def is_better(self, part: SupportedPart, one: Update, other: Update) -> bool:
        """Whether a head fact with its support ranks before another one of its group."""
        assert one.tag is not None
        assert other.tag is not None
        return self._better(part, (one.tag, one.tag.worst), (other.tag, other.tag.worst))

    def fallbacks(self, made: Made) -> set[int]:
        """The places of those updates made that choose what is only the next best, because what was chosen is lost.

        It may rest on what is about to be lost as well, for others have not heard of it yet. A node that holds it back
        until nothing else happens does not try one derivation after the other while the news travels.
        """
        return {
            i
            for i, ((before, _), (after, _)) in enumerate(pairwise(made), 1)
            if before.sign < 0 < after.sign and self._same_group(before.fact, after.fact)
        }

    def _same_group(self, one: Fact, other: Fact) -> bool:
        part = self._part.get(one.name)
        chosen = part is not None and one.name == other.name and one.name in part.keys
        return chosen and part is not None and _member(one, part) == _member(other, part)

    def _value(self, aggregation: Aggregation, part: SupportedPart, fact: Fact, tag: Annotation) -> Value | None:
        """The value of a contribution; an error if it is better than one that it was derived from."""
        column = next((i for i, op in enumerate(aggregation.operators) if op), None)
        if column is None:
            return tag.worst
        value = fact.args[column]
        if tag.worst is not None and part.is_worse(tag.worst, value):
            raise error(
                "TL1058",
                f"rule `{aggregation.label}` is a recursive {part.operator}, and here {show(value)} was derived from "
                f"{show(tag.worst)}, which is {'more' if part.operator == 'min' else 'less'}: what that means depends "
                "on the order of events",
                aggregation.span,
                help=f"a {part.operator} may use its own results only to derive what is no better: a cost that does "
                f"not {'fall' if part.operator == 'min' else 'rise'} (no negative costs), or an identifier that is "
                "passed on",
            )
        return value

    def _better(
        self, part: SupportedPart, one: tuple[Annotation, Value | None], other: tuple[Annotation, Value | None]
    ) -> bool:
        (tag, value), (tag2, value2) = one, other
        if value is not None and value2 is not None and value != value2:
            return part.is_worse(value2, value)
        if (value is None) != (value2 is None):
            return value is None
        sizes = self.sets.size(tag.support), self.sets.size(tag2.support)
        return sizes < sizes[::-1] or (sizes[0] == sizes[1] and tag.support < tag2.support)


class Chosen:
    """The groups of an aggregation through which supports go: of each, the copies and the one that was chosen."""

    def __init__(self, aggregation: Aggregation, part: SupportedPart, supports: Supports) -> None:
        self.aggregation, self._part, self._supports = aggregation, part, supports
        self._copies: dict[tuple[Value, ...], dict[tuple[Fact, Tag], int]] = {}
        self._results: dict[tuple[Value, ...], Update] = {}

    def change(self, update: Update, n: int, appears: int) -> list[tuple[Update, int]]:
        key = self.aggregation.group(update.fact)
        copies = self._copies.setdefault(key, {})
        copy = update.fact, update.tag
        before_count = copies.get(copy, 0)
        count = before_count + update.sign * n
        if count:
            copies[copy] = count
        else:
            del copies[copy]
        if (count > 0) == (before_count > 0):
            return []
        before = self._results.get(key)
        after = self._supports.choose(self.aggregation, self._part, (c for c, k in copies.items() if k > 0))
        if not copies:
            del self._copies[key]
        if after == before:
            return []
        if after is None:
            del self._results[key]
        else:
            self._results[key] = after
        # Something better comes first, so that for others the fact stays. What is only the next best comes behind what
        # it replaces: a node may hold it back (`fallbacks`).
        lost = before.complement if before else None
        better = after and before and self._supports.is_better(self._part, after, before)
        return [(u, 1) for u in ((after, lost) if better else (lost, after)) if u is not None]

    def copy(self) -> Chosen:
        other = Chosen(self.aggregation, self._part, self._supports)
        other._copies = {key: dict(copies) for key, copies in self._copies.items()}
        other._results = dict(self._results)
        return other


def supported(program: NetProgram, needing: Iterable[RecursiveComponent]) -> tuple[NetProgram, Supports]:
    """The program whose recursive relations in `needing` are chosen by their supports, and the supports of a run."""
    wanted = [c.relations for c in needing]
    edges = list(program_edges(program))
    parts: list[SupportedPart] = []
    aggregations = dict(program.aggregations)
    renamed: set[str] = set()
    for relations in recursive_sets(edges):
        if not any(relations & names for names in wanted):
            continue
        own = [a for a in program.aggregations.values() if a.head in relations]
        keys = {a.head: tuple(i for i, op in enumerate(a.operators) if op is None) for a in own}
        operator = _operator(own)
        for name in _cut(edges, relations, set(keys), program):
            keys[name] = tuple(range(program.arity[name]))
            renamed.add(name)
            first = next(r for r in program.rules if r.head == name)
            none = (None,) * program.arity[name]
            aggregations[name + CONTRIBUTIONS] = Aggregation(name + CONTRIBUTIONS, name, none, first.label, first.span)
        hidden = frozenset(name + CONTRIBUTIONS for name in keys)
        parts.append(SupportedPart(relations | hidden, keys, operator))

    def made(name: str) -> str:
        return name + CONTRIBUTIONS if name in renamed else name

    rules = tuple(replace(r, head=made(r.head)) for r in program.rules)
    hidden_arity = {made(n): program.arity[n] for n in renamed}
    hidden_at = {made(n): program.at[n] for n in renamed}
    others = frozenset(
        b.name for r in rules for b in r.body for part in parts
        if b.name in part.relations and r.head not in part.relations
    )  # fmt: skip
    changed = replace(
        program, rules=rules, aggregations=aggregations, arity={**program.arity, **hidden_arity},
        at={**program.at, **hidden_at}, original=program.original or program,
        entries={name: made(name) for name in renamed},
    )  # fmt: skip
    return changed, Supports(parts, others)


def _operator(aggregations: list[Aggregation]) -> str | None:
    """The one order of a recursion through min or max; an error if there are several."""
    operators = [op for a in aggregations for op in a.operators if op]
    single = all(sum(op is not None for op in a.operators) == 1 for a in aggregations)
    if aggregations and (len(set(operators)) > 1 or not single):
        raise refused(aggregations[0], "it needs one order, and has several: its min and max depend on each other")
    return operators[0] if operators else None


def refused(
    aggregation: Aggregation, why: str, help: str = "let a column grow around every cycle of rules"
) -> TidelogError:
    return error(
        "TL1047",
        f"the recursion through `{aggregation.head}` is not shown to have one result: {why}",
        aggregation.span,
        help=help,
    )


def _cut(edges: list[Edge], relations: frozenset[str], cut: set[str], program: NetProgram) -> list[str]:
    """Few relations without which, and without those already in `cut`, there is no cycle."""
    found: list[str] = []
    written = (program.original or program).arity
    while True:
        left = [e for e in edges if {e.head, e.body} <= relations and not {e.head, e.body} & cut]
        cycle = next(recursive_sets(left), None)
        if cycle is None:
            return found
        degree = {name: sum(e.head == name for e in left) * sum(e.body == name for e in left) for name in cycle}
        best = max(sorted(cycle), key=lambda name: (name in written, degree[name]))
        found.append(best)
        cut.add(best)


def _member(fact: Fact, part: SupportedPart) -> Fact:
    """What S holds of a fact: its key."""
    keys = part.keys[fact.name]
    return fact if len(keys) == len(fact.args) else Fact(fact.name, tuple(fact.args[i] for i in keys))
