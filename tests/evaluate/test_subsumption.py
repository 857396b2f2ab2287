"""Subsumption: what stays is what nothing else subsumes, whatever the order in which tuples come."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluate.running import checked_text, run
from strategies.budget import examples
from tidelog.evaluate.prepare import Prepared
from tidelog.evaluate.subsumption import SubsumptionGate
from tidelog.store import Database

NODES = 6
EDGES = st.lists(st.tuples(*[st.integers(0, NODES - 1)] * 2, st.integers(1, 9)), max_size=14)
Edge = tuple[int, int, int]

LINEAR = """
.decl edge(x: number, y: number, w: number)
.decl path(x: number, y: number, n: number)
path(x, y, w) :- edge(x, y, w).
path(x, z, n + w) :- path(x, y, n), edge(y, z, w).
path(x, y, n) <= path(x, y, m) :- m < n.
"""
DOUBLE = LINEAR.replace("n + w", "n + m").replace("edge(y, z, w)", "path(y, z, m)")


def shortest(edges: list[Edge]) -> set[Edge]:
    """Floyd and Warshall's algorithm."""
    far = {}
    for x, y, w in edges:
        far[x, y] = min(w, far.get((x, y), w))
    for k in range(NODES):
        for x in range(NODES):
            for y in range(NODES):
                if (x, k) in far and (k, y) in far:
                    far[x, y] = min(far.get((x, y), 10**6), far[x, k] + far[k, y])
    return {(x, y, n) for (x, y), n in far.items()}


@examples(100)
@given(EDGES)
def test_shortest_paths_by_one_edge_more(edges: list[Edge]) -> None:
    assert run(LINEAR, {"edge": edges})["path"] == shortest(edges)


@examples(100)
@given(EDGES)
def test_shortest_paths_by_two_paths(edges: list[Edge]) -> None:
    assert run(DOUBLE, {"edge": edges})["path"] == shortest(edges)


@examples(100)
@given(EDGES)
def test_input_facts_subsume_each_other(edges: list[Edge]) -> None:
    text = ".decl best(x: number, y: number, n: number)\n.input best\nbest(x, y, n) <= best(x, y, m) :- n < m."
    best = {(x, y): max(w for a, b, w in edges if (a, b) == (x, y)) for x, y, _ in edges}
    assert run(text, {"best": edges})["best"] == {(x, y, w) for (x, y), w in best.items()}


@pytest.mark.parametrize("seen", [True, False])
def test_a_tuple_comes_back_when_what_subsumed_it_is_gone(seen: bool) -> None:
    text = ".decl held(x: number)\nheld(0).\nheld(x) <= held(y) :- y = x + 1."
    prepared, database = Prepared(checked_text(text), {}), Database()
    prepared.create_relations(database)
    relation, others = database["held"], np.arange(10, 50, 2).reshape(-1, 1)
    (planned,) = prepared.plan.strata[0].gates
    gate = SubsumptionGate(prepared.context(database), relation, planned.subsumptions, seen, ("held",))
    for rows in (others, [[1]], [[2]], [[3]], [[1]]):
        gate.accept(rows)
        gate.close()
        relation.advance()
    gate.finish()
    assert {x for (x,) in relation.rows().tolist()} == {1, 3, *range(10, 50, 2)}
