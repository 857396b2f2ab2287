"""Exhibit: semi-naïve maintenance over sets (paper 003, Algorithm 1).

Each iteration takes all insertions I and deletions D, fires their delta-rules on p and p^ν, and keeps what they derive
as the sets of the next one. It is right where no fact has two derivations, as in path vector: a fact that loses one of
two derivations is deleted, and the deletion travels on (section 2.3 says so, and leaves the remedy for later).

The paper starts with p^ν = p. Then two insertions of one burst that meet in a body derive nothing, because each is
missing where the other looks; so p^ν holds the burst from the start, which is what the loop's last lines make of it in
every later iteration.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import TypeAlias

from tidelog.net.exhibits.exhibit import Exhibit
from tidelog.net.values import Fact, Update

State: TypeAlias = "tuple[frozenset[Fact], frozenset[Update]]"


class SetSn(Exhibit):
    def initial(self) -> State:
        return frozenset(self.start), frozenset(self.burst)

    def moves(self, state: State, reduce: bool = False) -> Iterator[tuple[tuple[Update, ...], State]]:
        """The one iteration that comes next: all updates at once."""
        before, updates = state
        if not updates:
            return
        after = self._applied(before, updates)
        made = frozenset(made for update in updates for made in self._fire(update, before, after))
        yield tuple(sorted(updates, key=str)), (after, made)

    def outcome(self, state: State) -> Hashable:
        return state[0]

    def show(self, state: State) -> str:
        return self.show_facts(state[0])

    def _applied(self, facts: frozenset[Fact], updates: frozenset[Update]) -> frozenset[Fact]:
        """(p ∪ I) ∖ D."""
        inserted = {u.fact for u in updates if u.sign > 0}
        return (facts | inserted) - {u.fact for u in updates if u.sign < 0}

    def _fire(self, update: Update, before: frozenset[Fact], after: frozenset[Fact]) -> Iterator[Update]:
        facts = self.grounding.facts
        for instance, i in list(self.grounding.uses[self.grounding.number(update.fact)]):
            if all(facts[n] in (after if j < i else before) for j, n in enumerate(instance.body) if j != i):
                self.grounding.know(facts[instance.head])
                self.meter.add(instance.rule, 1)
                yield Update(update.sign, facts[instance.head])
