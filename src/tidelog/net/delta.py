"""Delta-rules under multiset semantics (paper 000, section 2.3), and fireRules.

For each rule and each position i of its body:

    ⟨±,h⟩ :- b_1^ν, …, b_{i-1}^ν, Δb_i, b_{i+1}, …, b_n

The number of updates made is the product of the multiplicities of the b_j, so ΔH is exactly the difference of the
products before and after: nothing is derived twice, and `p :- t, t` gives one p for the first t (paper 003, section 3).

Beyond the papers: a negated atom stands for the relation of absent facts, whose delta-rule fires with the opposite sign
when the last copy disappears or the first one appears; a contribution that appears or disappears replaces the head fact
of its group; a relation whose copies differ only in what supports them (`supports`) is a set for rules outside of its
recursion, whose delta-rules fire when the first copy appears or the last one disappears. When several updates are
picked together they are fired one after the other, so "before" is what 𝒦 and ℰ say: the committed state and the updates
fired since. Then Σ of the changes is again the exact difference.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod
from typing import TypeAlias

from tidelog.net.aggregates import Groups, GroupsOf
from tidelog.net.derivations import Derivations
from tidelog.net.join import Join
from tidelog.net.meter import Meter
from tidelog.net.program import NetProgram
from tidelog.net.store import NEW, OLD, Store, Tag
from tidelog.net.values import Fact, Update

Made: TypeAlias = list[tuple[Update, int]]


class DeltaRules:
    """The delta-rules of a program by the relation of Δb; compiled once and shared by all runs."""

    def __init__(self, program: NetProgram) -> None:
        self.program = program
        self._joins: dict[str, list[Join]] = {}
        for rule in program.rules:
            for i, literal in enumerate(rule.body):
                self._joins.setdefault(literal.name, []).append(Join(rule, i))

    def of(self, name: str) -> list[Join]:
        return self._joins.get(name, [])


class Presence:
    """How many copies 𝒦 and ℰ together hold of each watched fact, and the groups of the aggregates.

    Watched are the relations whose appearing and disappearing facts matter: negated ones, contributions, and those that
    are sets for some rule.
    """

    def __init__(self, program: NetProgram, derivations: Derivations | None = None) -> None:
        tag = derivations.base if derivations else None
        self.groups: dict[str, GroupsOf] = {
            name: (derivations.groups(a) if derivations else None) or Groups(a, tag)
            for name, a in program.aggregations.items()
        }
        self.watched = (
            program.negated | frozenset(self.groups) | (derivations.sets_for_others if derivations else frozenset())
        )
        self.counts: dict[Fact, int] = {}

    def change(self, update: Update, n: int) -> tuple[int, Made]:
        """+1 if the fact appears, -1 if it disappears, 0 if neither; and the head facts that are replaced."""
        if update.fact.name not in self.watched:
            return 0, []
        before = self.counts.get(update.fact, 0)
        after = before + update.sign * n
        if after:
            self.counts[update.fact] = after
        else:
            self.counts.pop(update.fact, None)
        appears = int(after > 0) - int(before > 0)
        groups = self.groups.get(update.fact.name)
        return appears, groups.change(update, n, appears) if groups else []

    def copy(self) -> Presence:
        other = Presence.__new__(Presence)
        other.watched = self.watched
        other.counts = dict(self.counts)
        other.groups = {name: groups.copy() for name, groups in self.groups.items()}
        return other


def fire_rules(
    update: Update,
    n: int,
    rules: DeltaRules,
    store: Store,
    presence: Presence,
    derivations: Derivations | None,
    meter: Meter,
) -> Made:
    """ℱ = fireRules(u, 𝒦, ℛ) for n copies of u: the updates that its delta-rules make, each with how often."""
    made: Made = []
    fact = update.fact
    appears, replaced = presence.change(update, n)
    for join in rules.of(fact.name):
        rule = join.rule
        sign, copies = update.sign, n
        if rule.body[join.pivot].negated:
            sign, copies = -appears, 1
        elif derivations and derivations.is_set_for(rule.head, fact.name):
            sign, copies = appears, 1
        if sign == 0:
            continue
        for args, matched in join.matches(store, fact):
            head = Fact(rule.head, args)
            if derivations is None:
                made.append((Update(sign, head), copies * _product(join.pivot, matched, store)))
                meter.add(rule)
            else:
                for copy, count in _copies(head, sign, join, matched, update, store, derivations):
                    made.append((copy, copies * count))
                    meter.add(rule)
    if replaced:
        made += replaced
        meter.add(presence.groups[fact.name].aggregation)
    return made


def _product(pivot: int, matched: tuple[Fact | None, ...], store: Store) -> int:
    """The product of the multiplicities of the b_j, j ≠ i."""
    product = 1
    for j, fact in enumerate(matched):
        if j != pivot and fact is not None:
            product *= store.count(NEW if j < pivot else OLD, fact, None)
    return product


def _copies(
    head: Fact,
    sign: int,
    join: Join,
    matched: tuple[Fact | None, ...],
    update: Update,
    store: Store,
    derivations: Derivations,
) -> Iterator[tuple[Update, int]]:
    """The head once for each combination of copies of the body facts, with the annotation that they give it."""
    rule, pivot = join.rule, join.pivot
    body: list[Fact] = []
    choices: list[list[tuple[Tag, int]]] = []
    for j, fact in enumerate(matched):
        if fact is None or rule.body[j].negated or derivations.is_set_for(rule.head, fact.name):
            continue
        copies = {update.tag: 1} if j == pivot else store.copies(NEW if j < pivot else OLD, fact)
        choices.append([(tag, n) for tag, n in copies.items() if derivations.admits(head, fact, tag)])
        body.append(fact)
    if all(choices):
        used = derivations.used(rule.head, body)
        for choice in product(*choices):
            tag = derivations.annotation(rule.head, used, (tag for tag, _ in choice))
            yield Update(sign, head, tag), prod(n for _, n in choice)
