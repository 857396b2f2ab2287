"""Exhibit: PSN with base facts as annotations (Liu et al.; paper 000, section 6).

A state is a set of facts, each annotated with the base facts of one of its derivations. An insertion of what is there,
and a deletion of what is not, are taken for the end of a cycle and discarded. That is right if channels are first in,
first out; otherwise a deletion that overtakes its insertion is lost, and what it should have deleted stays.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator
from itertools import product
from typing import NamedTuple, TypeAlias

from tidelog.net.exhibits.exhibit import Exhibit
from tidelog.net.values import Fact, Update


class Based(NamedTuple):
    """(p, {base facts})."""

    fact: Fact
    base: frozenset[Fact]


State: TypeAlias = "tuple[frozenset[Based], frozenset[tuple[tuple[int, Based], int]]]"


class BaseFacts(Exhibit):
    def initial(self) -> State:
        """The state is computed by the algorithm itself, in an order in which it makes no mistake."""
        base = [Update(1, f) for f in self.start if f.name not in self.program.derived]
        view: frozenset[Based] = frozenset()
        pending = [(1, self._base(u)) for u in base]
        while pending:
            sign, based = pending.pop(0)
            view, made = self._process(view, sign, based)
            pending += made
        return view, frozenset(Counter((u.sign, self._base(u)) for u in self.burst).items())

    def moves(self, state: State, reduce: bool = False) -> Iterator[tuple[tuple[Update, ...], State]]:
        for (sign, based), _ in state[1]:
            pending = Counter(dict(state[1]))
            pending[sign, based] -= 1
            view, made = self._process(state[0], sign, based)
            pending.update(made)
            yield (Update(sign, based.fact),), (view, frozenset((+pending).items()))

    def outcome(self, state: State) -> Hashable:
        return frozenset(b.fact for b in state[0])

    def show(self, state: State) -> str:
        return self.show_facts({b.fact for b in state[0]})

    def _base(self, update: Update) -> Based:
        return Based(update.fact, frozenset({update.fact}))

    def _process(
        self, view: frozenset[Based], sign: int, based: Based
    ) -> tuple[frozenset[Based], list[tuple[int, Based]]]:
        """The state and the updates made; an insertion of what is there or a deletion of what is not does nothing."""
        if (based in view) == (sign > 0):
            return view, []
        after = view | {based} if sign > 0 else view - {based}
        by_fact: list[dict[Fact, list[Based]]] = [{}, {}]
        for which, state in enumerate((view, after)):
            for b in state:
                by_fact[which].setdefault(b.fact, []).append(b)
        made: list[tuple[int, Based]] = []
        facts = self.grounding.facts
        for instance, i in list(self.grounding.uses[self.grounding.number(based.fact)]):
            choices = [
                [based] if j == i else by_fact[1 if j < i else 0].get(facts[n], []) for j, n in enumerate(instance.body)
            ]
            for chosen in product(*choices):
                self.grounding.know(facts[instance.head])
                self.meter.add(instance.rule, 1)
                made.append((sign, Based(facts[instance.head], frozenset().union(*(c.base for c in chosen)))))
        return after, made
