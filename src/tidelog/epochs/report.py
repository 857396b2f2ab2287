"""What an epoch did, in words and numbers."""

from __future__ import annotations

from typing import cast

from tidelog.evaluate.bindings import Words
from tidelog.evaluate.profile import Profile
from tidelog.plain import dataclass, field
from tidelog.store import PairRows


@dataclass(frozen=True)
class StratumReport:
    """What an epoch did to a stratum. Strata that were not visited are not reported."""

    relations: tuple[str, ...]
    strategy: str
    why: str
    derivations: int


@dataclass
class EpochSummary:
    """What an epoch did, but for the tuples.

    `strategy` is what was done in the end ("bootstrap", "update", "batch", …) and `why` says for what reason, in plain
    words. `budget` is what Update was allowed, in derivations, if there was a limit. `ignored_…` count, per relation,
    facts of the change set that were there already or were not there. `remarks` are what evaluation has to say about
    values, such as patterns that are no regular expressions; filled in by the session, which says each once, as
    is the `profile`, if one was asked for.
    """

    epoch: int
    strategy: str
    why: str
    seconds: float
    derivations: int
    budget: int | None = None
    ignored_inserts: dict[str, int] = field(default_factory=dict)
    ignored_deletes: dict[str, int] = field(default_factory=dict)
    strata: list[StratumReport] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    profile: Profile | None = None

    def summarise(self) -> None:
        """Say what the epoch did in the end: an update, a bootstrap, or one for some strata, the other for others."""
        anew = [stratum for stratum in self.strata if stratum.strategy == "bootstrap"]
        if anew:
            self.strategy = "bootstrap" if len(anew) == len(self.strata) else "mixed"
            self.why = "; ".join(f"{', '.join(stratum.relations)} anew: {stratum.why}" for stratum in anew)


@dataclass
class EpochReport(EpochSummary):
    """The same with the net change of each relation that changed, as rows of words."""

    inserted: dict[str, Words] = field(default_factory=dict)
    deleted: dict[str, Words] = field(default_factory=dict)

    def enter_pairs(self, name: str, sides: tuple[PairRows, PairRows]) -> None:
        """Which pairs an equivalence gained and lost."""
        for changed, pairs in zip((self.inserted, self.deleted), sides, strict=True):
            if len(pairs):
                changed[name] = cast(Words, pairs)  # to its readers, an array
