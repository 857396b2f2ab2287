"""A partition by the graph of the facts: values that stand in a fact together should be with the same worker.

Values are taken one after the other, next always the one that those before pull at most, and each goes where most of
its neighbours are, as long as there is room: linear deterministic greedy, along a walk that leaves a neighbourhood
last. A neighbour pulls less the more neighbours it has itself (a class of all things says little about where one of
them belongs), and each value is as heavy as the facts that it is the key of. A second pass does it again with all
neighbours placed. What is always true: no worker gets more than `slack` beyond its share, but for a single value that
is heavier. Cost: some ten microseconds a value and as much an edge, and the memory of the graph.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from tidelog.evaluate.bindings import Words
from tidelog.exchange.dynamic.bits import Places
from tidelog.exchange.dynamic.partition import ByMap

SLACK = 0.1
PASSES = 2


class FactGraph:
    """The values of facts as vertices: neighbours of `values[v]` are `targets[starts[v]:starts[v + 1]]`, by number."""

    def __init__(self, facts: Mapping[str, Words], keys: Mapping[str, int]) -> None:
        wide = {name: np.asarray(rows, np.int64) for name, rows in facts.items() if np.asarray(rows).size}
        columns = [np.empty(0, np.int64), *(rows.reshape(-1) for rows in wide.values())]
        self.values = np.unique(np.concatenate(columns))
        self.weights = np.ones(len(self.values), np.int64)
        pairs = [np.empty((0, 2), np.int64)]
        for name, rows in wide.items():
            key = keys.get(name, 0)
            numbers = np.searchsorted(self.values, rows)
            np.add.at(self.weights, numbers[:, key], 1)
            pairs += [numbers[:, [key, column]] for column in range(rows.shape[1]) if column != key]
        both = np.concatenate([pair for each in pairs for pair in (each, each[:, ::-1])])
        both = both[np.argsort(both[:, 0], kind="stable")]
        self.targets = both[:, 1]
        self.starts = np.searchsorted(both[:, 0], np.arange(len(self.values) + 1))
        self.pulls = 1.0 / np.maximum(np.diff(self.starts), 1)

    def walk(self) -> Iterator[int]:
        """All values, each after those that it belongs to: next is always the one that those before pull at most."""
        seen, pulled = np.zeros(len(self.values), np.bool_), np.zeros(len(self.values))
        for start in np.argsort(self.pulls, kind="stable")[::-1].tolist():
            heap = [(0.0, start)]
            while heap:
                _, vertex = heappop(heap)
                if seen[vertex]:
                    continue
                seen[vertex] = True
                yield vertex
                around = self.targets[self.starts[vertex] : self.starts[vertex + 1]]
                around = around[~seen[around]]
                np.add.at(pulled, around, self.pulls[vertex])
                for other, pull in zip(around.tolist(), pulled[around].tolist(), strict=True):
                    heappush(heap, (-pull, other))

    def partition(self, size: int, slack: float = SLACK, passes: int = PASSES) -> ByMap:
        """A worker for each value."""
        count = len(self.values)
        workers, loads = np.full(count, -1, np.int64), np.zeros(size)
        room = (1 + slack) * self.weights.sum() / size
        order = list(self.walk())
        for _ in range(passes):
            for vertex in order:
                self._place(vertex, workers, loads, room)
        return ByMap(size, self.values, workers)

    def _place(self, vertex: int, workers: Places, loads: NDArray[np.float64], room: float) -> None:
        """Put a value where its neighbours are, and there is room."""
        weight = self.weights[vertex]
        if workers[vertex] >= 0:
            loads[workers[vertex]] -= weight
        around = self.targets[self.starts[vertex] : self.starts[vertex + 1]]
        placed = workers[around]
        known = placed >= 0
        pulled = np.bincount(placed[known], weights=self.pulls[around[known]], minlength=len(loads))
        scores = pulled * (1.0 - loads / room)
        scores[loads + weight > room] = -1.0
        best = scores.max()
        chosen = int(np.argmin(np.where(scores == best, loads, np.inf))) if best > 0 else int(np.argmin(loads))
        workers[vertex] = chosen
        loads[chosen] += weight


def by_graph(facts: Mapping[str, Words], keys: Mapping[str, int], size: int) -> ByMap:
    """The partition of these facts, whose relations are shared out by the key columns."""
    return FactGraph(facts, keys).partition(size)
