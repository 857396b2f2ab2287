"""Engines: what a session hands facts to, and asks for relations.

A session validates what its user hands in and encodes it; an *engine* keeps the relations of one program up to date,
epoch by epoch, by whatever strategy. Rows are words of the engine's own dictionaries (`engine.database.symbols`,
`.records`); rows that it has handed out stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tidelog.analysis.checked import Checked
from tidelog.epochs.budget import Policy
from tidelog.epochs.changes import NetChange
from tidelog.epochs.driver import Driver
from tidelog.epochs.holder import Holder, Keeper
from tidelog.epochs.report import EpochReport
from tidelog.errors import InternalError
from tidelog.evaluate.bindings import Words
from tidelog.evaluate.facts import Facts
from tidelog.evaluate.limits import Limits, Observer
from tidelog.evaluate.profile import Recorder
from tidelog.plain import dataclass, field
from tidelog.plan.orders.paper_terms import Switches
from tidelog.store import Database, Relation

if TYPE_CHECKING:
    from tidelog.epochs.one_store import Strategy

STRATEGIES = ("elastic", "update", "update-paper", "counting", "batch")


@dataclass(frozen=True)
class EngineOptions:
    """How an engine works. `switch`, `budget` and `switching` are explained at `budget.Policy`. Limits hold for each
    epoch anew. `paper` is for the strategy "update-paper". For a profile, `recorder` is told what is done."""

    threads: int = 1
    functors: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    switch: float = 0.2
    budget: str = "derivations"
    switching: str = "stratum"
    paper: Switches = field(default_factory=Switches)
    recorder: Recorder | None = None

    def policy(self, strategy: str) -> Policy:
        return Policy(strategy, self.switch, self.budget, self.switching)


class RowHolder(Holder[Mapping[str, Facts], NetChange, EpochReport], Protocol):
    """A holder whose relations can be looked at: see `Engine` for what its methods promise."""

    @property
    def database(self) -> Database: ...
    def gather(self, name: str) -> Relation: ...
    def rows(self, name: str) -> Words: ...
    def count(self, name: str) -> int: ...
    def facts(self, name: str) -> Words: ...
    def contains(self, name: str, rows: Words) -> NDArray[np.bool_]: ...
    def query_database(self) -> Database: ...


class Engine(Driver[Mapping[str, Facts], NetChange, EpochReport]):
    """The epochs of relations, and the relations."""

    def __init__(self, holder: RowHolder, policy: Policy, keeper: Keeper | None = None) -> None:
        super().__init__(holder, policy, keeper)
        self._held = holder

    @property
    def database(self) -> Database:
        """Whose symbols and records the words of rows refer to. They only ever grow."""
        return self._held.database

    def gather(self, name: str) -> Relation:
        """An empty relation for the facts of an input relation, which come little by little: whoever has filled it
        gives it to `bootstrap`, or back to its database (`retire`). Epochs have nothing to do with it meanwhile."""
        return self._held.gather(name)

    def rows(self, name: str) -> Words:
        """The tuples of a relation, whether given or derived; not copied, so of 32 bits where these suffice."""
        return self._held.rows(name)

    def count(self, name: str) -> int:
        """How many there are."""
        return self._held.count(name)

    def facts(self, name: str) -> Words:
        """The rows of an `.input` relation that were given as facts; those that rules derive are not among them."""
        return self._held.facts(name)

    def contains(self, name: str, rows: Words) -> NDArray[np.bool_]:
        """For each row, whether it is among `facts(name)`."""
        return self._held.contains(name, rows)

    def query_database(self) -> Database:
        """A database whose relations of the program's names hold exactly `rows(name)`, settled. Whoever asks may
        create other relations in it and must drop them."""
        return self._held.query_database()

    def close(self) -> None:
        """Nobody asks any more."""


def make_engine(checked: Checked, options: EngineOptions, strategy: str, observer: Observer | None = None) -> Engine:
    """The engine of a strategy, one of STRATEGIES."""
    if strategy not in STRATEGIES:
        raise InternalError(f"no strategy {strategy}")
    functors, limits, recorder = options.functors, options.limits, options.recorder
    if strategy == "batch":  # a command that runs a program once imports no more than it needs
        from tidelog.epochs.recompute import Recompute

        holder: RowHolder = Recompute(checked, functors, limits, options.threads, observer, recorder)
    else:
        from tidelog.epochs.one_store import OneStore

        holder = OneStore(checked, functors, limits, _ways(strategy, options), observer, recorder, options.threads)
    return Engine(holder, options.policy(strategy))


def _ways(strategy: str, options: EngineOptions) -> Strategy:
    from tidelog.epochs.one_store import Strategy

    match strategy:
        case "update-paper":
            from tidelog.evaluate.updates.paper import PaperUpdate

            return Strategy(updater=partial(PaperUpdate, switches=options.paper))
        case "counting":
            from tidelog.evaluate.updates.counting import CountingBootstrap, CountingState, CountingUpdate

            return Strategy(CountingState, CountingBootstrap, CountingUpdate)
    return Strategy()
