"""An engine whose epochs are kept in a state directory: opened where the last process stopped."""

from __future__ import annotations

import os

from tidelog.analysis.checked import Checked
from tidelog.epochs.engine import Engine, EngineOptions
from tidelog.epochs.one_store import OneStore
from tidelog.evaluate.limits import Observer
from tidelog.state import problems
from tidelog.state.durable import Durable

STRATEGIES = ("elastic", "update")


def open_state(
    checked: Checked,
    options: EngineOptions,
    place: str | os.PathLike[str],
    strategy: str = "elastic",
    migrate: bool = False,
    read_only: bool = False,
    observer: Observer | None = None,
) -> tuple[Engine, Durable]:
    """The engine, and what keeps its epochs, which is to be closed in the end."""
    if strategy not in STRATEGIES:
        raise problems.strategy_without_state(strategy, STRATEGIES)
    store = OneStore(checked, options.functors, options.limits, None, observer, options.recorder)
    keeper = Durable(store.state, strategy, place, migrate, read_only)
    engine = Engine(store, options.policy(strategy), keeper)
    if keeper.position.epoch:
        engine.go_on_from(keeper.position)
        keeper.replay(engine.update)
    return engine, keeper
