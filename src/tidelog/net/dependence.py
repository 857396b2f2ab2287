"""Which updates disturb each other: the basis of the checker's partial-order reduction.

By Lemma 14 two updates of the same kind commute exactly. By Lemma 15 two of different kinds commute up to pairs of
complementary updates, and exactly if no rule instance has both facts in its body. So an update u is *alone* in a state
if no other pending update, and nothing that can follow from one, conflicts with it: then every run from there can be
reordered to begin with u, and u is all that must be tried (a persistent set; it preserves all final states).

Conflicts are computed over every fact that can ever appear: the closure of the facts and updates at hand, with negated
atoms taken as true and groups taking any of their values. Counts, sums and means have too many values to list; they are
left out, which is right if no rule reads them. A program where one does, or whose closure is large, is explored in
full.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

from tidelog.net.ground import Grounding
from tidelog.net.program import CHOICE, Aggregation, NetProgram
from tidelog.net.values import Fact, Value

MOST_FACTS = 5_000


class Dependence:
    """`future[2f + s]` and `conflicts[2f + s]` are masks of updates; s is 0 for inserting fact f, 1 for deleting it."""

    def __init__(self, grounding: Grounding, sets: frozenset[str] = frozenset()) -> None:
        self.grounding = grounding
        count = 2 * len(grounding.facts)
        self.conflicts = [0] * count
        makes = [0] * count
        for number, uses in enumerate(grounding.uses):
            for instance, i in uses:
                for s in (0, 1):
                    effect = s ^ instance.negated[i]
                    makes[2 * number + s] |= 1 << (2 * instance.head + effect)
                    for j, other in enumerate(instance.body):
                        if j != i:
                            self.conflicts[2 * number + s] |= 1 << (2 * other + (1 - effect ^ instance.negated[j]))
                    if instance.negated[i] or grounding.facts[number].name in sets:
                        self.conflicts[2 * number + s] |= 1 << (2 * number + 1 - s)
            self._group(number, makes)
        self.future = _closure(makes)

    def _group(self, number: int, makes: list[int]) -> None:
        found = self.grounding.group_of(number)
        if found is None:
            return
        aggregation, members = found
        heads: list[int] = []
        if _listable(aggregation):
            facts = [self.grounding.facts[m] for m in members]
            heads = [self.grounding.numbers[f] for f in _results(aggregation, facts)]
        for s in (0, 1):
            for member in members:
                self.conflicts[2 * number + s] |= 3 << 2 * member
            for head in heads:
                makes[2 * number + s] |= 3 << 2 * head

    def key(self, fact: Fact, sign: int) -> int | None:
        """The number of an update; None if no rule reads the fact."""
        number = self.grounding.numbers.get(fact)
        return None if number is None else 2 * number + (sign < 0)

    def alone(self, update: int | None, others: Iterable[int | None]) -> bool:
        """Whether nothing that the other pending updates are or lead to conflicts with the update."""
        conflicts = 0 if update is None else self.conflicts[update]
        return not conflicts or all(w is None or not conflicts & (self.future[w] | 1 << w) for w in others)


def dependence(program: NetProgram, facts: Iterable[Fact], sets: frozenset[str] = frozenset()) -> Dependence | None:
    """The dependence over all facts that can follow from the given ones; None if they are too many to tell.

    `sets` are relations of which rules see only whether a fact is there: its insertion and deletion do not commute.
    """
    read = {literal.name for rule in program.rules for literal in rule.body}
    if any(a.head in read and not _listable(a) for a in program.aggregations.values()):
        return None
    grounding = Grounding(program)
    pending = list(facts)
    while pending:
        fact = pending.pop()
        pending.extend(grounding.facts[i.head] for i in grounding.know(fact))
        aggregation = program.aggregations.get(fact.name)
        if aggregation is not None and _listable(aggregation):
            members = grounding.groups[fact.name, aggregation.group(fact)]
            found = _results(aggregation, [grounding.facts[m] for m in members])
            pending.extend(f for f in found if f not in grounding.numbers)
        if len(grounding.facts) > MOST_FACTS:
            return None
    return Dependence(grounding, sets)


def _listable(aggregation: Aggregation) -> bool:
    return all(op in (None, "min", "max", CHOICE) for op in aggregation.operators)


def _results(aggregation: Aggregation, members: list[Fact]) -> list[Fact]:
    """Every head fact that some of the contributions of a group can give; min and max give values of the group."""
    head, operators = aggregation.head, aggregation.operators
    if aggregation.chooses:
        return [Fact(head, m.args) for m in members]
    columns: list[list[Value]] = [
        [members[0].args[i]] if op is None else list(dict.fromkeys(m.args[i] for m in members))
        for i, op in enumerate(operators)
    ]
    return [Fact(head, args) for args in product(*columns)]


def _closure(makes: list[int]) -> list[int]:
    """For each update everything that can follow from it, directly or not."""
    future = list(makes)
    changed = True
    while changed:
        changed = False
        for i, mask in enumerate(future):
            reached, left = mask, mask
            while left:
                low = left & -left
                reached |= future[low.bit_length() - 1]
                left ^= low
            if reached != mask:
                future[i] = reached
                changed = True
    return future
