"""Exhibit: the count algorithm on recursive programs (Gupta et al.; paper 000, sections 5 and 6).

Each fact has a count of derivations, and only its first copy and its last are propagated. Without recursion that is
right for sets of facts. With recursion a fact may end up supporting itself: after its real support is gone its count is
not zero, and it stays. (Propagating every copy instead, as Algorithm 1 does, never ends on such a program.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator
from typing import TypeAlias

from tidelog.net.exhibits.exhibit import Exhibit
from tidelog.net.values import Fact, Update

State: TypeAlias = "tuple[frozenset[tuple[Fact, int]], frozenset[tuple[Update, int]]]"


class CountingExhibit(Exhibit):
    def initial(self) -> State:
        """The counts that the algorithm itself would have: one per rule instance, one per base fact."""
        view: Counter[Fact] = Counter()
        facts = self.grounding.facts
        seen = set()
        for number, uses in enumerate(self.grounding.uses):
            if facts[number] in self.start and facts[number].name not in self.program.derived:
                view[facts[number]] = self.start[facts[number]]
            for instance, _ in uses:
                if id(instance) not in seen and all(facts[b] in self.start for b in instance.body):
                    seen.add(id(instance))
                    view[facts[instance.head]] += 1
        return frozenset(view.items()), frozenset(Counter(self.burst).items())

    def moves(self, state: State, reduce: bool = False) -> Iterator[tuple[tuple[Update, ...], State]]:
        view = Counter(dict(state[0]))
        for update, _ in state[1]:
            if update.sign < 0 and not view[update.fact]:
                continue
            after, pending = Counter(view), Counter(dict(state[1]))
            after[update.fact] += update.sign
            pending[update] -= 1
            if bool(after[update.fact]) != bool(view[update.fact]):
                pending.update(self._fire(update, view, after))
            yield (update,), (frozenset((+after).items()), frozenset((+pending).items()))

    def outcome(self, state: State) -> Hashable:
        return frozenset(f for f, _ in state[0])

    def show(self, state: State) -> str:
        return self.show_facts(f for f, _ in state[0])

    def _fire(self, update: Update, before: Counter[Fact], after: Counter[Fact]) -> Iterator[Update]:
        facts = self.grounding.facts
        for instance, i in list(self.grounding.uses[self.grounding.number(update.fact)]):
            if all((after if j < i else before)[facts[n]] for j, n in enumerate(instance.body) if j != i):
                self.grounding.know(facts[instance.head])
                self.meter.add(instance.rule, 1)
                yield Update(update.sign, facts[instance.head])
