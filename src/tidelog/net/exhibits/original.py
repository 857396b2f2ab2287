"""Exhibit: the original PSN (Loo et al.; paper 003, section 3.1, and paper 000, section 6).

Each node has a queue. An update that reaches a node goes to the end of its queue *and changes the node's state at
once*; when it is dequeued its delta-rules read that state, without distinction between b and b^ν. Here updates even
arrive as soon as they are made and queues are first in, first out; the only freedom is which node works next. Faults: a
deletion may find the other body facts gone and leave the head behind (Fig. 6), and `p :- t, t` derives p twice from one
t.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator
from typing import TypeAlias

from tidelog.net.exhibits.exhibit import Exhibit
from tidelog.net.values import Fact, Update

Queues: TypeAlias = "tuple[tuple[object, tuple[Update, ...]], ...]"
State: TypeAlias = "tuple[frozenset[tuple[Fact, int]], Queues]"


class OriginalPsn(Exhibit):
    def initial(self) -> State:
        """After the first transition of Fig. 6: the burst is in the queues and in the state."""
        view, queues = Counter(self.start), dict[object, tuple[Update, ...]]()
        for update in self.burst:
            self._arrive(update, view, queues)
        return _state(view, queues)

    def moves(self, state: State, reduce: bool = False) -> Iterator[tuple[tuple[Update, ...], State]]:
        for node, queue in state[1]:
            view, queues = Counter(dict(state[0])), dict(state[1])
            queues[node] = queue[1:]
            for made in self._fire(queue[0], Counter(view)):
                self._arrive(made, view, queues)
            yield (queue[0],), _state(view, queues)

    def outcome(self, state: State) -> Hashable:
        return state[0]

    def expects(self, counts: Counter[Fact]) -> Hashable:
        return frozenset(counts.items())

    def show(self, state: State) -> str:
        return self.show_facts(f for f, n in state[0] for _ in range(n))

    def _arrive(self, update: Update, view: Counter[Fact], queues: dict[object, tuple[Update, ...]]) -> None:
        node = self.program.node(update.fact)
        queues[node] = (*queues.get(node, ()), update)
        view[update.fact] += update.sign

    def _fire(self, update: Update, view: Counter[Fact]) -> Iterator[Update]:
        facts = self.grounding.facts
        for instance, i in list(self.grounding.uses[self.grounding.number(update.fact)]):
            weight = 1
            for j, number in enumerate(instance.body):
                if j != i:
                    weight *= max(0, view[facts[number]])
            if weight:
                self.grounding.know(facts[instance.head])
                self.meter.add(instance.rule, weight)
                yield from [Update(update.sign, facts[instance.head])] * weight


def _state(view: Counter[Fact], queues: dict[object, tuple[Update, ...]]) -> State:
    waiting = tuple(sorted(((n, q) for n, q in queues.items() if q), key=repr))
    return frozenset((f, n) for f, n in view.items() if n), waiting
