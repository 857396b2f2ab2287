"""A node: its own facts, its own inbox, the localised program. It knows nothing of how messages travel.

The node is a `core` with an inbox (𝒰 of paper 000, Fig. 2). What arrives is picked at once if it may be; a deletion
that overtook its insertion waits here, by its fact, until a copy is there. So after each `receive` nothing that may be
picked is left. Receiving costs one step per update, of whatever weight, and what its delta-rules derive.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from tidelog.net.core import Core, Weighted
from tidelog.net.delta import DeltaRules, Made
from tidelog.net.derivations import Derivations
from tidelog.net.meter import Meter
from tidelog.net.program import NetProgram, Place
from tidelog.net.values import Fact, Update


class Reaction(NamedTuple):
    """What a node did with what it received: the updates picked, those made, and how many pairs met and vanished."""

    picked: list[Weighted]
    made: Made
    cancelled: int = 0


class Node:
    def __init__(
        self,
        place: Place,
        program: NetProgram,
        rules: DeltaRules,
        derivations: Derivations | None = None,
        meter: Meter | None = None,
        cancel: bool = False,
    ) -> None:
        self.place = place
        self.cancel = cancel
        self.core = Core(program, derivations, meter, rules)
        self._waiting: Counter[Update] = Counter()

    def receive(self, updates: Iterable[Weighted]) -> Reaction:
        """Updates arrive. All that may be picked now make one complete-iteration (Definition 4)."""
        arrived = list(updates)
        if len(arrived) == 1 and not self._waiting:
            update, n = arrived[0]
            if update.sign > 0 or self.core.available(update) >= n:
                return Reaction(arrived, self.core.step(arrived))
        counts: Counter[Update] = Counter()
        for update, n in arrived:
            counts[update] += n
        cancelled = self._meet(counts) if self.cancel else 0
        chosen = self._choose(counts)
        return Reaction(chosen, self.core.step(chosen) if chosen else [], cancelled)

    @property
    def waiting(self) -> Iterator[Weighted]:
        """Deletions whose facts have not come."""
        return iter(self._waiting.items())

    def facts(self) -> frozenset[Fact]:
        return self.core.facts()

    def _choose(self, arrived: Counter[Update]) -> list[Weighted]:
        """Insertions first, then those deletions, also ones that waited, that find a copy; the others wait."""
        chosen = [(u, n) for u, n in arrived.items() if u.sign > 0 and n]
        gained = {u.complement: n for u, n in chosen}
        wanted = Counter({u: n for u, n in arrived.items() if u.sign < 0 and n})
        for deletion in gained:
            wanted[deletion] += self._waiting.pop(deletion, 0)
        for deletion, count in wanted.items():
            found = min(count, self.core.available(deletion) + gained.get(deletion, 0))
            if found:
                chosen.append((deletion, found))
            if count > found:
                self._waiting[deletion] += count - found
        return chosen

    def _meet(self, arrived: Counter[Update]) -> int:
        """Takes away pairs of an update and its complement (section 4, discussion; Lemma 17); how many there were."""
        cancelled = 0
        for update in [u for u in arrived if u.sign > 0]:
            for others in (arrived, self._waiting):
                met = min(arrived[update], others[update.complement])
                if met:
                    arrived[update] -= met
                    others[update.complement] -= met
                    cancelled += met
            if not self._waiting[update.complement]:
                del self._waiting[update.complement]
        return cancelled
