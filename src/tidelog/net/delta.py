"""Delta-rules under multiset semantics (paper 000, section 2.3), and fireRules.

For each rule and each position i of its body:

    ⟨±,h⟩ :- b_1^ν, …, b_{i-1}^ν, Δb_i, b_{i+1}, …, b_n

The number of updates made is the product of the multiplicities of the b_j, so ΔH is exactly the difference of the
products before and after: nothing is derived twice, and `p :- t, t` gives one p for the first t (paper 003, section 3).

Beyond the papers: a negated atom stands for the relation of absent facts, whose delta-rule fires with the opposite sign
when the last copy disappears or the first one appears; a contribution that appears or disappears replaces the head fact
of its group. When several updates are picked together they are fired one after the other, so "before" is what 𝒦 and ℰ
say: the committed state and the updates fired since. Then Σ of the changes is again the exact difference.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import product
from math import prod
from typing import TypeAlias

from tidelog.net.aggregates import Groups
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

    @cached_property
    def watched(self) -> frozenset[str]:
        """The relations whose appearing and disappearing facts matter: negated ones and contributions."""
        return self.program.negated | frozenset(self.program.aggregations)


class Presence:
    """How many copies 𝒦 and ℰ together hold of each watched fact, and the groups of the aggregates."""

    def __init__(self, program: NetProgram) -> None:
        self.counts: dict[Fact, int] = {}
        self.groups = {name: Groups(a) for name, a in program.aggregations.items()}

    def change(self, fact: Fact, sign: int) -> int:
        """+1 if the fact appears, -1 if it disappears, 0 if neither."""
        before = self.counts.get(fact, 0)
        after = before + sign
        if after:
            self.counts[fact] = after
        else:
            self.counts.pop(fact, None)
        return int(after > 0) - int(before > 0)

    def copy(self) -> Presence:
        other = Presence.__new__(Presence)
        other.counts = dict(self.counts)
        other.groups = {name: groups.copy() for name, groups in self.groups.items()}
        return other


def fire_rules(
    update: Update, rules: DeltaRules, store: Store, presence: Presence, derivations: Derivations | None, meter: Meter
) -> Made:
    """ℱ = fireRules(u, 𝒦, ℛ): the updates that the delta-rules for u make, each with how often it is made."""
    made: Made = []
    fact = update.fact
    appears = presence.change(fact, update.sign) if fact.name in rules.watched else 0
    for join in rules.of(fact.name):
        negated = join.rule.body[join.pivot].negated
        sign = -appears if negated else update.sign
        if sign == 0:
            continue
        for args, matched in join.matches(store, fact):
            head = Fact(join.rule.head, args)
            if derivations is None:
                count = _product(join.pivot, matched, store)
                made.append((Update(sign, head), count))
                meter.add(join.rule, count)
            else:
                for copy, count in _copies(head, sign, join, matched, update, store, derivations):
                    made.append((copy, count))
                    meter.add(join.rule, count)
    if appears and fact.name in presence.groups:
        groups = presence.groups[fact.name]
        old, new = groups.change(fact, appears > 0)
        if old != new:
            tag = derivations.base if derivations else None
            made += [(Update(s, f, tag), 1) for s, f in ((-1, old), (1, new)) if f is not None]
            meter.add(groups.aggregation, 1)
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
        if fact is None or rule.body[j].negated:
            continue
        copies = {update.tag: 1} if j == pivot else store.copies(NEW if j < pivot else OLD, fact)
        choices.append([(tag, n) for tag, n in copies.items() if derivations.admits(head, fact, tag)])
        body.append(fact)
    if all(choices):
        used = derivations.sets.of(body)
        for choice in product(*choices):
            tag = derivations.annotation(used, (tag for tag, _ in choice))
            yield Update(sign, head, tag), prod(n for _, n in choice)
