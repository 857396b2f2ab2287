"""Configurations ⟨𝒦,𝒰,𝒫,ℰ⟩ and the commands pick, fire, commit (paper 000, Figs. 2 and 3).

𝒦 holds the facts with and without ν; 𝒰 the updates still to be picked; 𝒫 those picked and not yet fired; ℰ those fired
and not yet committed. With annotations (section 5) the same commands are those of Fig. 3, in which the definitions of
fire and commit_I are printed under each other's names. A command whose proviso does not hold raises `NotAllowed`. Each
takes one copy of an update, or as many as it is told.

At every moment, for each derived fact: copies in 𝒦 plus insertions minus deletions in 𝒰 equal the number of its
derivations from 𝒦. Hence no deletion waits for ever, and what every run ends with is the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from tidelog.net.algorithms import check_facts, check_program
from tidelog.net.core import Core, View
from tidelog.net.delta import DeltaRules, Made
from tidelog.net.derivations import Derivations
from tidelog.net.meter import Meter
from tidelog.net.program import NetProgram
from tidelog.net.store import OLD
from tidelog.net.values import Update

__all__ = ["Configuration", "NotAllowed", "View"]


class NotAllowed(Exception):
    """The proviso of a command does not hold."""


class Configuration(Core):
    def __init__(
        self,
        program: NetProgram,
        derivations: Derivations | None = None,
        meter: Meter | None = None,
        rules: DeltaRules | None = None,
    ) -> None:
        super().__init__(program, derivations, meter, rules)
        check_program(program, derivations)
        self.U: Counter[Update] = Counter()
        self.P: Counter[Update] = Counter()
        self.E: Counter[Update] = Counter()

    def insert(self, updates: Iterable[Update]) -> list[Update]:
        """A burst: updates of base facts join 𝒰. The updates as 𝒰 holds them (annotated, if this is section 5)."""
        updates = list(updates)
        check_facts(self.program, self.derivations, (u.fact for u in updates if u.sign > 0))
        tag = self.derivations.base if self.derivations else None
        burst = [Update(u.sign, self.program.entered(u.fact), tag) for u in updates]
        self.U.update(burst)
        return burst

    def may_pick(self, update: Update, n: int = 1) -> bool:
        """Fig. 2: an insertion always; a deletion if its fact is in 𝒦 with ν."""
        return update.sign > 0 or self.available(update) >= n

    def pick(self, update: Update, n: int = 1) -> Update:
        """pick_I and pick_D. The update as 𝒫 holds it."""
        if self.U[update] < n or not self.may_pick(update, n):
            raise NotAllowed(f"pick {update}")
        _take(self.U, update, n)
        picked = self.as_picked(update)
        self.enter(picked, n)
        self.P[picked] += n
        return picked

    def fire(self, update: Update, n: int = 1) -> Made:
        """fire: the updates made join 𝒰, u moves from 𝒫 to ℰ."""
        if self.P[update] < n:
            raise NotAllowed(f"fire {update}")
        made = self.react(update, n)
        for new, count in made:
            self.U[new] += count
        _take(self.P, update, n)
        self.E[update] += n
        return made

    def may_commit(self, update: Update, n: int = 1) -> bool:
        """An insertion always; a deletion if its fact is in 𝒦 without ν.

        Fig. 2 has no such proviso. It is needed when a deletion finds the copy of an insertion that is still to be
        committed itself: 𝒦 ∖ {p} would change nothing, and the insertion would then leave p behind. So the deletion
        waits. Its insertion is in 𝒫 or ℰ, so it does not wait for ever.
        """
        return update.sign > 0 or self.K.count(OLD, update.fact, update.tag) >= n

    def commit(self, update: Update, n: int = 1) -> None:
        """commit_I and commit_D: the change reaches the facts without ν."""
        if self.E[update] < n or not self.may_commit(update, n):
            raise NotAllowed(f"commit {update}")
        _take(self.E, update, n)
        self.settle(update, n)

    def complete_iteration(self, updates: Iterable[Update] | Counter[Update]) -> Made:
        """Definition 4: all picks, then all fires, then all commits. What the fires made."""
        chosen = Counter(updates).items()
        picked = [(self.pick(u, n), n) for u, n in chosen]
        made = [new for u, n in picked for new in self.fire(u, n)]
        for u, n in picked:
            self.commit(u, n)
        return made

    def iteration(self, update: Update) -> Made:
        """Definition 5, a PSN-iteration: a complete-iteration of one update."""
        return self.complete_iteration((update,))

    def cancel(self, update: Update, n: int = 1) -> int:
        """Takes up to n copies of the update and its complement out of 𝒰 (section 4, discussion; Lemma 17)."""
        met = min(n, self.U[update], self.U[update.complement])
        for u in (update, update.complement) if met else ():
            _take(self.U, u, met)
        return met

    def pickable(self) -> Iterator[Update]:
        """The different updates that may be picked now."""
        return (u for u in list(self.U) if self.may_pick(u))

    @property
    def finished(self) -> bool:
        return not self.U and not self.P and not self.E

    def copy(self) -> Configuration:
        """An independent configuration; derivation sets and meter are shared."""
        other = Configuration(self.program, self.derivations, self.meter, self.rules)
        other.K, other.presence = self.K.copy(), self.presence.copy()
        other.U, other.P, other.E = Counter(self.U), Counter(self.P), Counter(self.E)
        return other


def _take(multiset: Counter[Update], update: Update, n: int) -> None:
    if multiset[update] == n:
        del multiset[update]
    else:
        multiset[update] -= n
