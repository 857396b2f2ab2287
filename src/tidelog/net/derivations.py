"""The annotations of paper 000, section 5: derivation sets S and infinite-count sets H.

An annotated fact (p,S,H) is a copy of p that was derived with the facts in S; H ⊆ S holds those that the derivation
runs through in a cycle. S_p = {b_1,…,b_n} ∪ S_1 ∪ … ∪ S_n and H_p = H_1 ∪ … ∪ H_n. A picked update whose fact is in its
own S has closed a cycle, and the fact enters H; an update whose fact is in H is not made again, so every run ends
(Theorem 20).

With `cut`, an update whose fact is already in S is not made at all: a derivation through itself adds nothing to what is
derivable. The set of facts is the same, H stays empty, and far fewer copies exist; what is lost is which counts are
infinite. Negated atoms and aggregates contribute nothing to S: they are of a lower stratum, so no cycle runs through
them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tidelog.net.sets import EMPTY, FactSets
from tidelog.net.store import Tag
from tidelog.net.values import Annotation, Fact, Update

if TYPE_CHECKING:
    from tidelog.net.aggregates import GroupsOf
    from tidelog.net.program import Aggregation


class Derivations:
    sets_for_others: frozenset[str] = frozenset()
    """The relations that `is_set_for` speaks of."""

    def __init__(self, sets: FactSets | None = None, cut: bool = False) -> None:
        self.sets = sets or FactSets()
        self.cut = cut
        self.base = Annotation(EMPTY, EMPTY)

    def picked(self, update: Update) -> Update:
        """pick^1 and pick^2 of Fig. 3: p joins H if p ∈ S."""
        tag = update.tag
        if tag is None or not self.sets.contains(tag.support, update.fact):
            return update
        return update._replace(tag=Annotation(tag.support, self.sets.add(tag.infinite, update.fact)))

    def admits(self, head: Fact, fact: Fact, tag: Tag) -> bool:
        """Whether this copy of a body fact may take part in a derivation of `head`: p ∉ H_i (with `cut`, p ∉ S_i)."""
        if tag is None:
            return True
        if self.cut:
            return fact != head and not self.sets.contains(tag.support, head)
        return not self.sets.contains(tag.infinite, head)

    def is_set_for(self, head: str, name: str) -> bool:
        """Whether copies of `name` are one for the rules of `head`, whatever their annotations."""
        return False

    def groups(self, aggregation: Aggregation) -> GroupsOf | None:
        """The groups of an aggregation through which annotations go; None if its head facts are annotated anew."""
        return None

    def used(self, head: str, body: Iterable[Fact]) -> int:
        """What the body facts themselves bring to S."""
        return self.sets.of(body)

    def annotation(self, head: str, body: int, tags: Iterable[Tag]) -> Annotation:
        """(S_p,H_p) of a head, for what its body facts bring and the annotations of their copies.

        The few body facts come first: put together before anything else they make the fewest nodes of the trie.
        """
        sets = self.sets
        support, infinite = body, EMPTY
        for tag in tags:
            if tag is not None:
                support = sets.union(support, tag.support)
                infinite = sets.union(infinite, tag.infinite)
        return Annotation(support, infinite)

    def show(self, update: Update) -> str:
        """⟨+,(p,S,H)⟩ as Fig. 5 writes it."""
        tag = update.tag or self.base
        sign = "+" if update.sign > 0 else "-"
        return f"⟨{sign},({update.fact},{self.sets.show(tag.support)},{self.sets.show(tag.infinite)})⟩"
