"""The one PSN step: what pick, fire and commit do to 𝒦 (paper 000, Figs. 2 and 3), for every host.

A core holds the facts with and without ν, the groups of the aggregates and the delta-rules. `configuration` adds the
buffers 𝒰, 𝒫 and ℰ and the provisos of the commands; `runtime.node` is a core with an inbox. An update has a weight:
n copies of the same update are picked, fired and committed together. Firing n copies makes n times what one makes, once
all n are in 𝒦 with ν, because (k+n)·l − k·l and (k+n)² − k² come out as the delta-rules have them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TypeAlias

from tidelog.net.delta import DeltaRules, Made, Presence, fire_rules
from tidelog.net.derivations import Derivations
from tidelog.net.meter import Meter
from tidelog.net.program import NetProgram
from tidelog.net.store import NEW, OLD, Store, Tag
from tidelog.net.values import Fact, Update

View: TypeAlias = "Counter[tuple[Fact, Tag]]"
Weighted: TypeAlias = tuple[Update, int]
"""So many copies of an update."""


class Core:
    def __init__(
        self,
        program: NetProgram,
        derivations: Derivations | None = None,
        meter: Meter | None = None,
        rules: DeltaRules | None = None,
    ) -> None:
        self.program = program
        self.rules = rules or DeltaRules(program)
        self.derivations = derivations
        self.meter = meter or Meter()
        self.K = Store()
        self.presence = Presence(program, derivations)

    def as_picked(self, update: Update) -> Update:
        """The update as 𝒫 holds it: with annotations, H may gain the fact (pick^1)."""
        return self.derivations.picked(update) if self.derivations else update

    def available(self, update: Update) -> int:
        """How many copies of the update's fact (with its annotation, as picked) 𝒦 holds with ν."""
        picked = self.as_picked(update)
        return self.K.count(NEW, picked.fact, picked.tag)

    def step(self, updates: Iterable[Weighted]) -> Made:
        """Definition 4, a complete-iteration, of updates that may be picked: all picks, all fires, all commits."""
        picked = [(self.as_picked(u), n) for u, n in updates]
        for update, n in picked:
            self.enter(update, n)
        made = [new for update, n in picked for new in self.react(update, n)]
        for update, n in picked if len(picked) == 1 else sorted(picked, key=lambda p: -p[0].sign):
            self.settle(update, n)
        return made

    def enter(self, update: Update, n: int = 1) -> None:
        """The effect of pick: the change reaches the facts with ν."""
        self.K.change(NEW, update.fact, update.tag, update.sign * n)

    def react(self, update: Update, n: int = 1) -> Made:
        """The effect of fire: what the delta-rules make."""
        return fire_rules(update, n, self.rules, self.K, self.presence, self.derivations, self.meter)

    def settle(self, update: Update, n: int = 1) -> None:
        """The effect of commit: the change reaches the facts without ν."""
        self.K.change(OLD, update.fact, update.tag, update.sign * n)

    def restore(self, view: View) -> None:
        """A core that holds nothing holds these copies, as if they had been picked, fired and committed."""
        for (fact, tag), count in view.items():
            self.K.change(OLD, fact, tag, count)
            self.K.change(NEW, fact, tag, count)
            self.presence.change(Update(1, fact, tag), count)

    def view(self) -> View:
        """The state without ν: each fact with its annotation and number of copies."""
        return self.K.multiset(OLD)

    def facts(self) -> frozenset[Fact]:
        """The state as a set, without contributions of aggregates."""
        return frozenset(self.program.visible(self.K.facts(OLD)))

    def counts(self) -> Counter[Fact]:
        """The state as a multiset of facts, whatever their annotations."""
        found: Counter[Fact] = Counter()
        for fact in self.program.visible(self.K.facts(OLD)):
            found[fact] = sum(self.K.copies(OLD, fact).values())
        return found
