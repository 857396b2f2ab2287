"""The facts of a program whose relations are with workers, and the dictionaries: what whoever asks them has itself.

It is a state whose relations hold the facts and nothing else, so that changes of them are applied, undone and committed
as anywhere else. What is always true: between two epochs these are the facts of the last one that was committed. With
them, workers that were lost are replaced: the state of an epoch is that of a Bootstrap from its facts, however it was
reached. Cost: the facts, once more, in this process.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tidelog.analysis.checked import Checked
from tidelog.epochs.changes import NetChange
from tidelog.evaluate.bindings import Words
from tidelog.evaluate.facts import Facts, enter
from tidelog.evaluate.state import RowChange, State
from tidelog.plan.exchange.making import makes_values, texts_of
from tidelog.store import Database, Relation
from tidelog.store.update import changed_rows


class Front:
    """See the module's docstring. `state` may be one that was loaded: what is not facts goes to the workers."""

    def __init__(
        self, checked: Checked, functors: Mapping[str, Callable[..., Any]], state: State | None = None
    ) -> None:
        self.state = state or State(checked, functors)
        for text in texts_of(self.state.program):  # before any worker plans with them
            self.database.symbols.id(text)

    @property
    def database(self) -> Database:
        """Its dictionaries are those of all workers."""
        return self.state.database

    @property
    def makes_values(self) -> bool:
        return any(map(makes_values, self.state.program.strata))

    @property
    def inputs(self) -> list[str]:
        return list(dict.fromkeys(d.relation for d in self.state.checked.directives("input")))

    def gather(self, name: str) -> Relation:
        held = self.database[name]
        return self.database.unmounted(name, held.arity, held.stateful)

    # ---- epochs

    def begin(self, facts: Mapping[str, Facts]) -> dict[str, Words]:
        """These facts and no others; as rows, those of all inputs."""
        state = self.state
        state.epoch.from_scratch = True
        state.replace([*state.program.arities, *state.given.values()])
        for name, rows in facts.items():
            enter(self.database, name, rows, self.database[state.given.get(name, name)])
        return {name: self.database[name].rows() for name in facts}

    def facts_after(self, change: NetChange) -> dict[str, Facts]:
        self.state.apply_facts(change.delete, change.insert)
        try:
            return {name: self.state.facts(name) for name in self.inputs}
        finally:
            self.state.undo()

    def apply(self, change: NetChange) -> None:
        self.state.apply_facts(change.delete, change.insert)

    def commit(self) -> None:
        if not self.state.epoch.from_scratch:
            for name in self.inputs:
                self.state.epoch.changes[name] = RowChange(*changed_rows(self.database[name]))
        self.state.commit()

    def undo(self) -> None:
        self.state.undo()

    # ---- contents

    def facts(self, name: str) -> Words:
        return self.state.facts(name)

    def all_facts(self) -> dict[str, Words]:
        return {name: self.state.facts(name) for name in self.inputs}

    def contains(self, name: str, rows: Words) -> NDArray[np.bool_]:
        return self.state.given_as_fact(name, rows)
