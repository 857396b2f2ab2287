"""Facts that were gathered little by little mean the same to every strategy as facts that are given at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from strategies.engine import checked_program
from tidelog.epochs.changes import NetChange
from tidelog.epochs.engine import STRATEGIES, EngineOptions, make_engine

PROGRAM = """
.decl edge(a: number, b: number)
.input edge
.decl path(a: number, b: number)
.input path
path(a, b) :- edge(a, b).
path(a, c) :- path(a, b), edge(b, c).
"""
EDGES = np.array([[1, 2], [2, 3], [3, 1], [2, 3], [7, 8]])
PATHS = np.array([[5, 1], [1, 2]])


def rows(engine: Any, name: str) -> set[tuple[int, ...]]:
    return set(map(tuple, engine.rows(name).tolist()))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_gathered_facts_are_facts(strategy: str) -> None:
    given, gathering = (make_engine(checked_program(PROGRAM), EngineOptions(), strategy) for _ in range(2))
    given.bootstrap({"edge": EDGES, "path": PATHS})
    for _ in range(2):  # the second time, something is replaced
        facts = {name: gathering.gather(name) for name in ("edge", "path")}
        for part in np.array_split(EDGES, 3):
            facts["edge"].insert(part, later=len(EDGES))
        facts["path"].insert(PATHS)
        gathering.bootstrap(facts)
        for name in ("edge", "path"):
            assert rows(gathering, name) == rows(given, name)
            assert {tuple(row) for row in gathering.facts(name).tolist()} == {
                tuple(row) for row in given.facts(name).tolist()
            }
    for engine in (given, gathering):
        gone = {"edge": np.array([[2, 3]]), "path": np.array([[5, 1]])}
        engine.update(NetChange(gone, {"edge": np.array([[8, 9]])}))
    assert rows(gathering, "path") == rows(given, "path")


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_gathered_facts_may_be_given_back(strategy: str) -> None:
    engine = make_engine(checked_program(PROGRAM), EngineOptions(), strategy)
    engine.bootstrap({"edge": EDGES})
    before = rows(engine, "path")
    gathered = engine.gather("edge")
    gathered.insert(np.array([[100, 200]]))
    gathered.database.retire(gathered)
    engine.update(NetChange({}, {"edge": np.array([[8, 9]])}))
    assert rows(engine, "path") == before | {(8, 9), (7, 9)}
