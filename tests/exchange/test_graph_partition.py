"""A partition by the graph keeps together what belongs together."""

from __future__ import annotations

import numpy as np

from tidelog.exchange.dynamic.graph_partition import FactGraph, by_graph
from tidelog.exchange.dynamic.partition import ByHash


def villages(count: int, people: int) -> np.ndarray:
    """Everybody knows three others of the village, and one in twenty somebody elsewhere."""
    rng = np.random.default_rng(count)
    who = np.arange(count * people)
    near = [np.column_stack((who, who // people * people + rng.integers(0, people, len(who)))) for _ in range(3)]
    far = rng.integers(0, len(who), (len(who) // 20, 2))
    return np.concatenate((*near, far))


def cut(owners: np.ndarray, rows: np.ndarray) -> int:
    return int((owners[rows[:, 0]] != owners[rows[:, 1]]).sum())


def test_neighbours_stay_together_and_nobody_gets_too_much() -> None:
    rows, size = villages(16, 50), 8
    partition = by_graph({"knows": rows}, {"knows": 0}, size)
    owners = partition.owners(np.arange(800))
    by_hash = ByHash(size).owners(np.arange(800))
    assert cut(owners, rows) < cut(by_hash, rows) / 4
    heavy = np.bincount(owners[rows[:, 0]], minlength=size)
    assert heavy.max() < 1.25 * heavy.mean()


def test_a_walk_meets_every_value_once() -> None:
    graph = FactGraph({"knows": villages(4, 10), "likes": np.array([[100, 101, 102]])}, {})
    assert sorted(graph.walk()) == list(range(len(graph.values)))


def test_values_that_a_map_does_not_have_go_by_hash() -> None:
    partition = by_graph({"knows": np.array([[1, 2], [2, 3]])}, {}, 3)
    new = np.arange(50, 60)
    assert (partition.owners(new) == ByHash(3).owners(new)).all()


def test_without_facts_all_goes_by_hash() -> None:
    assert (by_graph({}, {}, 4).owners(np.arange(9)) == ByHash(4).owners(np.arange(9))).all()
