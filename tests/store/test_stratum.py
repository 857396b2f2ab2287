"""Strata: fixpoints, whole and interrupted, on one thread and on two."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rules import rule

from tidelog.store import Database

PATH = {"path"}
LINEAR = [*rule(PATH, "path(x,y)", "edge(x,y)"), *rule(PATH, "path(x,y)", "path(x,z)", "edge(z,y)")]
DOUBLE = [*rule(PATH, "path(x,y)", "edge(x,y)"), *rule(PATH, "path(x,y)", "path(x,z)", "path(z,y)")]
SAME = {"same"}
GENERATION = [
    *rule(SAME, "same(x,x)", "edge(x,_)"),
    *rule(SAME, "same(x,y)", "edge(x,a)", "same(a,b)", "edge(y,b)"),
    *rule(SAME, "same(x,y)", "same(x,z)", "same(z,y)", "edge(z,_)"),
]


def closed(edges: set[tuple[int, int]]) -> set[tuple[int, int]]:
    found, new = set(edges), set(edges)
    while new:
        new = {(x, y) for x, z in new for w, y in edges if w == z} - found
        found |= new
    return found


def generation(edges: set[tuple[int, int]]) -> set[tuple[int, int]]:
    found: set[tuple[int, int]] = set()
    while True:
        more = {(x, x) for x, _ in edges}
        more |= {(x, y) for x, a in edges for c, b in found if c == a for y, d in edges if d == b}
        starts = {x for x, _ in edges}
        more |= {(x, y) for x, z in found if z in starts for w, y in found if w == z}
        if more <= found:
            return found
        found |= more


def run(edges: Any, plans: Any, name: str, **options: Any) -> tuple[Database, int]:
    db = Database(**options)
    db.create("edge", 2).insert(np.array(sorted(edges), np.int64).reshape(-1, 2))
    db["edge"].settle()
    db.create(name, 2)
    return db, db.stratum([name], plans).run()


def tuples(db: Database, name: str) -> set[tuple[int, ...]]:
    return {tuple(r) for r in db[name].rows().tolist()}


options_of_store = st.fixed_dictionaries(
    {
        "chunk": st.sampled_from([1, 2, 8, 512]),
        "initial_capacity": st.sampled_from([1, 3, 64]),
        "bitmaps_from": st.sampled_from([1, 8, 1 << 14]),
        "budget": st.sampled_from([0, 20, 1 << 22]),
        "threads": st.sampled_from([1, 2]),
        "parallel_from": st.sampled_from([1, 5]),
    }
)
nodes = st.sampled_from([0, 1, 2, 3, 4, 5, 2**31 - 1, -7, 2**40])


@settings(max_examples=150, deadline=None)
@given(st.sets(st.tuples(nodes, nodes), max_size=14), st.sampled_from([LINEAR, DOUBLE]), options_of_store)
def test_a_graph_is_closed_by_linear_and_by_double_recursion(edges: Any, plans: Any, options: Any) -> None:
    db, _ = run(edges, plans, "path", **options)
    assert tuples(db, "path") == closed(edges)
    assert db["path"].count == len(closed(edges))


@settings(max_examples=100, deadline=None)
@given(st.sets(st.tuples(nodes, nodes), max_size=10), options_of_store)
def test_the_same_generation_is_found_through_two_indexes(edges: Any, options: Any) -> None:
    db, _ = run(edges, GENERATION, "same", **options)
    assert tuples(db, "same") == generation(edges)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("plans", [LINEAR, DOUBLE])
def test_growing_through_every_table_size_loses_nothing(threads: int, plans: Any) -> None:
    edges = np.unique(np.random.default_rng(3).integers(0, 400, (700, 2)), axis=0)
    expected = closed({(int(a), int(b)) for a, b in edges})
    db, _ = run(edges.tolist(), plans, "path", threads=threads, parallel_from=100, chunk=64)
    assert tuples(db, "path") == expected
    assert db["path"].count == len(expected)


def test_a_long_chain_takes_one_iteration_per_step() -> None:
    chain = [(i, i + 1) for i in range(3000)]
    db, iterations = run(chain, rule(PATH, "path(x,y)", "edge(x,y)"), "path")
    assert iterations == 0
    plans = [*rule(PATH, "path(0,y)", "edge(0,y)"), *rule(PATH, "path(x,y)", "path(x,z)", "edge(z,y)")]
    db, iterations = run(chain, plans, "path")
    assert db["path"].count == 3000
    assert iterations == 3000


def test_progress_may_stop_a_run_and_the_database_stays_usable() -> None:
    class Enough(Exception):
        pass

    def stop(iteration: int, known: int) -> None:
        if iteration >= 3:
            raise Enough

    db = Database()
    db.create("edge", 2).insert([[i, i + 1] for i in range(100)])
    db["edge"].settle()
    db.create("path", 2)
    with pytest.raises(Enough):
        db.stratum(["path"], LINEAR).run(stop, every_iteration=True)
    assert 100 < db["path"].count < 5050
    db["path"].clear()
    db.stratum(["path"], LINEAR).run()
    assert db["path"].count == 5050


def test_iterations_driven_by_hand_reach_the_same_fixpoint() -> None:
    edges = {(i, (i * 7 + 3) % 50) for i in range(50)} | {(i, i + 1) for i in range(0, 50, 3)}
    db = Database()
    db.create("edge", 2).insert(sorted(edges))
    db["edge"].settle()
    path = db.create("path", 2)
    first, *loop = (db.pipeline(p.steps, changing=["path"]) for p in DOUBLE)
    first.run()
    new = path.restart()
    while new:
        for pipe in loop:
            pipe.run()
        new = path.advance()
    path.settle()
    assert tuples(db, "path") == closed(edges)


def test_rows_taken_earlier_stay_as_they_were() -> None:
    db = Database()
    relation = db.create("r", 2)
    relation.insert([[1, 2]])
    before = relation.rows()
    relation.insert(np.arange(20000).reshape(-1, 2) + 10)
    relation.insert([[2**40, 1]])
    assert before.tolist() == [[1, 2]]
    assert relation.count == 10002
    assert relation.rows()[-1].tolist() == [2**40, 1]
    relation.clear()
    assert relation.count == 0
    assert before.tolist() == [[1, 2]]


TRIANGLE = {"head"}
triples = st.sets(st.tuples(*[st.integers(0, 3)] * 3), max_size=25)


@settings(max_examples=150, deadline=None)
@given(st.sets(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=12), triples, st.booleans(), options_of_store)
def test_cyclic_joins_derive_the_same_whichever_side_is_less(pairs: Any, more: Any, whole: bool, options: Any) -> None:
    options = options | {"threads": 1}
    db = Database(**options)
    db.create("p", 2).insert(np.array(sorted(pairs), np.int64).reshape(-1, 2))
    db.create("c", 3).insert(np.array(sorted(more), np.int64).reshape(-1, 3))
    for name in "pc":
        db[name].settle()
    db.create("head", 3)
    if whole:
        plans = rule(TRIANGLE, "head(a,e,d)", "p(a,b)", "c(b,d,e)", "p(a,d)")
        expected = [(a, e, d) for a, b in pairs for x, d, e in more if x == b and (a, d) in pairs]
    else:
        plans = rule(TRIANGLE, "head(a,e,f)", "p(a,b)", "c(b,d,e)", "c(a,d,f)")
        expected = [
            (a, e, f) for a, b in pairs for x, d, e in more if x == b for y, g, f in more if (y, g) == (a, d)
        ]  # fmt: skip
    stratum = db.stratum(["head"], plans)
    stratum.run()
    assert len(stratum.pipelines) == 2
    assert tuples(db, "head") == set(expected)
    assert stratum.derivations == [len(expected)]


def test_a_wrong_estimate_of_density_only_makes_the_table_larger() -> None:
    db = Database(bitmaps_from=1, chunk=64, initial_capacity=1)
    relation = db.create("r", 2)
    for start in range(0, 4000, 50):  # sparse after a dense beginning
        dense = [[1, start + i] for i in range(25)]
        sparse = [[(start + i) * 7919 % 100003, (start + i) * 104729 % 1000003] for i in range(25)]
        relation.insert(dense + sparse)
    relation.insert(np.stack([np.arange(5000) * 64, np.arange(5000) * 128], axis=1))
    assert len(np.unique(relation.rows(), axis=0)) == relation.count
    assert relation.contains(relation.rows()).all()
    assert not relation.contains([[999999, 5]]).any()
