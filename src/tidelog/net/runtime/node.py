"""A node: its own facts, its own inbox, the localised program. It knows nothing of how messages travel.

The inbox is 𝒰 of the node's own configuration ⟨𝒦,𝒰,𝒫,ℰ⟩ (paper 000, Fig. 2). What arrives is picked at once if it
may be; a deletion that overtook its insertion waits here, by its fact, until a copy is there. So after each `receive`
nothing that may be picked is left, and 𝒰 holds waiting deletions only. Receiving costs one step per update and what
its delta-rules derive.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from tidelog.net.configuration import Configuration
from tidelog.net.delta import DeltaRules, Made, fire_rules
from tidelog.net.derivations import Derivations
from tidelog.net.meter import Meter
from tidelog.net.program import NetProgram
from tidelog.net.program import Node as Place
from tidelog.net.store import NEW, OLD
from tidelog.net.values import Fact, Update


class Reaction(NamedTuple):
    """What a node did with what it received: the updates picked, those made, and how many pairs met and vanished."""

    picked: list[Update]
    made: Made
    cancelled: int = 0


class _OwnFacts(Configuration):
    """The configuration of one node. What it makes is on its way, not in its 𝒰, until it is received."""

    def arrive(self, made: Made) -> None:
        pass

    def react(self, update: Update) -> Made:
        """`iteration` (Definition 5) of an update that may be picked, past the buffers: the usual case, made cheap."""
        picked = self._picked(update)
        self.K.change(NEW, picked.fact, picked.tag, picked.sign)
        made = fire_rules(picked, self.rules, self.K, self.presence, self.derivations, self.meter)
        self.K.change(OLD, picked.fact, picked.tag, picked.sign)
        return made


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
        self.configuration = _OwnFacts(program, derivations, meter, rules)
        self._waiting: dict[Update, int] = {}

    def receive(self, updates: Iterable[Update]) -> Reaction:
        """Updates arrive. All that may be picked now make one complete-iteration (Definition 4)."""
        arrived = list(updates)
        if len(arrived) == 1 and not self._waiting and self.configuration.may_pick(arrived[0]):
            return Reaction(arrived, self.configuration.react(arrived[0]))
        cancelled = 0
        if self.cancel and (len(arrived) > 1 or self._waiting):
            arrived, cancelled = self._meet(arrived)
        self.configuration.U.update(arrived)
        chosen = self._choose(arrived)
        return Reaction(chosen, self.configuration.complete_iteration(chosen) if chosen else [], cancelled)

    @property
    def waiting(self) -> Iterator[Update]:
        """Deletions whose facts have not come."""
        return (u for u, n in self._waiting.items() for _ in range(n))

    def facts(self) -> frozenset[Fact]:
        return self.configuration.facts()

    def _choose(self, arrived: list[Update]) -> list[Update]:
        """Insertions first, each followed by a deletion that waited for it; then deletions that find a copy."""
        insertions = [u for u in arrived if u.sign > 0]
        chosen = list(insertions)
        gained: Counter[Update] = Counter(u.complement for u in insertions)
        wanted: Counter[Update] = Counter(u for u in arrived if u.sign < 0)
        for deletion in gained:
            if deletion in self._waiting:
                wanted[deletion] += self._waiting.pop(deletion)
        for deletion, count in wanted.items():
            possible = min(count, self.configuration.available(deletion) + gained[deletion])
            chosen += [deletion] * possible
            if count > possible:
                self._wait(deletion, count - possible)
        return chosen

    def _wait(self, deletion: Update, count: int = 1) -> None:
        self._waiting[deletion] = self._waiting.get(deletion, 0) + count

    def _meet(self, arrived: list[Update]) -> tuple[list[Update], int]:
        """Without the pairs of an update and its complement (section 4, discussion; Lemma 17), and their number."""
        counts = Counter(arrived)
        left: list[Update] = []
        cancelled = 0
        for update, count in counts.items():
            if update.sign < 0:
                met = min(count, counts.get(update.complement, 0))
                cancelled += met
            else:
                met = min(count, counts.get(update.complement, 0))
                waited = min(count - met, self._waiting.get(update.complement, 0))
                if waited:
                    self._unwait(update.complement, waited)
                    cancelled += waited
                    met += waited
            left += [update] * (count - met)
        return left, cancelled

    def _unwait(self, deletion: Update, count: int) -> None:
        left = self._waiting[deletion] - count
        if left:
            self._waiting[deletion] = left
        else:
            del self._waiting[deletion]
        for _ in range(count):
            U = self.configuration.U
            U[deletion] -= 1
            if not U[deletion]:
                del U[deletion]
