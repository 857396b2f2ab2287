"""Graphs with weights: road networks of the workloads, if they are there, and made ones that are always the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.batch.workloads import data_folder, unpacked

Numbers = NDArray[np.int64]
MOST_WEIGHT = 1000


@dataclass(frozen=True)
class Graph:
    """Edges as three columns, without two of the same ends; nodes are numbered from 0."""

    name: str
    nodes: int
    tails: Numbers
    heads: Numbers
    weights: Numbers

    @property
    def edges(self) -> int:
        return len(self.tails)


def _graph(name: str, nodes: int, tails: Numbers, heads: Numbers, seed: int) -> Graph:
    ends = np.unique(tails * nodes + heads)
    weights = np.random.default_rng(seed).integers(1, MOST_WEIGHT, len(ends))
    return Graph(name, nodes, ends // nodes, ends % nodes, weights)


def random_graph(edges: int) -> Graph:
    """Five edges for each node, at random."""
    made, nodes = np.random.default_rng(1), edges // 5
    return _graph(f"random, {edges:,} edges", nodes, made.integers(0, nodes, edges), made.integers(0, nodes, edges), 2)


def grid(edges: int) -> Graph:
    """A square grid with edges both ways, three quarters of its streets, and some long roads."""
    side = max(2, int((edges / 3) ** 0.5))
    made, nodes = np.random.default_rng(3), side * side
    corner = np.arange(nodes).reshape(side, side)
    tails = np.concatenate((corner[:, :-1].reshape(-1), corner[:-1].reshape(-1)))
    heads = np.concatenate((corner[:, 1:].reshape(-1), corner[1:].reshape(-1)))
    kept = made.random(len(tails)) < 0.75
    far = made.integers(0, nodes, (side, 2))
    tails, heads = np.concatenate((tails[kept], far[:, 0])), np.concatenate((heads[kept], far[:, 1]))
    return _graph(f"roads, {edges:,} edges", nodes, np.concatenate((tails, heads)), np.concatenate((heads, tails)), 4)


def workload(name: str) -> Graph | None:
    """A road network of the workloads, its edges both ways and weights made; None if it is not there."""
    data = data_folder()
    archive = data / f"{name}.tar.xz" if data else None
    if archive is None or not archive.exists():
        return None
    ends = np.loadtxt(unpacked(archive, name) / "edge.facts", np.int64, ndmin=2)[:, :2]
    known, numbers = np.unique(ends, return_inverse=True)
    tails, heads = numbers.reshape(-1, 2).T
    return _graph(name, len(known), np.concatenate((tails, heads)), np.concatenate((heads, tails)), 5)


MADE: dict[str, Callable[[int], Graph]] = {"random": random_graph, "roads": grid}
