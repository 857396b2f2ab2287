"""Configurations ⟨𝒦,𝒰,𝒫,ℰ⟩ and the commands pick, fire, commit (paper 000, Figs. 2 and 3).

𝒦 holds the facts with and without ν; 𝒰 the updates still to be picked; 𝒫 those picked and not yet fired; ℰ those fired
and not yet committed. With annotations (section 5) the same commands are those of Fig. 3, in which the definitions of
fire and commit_I are printed under each other's names. A command whose proviso does not hold raises `NotAllowed`.

At every moment, for each derived fact: copies in 𝒦 plus insertions minus deletions in 𝒰 equal the number of its
derivations from 𝒦. Hence no deletion waits for ever, and what every run ends with is the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from tidelog.net.delta import DeltaRules, Made, Presence, fire_rules
from tidelog.net.derivations import Derivations
from tidelog.net.meter import Meter
from tidelog.net.program import NetProgram
from tidelog.net.store import NEW, OLD, Store, Tag
from tidelog.net.values import Fact, Update

View: TypeAlias = "Counter[tuple[Fact, Tag]]"


class NotAllowed(Exception):
    """The proviso of a command does not hold."""


class Configuration:
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
        self.U: Counter[Update] = Counter()
        self.P: Counter[Update] = Counter()
        self.E: Counter[Update] = Counter()
        self.presence = Presence(program)

    def insert(self, updates: Iterable[Update]) -> list[Update]:
        """A burst: updates of base facts join 𝒰. The updates as 𝒰 holds them (annotated, if this is section 5)."""
        burst = [u._replace(tag=self.derivations.base) if self.derivations else u for u in updates]
        self.U.update(burst)
        return burst

    def may_pick(self, update: Update) -> bool:
        """Fig. 2: an insertion always; a deletion if its fact is in 𝒦 with ν."""
        return update.sign > 0 or self.available(update) > 0

    def available(self, update: Update) -> int:
        """How many copies of the update's fact (with its annotation, as picked) 𝒦 holds with ν."""
        picked = self._picked(update)
        return self.K.count(NEW, picked.fact, picked.tag)

    def pick(self, update: Update) -> Update:
        """pick_I and pick_D. The update as 𝒫 holds it: with annotations, H may have gained the fact (pick^1)."""
        if not self.U[update] or not self.may_pick(update):
            raise NotAllowed(f"pick {update}")
        _take(self.U, update)
        picked = self._picked(update)
        self.K.change(NEW, picked.fact, picked.tag, picked.sign)
        self.P[picked] += 1
        return picked

    def fire(self, update: Update) -> Made:
        """fire: the updates made join 𝒰, u moves from 𝒫 to ℰ."""
        if not self.P[update]:
            raise NotAllowed(f"fire {update}")
        made = fire_rules(update, self.rules, self.K, self.presence, self.derivations, self.meter)
        self.arrive(made)
        _take(self.P, update)
        self.E[update] += 1
        return made

    def arrive(self, made: Made) -> None:
        """What a fire made joins 𝒰. A node of a network overrides this: there it has to travel first."""
        for new, count in made:
            self.U[new] += count

    def may_commit(self, update: Update) -> bool:
        """An insertion always; a deletion if its fact is in 𝒦 without ν.

        Fig. 2 has no such proviso. It is needed when a deletion finds the copy of an insertion that is still to be
        committed itself: 𝒦 ∖ {p} would change nothing, and the insertion would then leave p behind. So the deletion
        waits. Its insertion is in 𝒫 or ℰ, so it does not wait for ever.
        """
        return update.sign > 0 or self.K.count(OLD, update.fact, update.tag) > 0

    def commit(self, update: Update) -> None:
        """commit_I and commit_D: the change reaches the facts without ν."""
        if not self.E[update] or not self.may_commit(update):
            raise NotAllowed(f"commit {update}")
        _take(self.E, update)
        self.K.change(OLD, update.fact, update.tag, update.sign)

    def complete_iteration(self, updates: Iterable[Update]) -> Made:
        """Definition 4: all picks, then all fires, then all commits. What the fires made."""
        picked = [self.pick(u) for u in updates]
        made = [new for u in picked for new in self.fire(u)]
        for u in picked:
            self.commit(u)
        return made

    def iteration(self, update: Update) -> Made:
        """Definition 5, a PSN-iteration: a complete-iteration of one update."""
        picked = self.pick(update)
        made = self.fire(picked)
        self.commit(picked)
        return made

    def cancel(self, update: Update) -> bool:
        """Takes the update and its complement out of 𝒰, if both are there (section 4, discussion; Lemma 17)."""
        if self.U[update] and self.U[update.complement]:
            _take(self.U, update)
            _take(self.U, update.complement)
            return True
        return False

    def pickable(self) -> Iterator[Update]:
        """The different updates that may be picked now."""
        return (u for u in list(self.U) if self.may_pick(u))

    @property
    def finished(self) -> bool:
        return not self.U and not self.P and not self.E

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

    def copy(self) -> Configuration:
        """An independent configuration; derivation sets and meter are shared."""
        other = Configuration(self.program, self.derivations, self.meter, self.rules)
        other.K, other.presence = self.K.copy(), self.presence.copy()
        other.U, other.P, other.E = Counter(self.U), Counter(self.P), Counter(self.E)
        return other

    def _picked(self, update: Update) -> Update:
        return self.derivations.picked(update) if self.derivations else update


def _take(multiset: Counter[Update], update: Update) -> None:
    if multiset[update] == 1:
        del multiset[update]
    else:
        multiset[update] -= 1
