"""The interface between a session and a maintenance strategy.

A session validates what its user hands in and encodes it; an *engine* keeps the relations of one program up to date,
epoch by epoch, by whatever strategy. Rows are words, int64[n, arity], of the engine's own dictionaries
(`engine.database.symbols`, `.records`).

What is always true of an engine: between two calls its relations are those of the last epoch that ended; a call that
raises, be it for a user's mistake, a limit or Ctrl-C, leaves it at that epoch. Rows that it has handed out stay as
they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tidelog.analysis.check import Checked
from tidelog.errors import InternalError
from tidelog.evaluate.bindings import Words
from tidelog.evaluate.facts import Facts
from tidelog.evaluate.limits import Limits, Observer
from tidelog.plan.paper_terms import Switches
from tidelog.store import Database, Relation

STRATEGIES = ("elastic", "update", "update-paper", "counting", "batch")


@dataclass(frozen=True)
class EngineOptions:
    """How an engine works. `switch` is the share of the last Bootstrap's cost that an Update may take, counted in
    `budget`, which is "derivations" or "seconds"; beyond it, the stratum at hand is evaluated anew, or (`switching`
    "program") everything. Limits hold for each epoch anew. `paper` is for the strategy "update-paper"."""

    threads: int = 1
    functors: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    switch: float = 0.2
    budget: str = "derivations"
    switching: str = "stratum"
    paper: Switches = field(default_factory=Switches)


@dataclass(frozen=True)
class StratumReport:
    """What an epoch did to a stratum. Strata that were not visited are not reported."""

    relations: tuple[str, ...]
    strategy: str
    why: str
    derivations: int


@dataclass
class EpochSummary:
    """What an epoch did, in words and numbers.

    `strategy` is what was done in the end ("bootstrap", "update", "batch", …) and `why` says for what reason, in plain
    words. `budget` is what Update was allowed, in derivations, if there was a limit. `ignored_…` count, per relation,
    facts of the change set that were there already or were not there.
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


@dataclass
class EpochReport(EpochSummary):
    """The same with the net change of each relation that changed. Ignored facts are filled in by the session, because
    no engine ever sees them."""

    inserted: dict[str, Words] = field(default_factory=dict)
    deleted: dict[str, Words] = field(default_factory=dict)


class Engine(Protocol):
    """Keeps the relations of one program up to date."""

    @property
    def database(self) -> Database:
        """Whose symbols and records the words of rows refer to. They only ever grow."""
        ...

    def bootstrap(self, facts: Mapping[str, Facts]) -> EpochReport:
        """Begin anew with these facts of the `.input` relations and no others; a relation may be left out.

        Rows may repeat. The report's change is from the state before, whatever it was, to the new one.
        """
        ...

    def gather(self, name: str) -> Relation:
        """An empty relation for the facts of an input relation, which come little by little: whoever has filled it
        gives it to `bootstrap`, or back to its database (`retire`). Epochs have nothing to do with it meanwhile."""
        ...

    def update(self, delete: Mapping[str, Words], insert: Mapping[str, Words]) -> EpochReport:
        """The next epoch. Every row of `delete` is a fact that is present, every row of `insert` one that is not, and
        no row is named twice."""
        ...

    def rows(self, name: str) -> Words:
        """The tuples of a relation, whether given or derived; not copied, so of 32 bits where these suffice."""
        ...

    def count(self, name: str) -> int:
        """How many there are."""
        ...

    def facts(self, name: str) -> Words:
        """The rows of an `.input` relation that were given as facts; those that rules derive are not among them."""
        ...

    def contains(self, name: str, rows: Words) -> NDArray[np.bool_]:
        """For each row, whether it is among `facts(name)`."""
        ...

    def query_database(self) -> Database:
        """A database whose relations of the program's names hold exactly `rows(name)`, settled. Whoever asks may
        create other relations in it and must drop them."""
        ...


def make_engine(checked: Checked, options: EngineOptions, strategy: str, observer: Observer | None = None) -> Engine:
    """The engine of a strategy, one of STRATEGIES."""
    if strategy not in STRATEGIES:
        raise InternalError(f"no strategy {strategy}")
    from tidelog.evaluate.counting import Counting
    from tidelog.evaluate.elastic import Elastic
    from tidelog.evaluate.recompute import Recompute
    from tidelog.evaluate.update_paper import Paper

    match strategy:
        case "update-paper":
            return Paper(checked, options, strategy, observer)
        case "counting":
            return Counting(checked, options, strategy, observer)
        case "batch":
            return Recompute(checked, options, observer)
    return Elastic(checked, options, strategy, observer)
