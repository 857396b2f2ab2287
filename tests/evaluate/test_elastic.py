"""After any sequence of epochs the state is that of the definition: same tuples, same iterations, same counts.

The oracle (`state_oracle.py`) knows nothing of updates. 2,000 histories in all by default; for the long run,
`TIDELOG_FUZZ=50000 pytest -n 2 tests/evaluate/test_elastic.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given

import state_oracle
from state_oracle import Entry
from strategies.budget import examples, note_seed
from strategies.engine import checked_program, column_types, value_of, word_of
from strategies.epochs import Facts, History, histories
from strategies.programs import Features
from tidelog.errors import TidelogError
from tidelog.evaluate.elastic import Elastic
from tidelog.evaluate.engine import EngineOptions, EpochReport
from tidelog.store.layout import NEVER

PARTS = 8
JOINS = Features(types=("number", "symbol"), aggregates=False, special=False, derived_inputs=True)
KINDS = {"everything": Features(derived_inputs=True), "joins": JOINS}


class Subject:
    """An engine whose words are turned into the oracle's values and back."""

    def __init__(self, text: str, strategy: str = "update", **options: Any) -> None:
        self.checked = checked_program(text)
        self.engine = Elastic(self.checked, EngineOptions(**options), strategy)
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
        return [tuple(value_of(w, t, self.database) for w, t in zip(row, types, strict=True)) for row in rows.tolist()]

    def bootstrap(self, facts: Facts) -> EpochReport:
        return self.engine.bootstrap(self.words(facts))

    def update(self, delete: Facts, insert: Facts) -> EpochReport:
        return self.engine.update(self.words(delete), self.words(insert))

    def state(self) -> state_oracle.State:
        found: state_oracle.State = {}
        for name in self.checked.relations:
            relation = self.database[name]
            there = np.flatnonzero(relation.now() != NEVER)
            entries = [Entry(int(k), int(n)) for k, n in zip(relation.now(there), relation.derived(there), strict=True)]
            rows = self.values(name, relation.rows()[there])
            found[name] = dict(zip(rows, entries, strict=True))
            assert len(found[name]) == len(rows) == self.engine.count(name), name
        return found

    def whole(self) -> set[str]:
        """Relations that have no iterations."""
        return {name for s in self.engine.state.program.strata if s.whole for name in s.relations}


def net(before: Facts, after: Facts) -> tuple[Facts, Facts]:
    return {n: before[n] - after[n] for n in before}, {n: after[n] - before[n] for n in before}


def compare(history: History, strategy: str, **options: Any) -> None:
    note_seed(history)
    try:
        subject = Subject(history.example.text, strategy, **options)
    except TidelogError:
        return
    before: Facts = {}
    known: dict[str, set[Any]] = {name: set() for name in subject.checked.relations}
    for facts in history.facts():
        report = subject.update(*net(before, facts)) if before else subject.bootstrap(facts)
        wanted, found = state_oracle.state(subject.checked, facts), subject.state()
        for name, rows in wanted.items():
            if name in subject.whole():
                assert set(found[name]) == set(rows), name
            else:
                assert found[name] == rows, name
            inserted = set(subject.values(name, report.inserted.get(name, np.empty((0, 0), np.int64))))
            deleted = set(subject.values(name, report.deleted.get(name, np.empty((0, 0), np.int64))))
            assert (inserted, deleted) == (set(rows) - known[name], known[name] - set(rows)), f"change of {name}"
            known[name] = set(rows)
        before = facts


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("kind", KINDS)
def test_an_update_is_a_recomputation(kind: str, part: int) -> None:
    @examples(1200, PARTS * len(KINDS), part * len(KINDS) + list(KINDS).index(kind))
    @given(histories(KINDS[kind]))
    def agrees(history: History) -> None:
        compare(history, "update")

    agrees()
