"""An engine under test: facts go in and states come out as the oracle has them."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from state_oracle import Entry
from strategies.engine import checked_program, column_types, value_of, word_of
from strategies.epochs import Facts
from tidelog.epochs.changes import NetChange
from tidelog.epochs.engine import Engine, EngineOptions, make_engine
from tidelog.epochs.one_store import OneStore
from tidelog.epochs.report import EpochReport
from tidelog.plan.orders.paper_terms import Switches
from tidelog.store import NEVER

SWITCHES = [Switches(*s) for s in product(("eager", "lazy"), ("split", "joined"), ("diff-first", "textual"))]


class Subject:
    """An engine whose words are turned into the oracle's values and back."""

    def __init__(self, text: str, strategy: str = "update", **options: Any) -> None:
        self.checked = checked_program(text)
        self.engine = make_engine(self.checked, EngineOptions(**options), strategy)
        self.database = self.engine.database

    def words(self, facts: Facts) -> dict[str, np.ndarray]:
        found = {}
        for name, rows in facts.items():
            types = column_types(self, self.checked.relations[name])
            words = [[word_of(v, t, self.database) for v, t in zip(row, types, strict=True)] for row in rows]
            found[name] = np.array(words, np.int64).reshape(len(rows), len(types))
        return found

    def values(self, name: str, rows: np.ndarray) -> list[tuple[Any, ...]]:
        types = column_types(self, self.checked.relations[name])
        words = np.asarray(rows).tolist()  # the pairs of an equivalence are an array only when they are wanted
        return [tuple(value_of(w, t, self.database) for w, t in zip(row, types, strict=True)) for row in words]

    def bootstrap(self, facts: Facts) -> EpochReport:
        return self.engine.bootstrap(self.words(facts))

    def update(self, delete: Facts, insert: Facts) -> EpochReport:
        return self.engine.update(NetChange(self.words(delete), self.words(insert)))

    @property
    def store(self) -> OneStore:
        """What holds the relations, if it keeps a state."""
        return store_of(self.engine)

    def state(self) -> dict[str, dict[tuple[Any, ...], Entry | None]]:
        """The tuples of each relation; if the engine keeps a state, with iteration and count."""
        if not isinstance(self.engine.holder, OneStore):
            return {n: dict.fromkeys(self.values(n, self.engine.rows(n))) for n in self.checked.relations}
        found: dict[str, dict[tuple[Any, ...], Entry | None]] = {}
        for name in self.checked.relations:
            if name in self.database.views:
                pairs = self.values(name, self.engine.rows(name))
                found[name] = dict.fromkeys(pairs)
                assert len(found[name]) == len(pairs) == self.engine.count(name), name
                continue
            relation = self.database[name]
            there = np.flatnonzero(relation.now() != NEVER)
            entries = [Entry(int(k), int(n)) for k, n in zip(relation.now(there), relation.derived(there), strict=True)]
            rows = self.values(name, relation.rows()[there])
            found[name] = dict(zip(rows, entries, strict=True))
            assert len(found[name]) == len(rows) == self.engine.count(name), name
        return found

    def whole(self) -> set[str]:
        """Relations that have no iterations."""
        if not isinstance(self.engine.holder, OneStore):
            return set(self.checked.relations)
        whole = {name for s in self.store.state.program.strata if s.whole for name in s.relations}
        return whole | set(self.database.views)


def store_of(engine: Engine) -> OneStore:
    assert isinstance(engine.holder, OneStore)
    return engine.holder
