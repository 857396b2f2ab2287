"""A complete equivalence relation, known by its classes.

What it holds: two relations, `classes` (element, class; the elements of a class side by side) and `sizes` (class,
number of elements). What is always true: it answers as a relation of all pairs would, but pairs exist only as long as
someone looks at them; plans read the two relations instead (see plan/equivalences.py). Cost: a tuple per element and
one per class. Only a plan that was not rewritten makes the pairs for good, n² of them for a class of n.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tidelog.plan.equivalences import classes_of, sizes_of
from tidelog.plan.steps import View
from tidelog.store.components import components
from tidelog.store.memory import Array
from tidelog.store.relation import Relation

if TYPE_CHECKING:
    from tidelog.store.database import Database

BATCH = 1 << 20


class Equivalence:
    """See the module's docstring. Made by `Database.complete_equivalence` from a relation of some of the pairs."""

    arity = 2

    def __init__(self, database: Database, given: Relation) -> None:
        self.database, self.name = database, given.name
        elements, numbers = components(given.rows().astype(np.int64))
        sizes = np.bincount(numbers)
        order = np.argsort(numbers, kind="stable")
        self.classes = self._relation(classes_of(self.name), elements[order], numbers[order])
        self.sizes = self._relation(sizes_of(self.name), np.arange(len(sizes)), sizes)

    def _relation(self, name: str, *columns: Array) -> Relation:
        relation = self.database.create(name, len(columns))
        relation.insert(np.column_stack(columns))
        relation.settle()
        return relation

    @property
    def elements(self) -> Array:
        """Every element once, those of a class side by side."""
        return self.classes.rows()[:, 0].astype(np.int64)

    @property
    def count(self) -> int:
        """The number of pairs."""
        return int((self.sizes.rows()[:, 1].astype(np.int64) ** 2).sum())

    def __len__(self) -> int:
        return self.count

    def rows(self, view: View | None = None) -> Array:
        """All pairs; none of them is a change."""
        return np.empty((0, 2), np.int64) if view is View.DELTA else np.concatenate(list(self.batches()))

    def batches(self, order: Any = None, size: int = BATCH) -> Iterator[Array]:
        """The pairs, about `size` at a time; at least one batch. `order` lists the places of the elements as both
        columns shall have them; all pairs with the same first element are in one batch."""
        elements, numbers = self.classes.rows().astype(np.int64).T
        lengths = self.sizes.rows()[:, 1].astype(np.int64)
        order = np.arange(len(elements)) if order is None else order
        by_class = order[np.argsort(numbers[order], kind="stable")]
        starts = np.cumsum(lengths) - lengths
        stops = np.cumsum(lengths[numbers[order]])
        if len(order) == 0:
            yield np.empty((0, 2), np.int64)
        first, done = 0, 0
        while first < len(order):
            stop = max(first + 1, int(np.searchsorted(stops, done + size, "right")))
            left = order[first:stop]
            partners = lengths[numbers[left]]
            within = np.arange(partners.sum()) - np.repeat(np.cumsum(partners) - partners, partners)
            right = by_class[np.repeat(starts[numbers[left]], partners) + within]
            yield np.column_stack((np.repeat(elements[left], partners), elements[right]))
            first, done = stop, int(stops[stop - 1])

    def contains(self, rows: Any) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """For each pair, whether one class has both."""
        pairs = np.asarray(rows, np.int64).reshape(-1, 2)
        if not self.classes.count:
            return np.zeros(len(pairs), np.bool_)
        elements, numbers = self.classes.rows().astype(np.int64).T
        order = np.argsort(elements)
        places = order[np.minimum(np.searchsorted(elements, pairs, sorter=order), len(order) - 1)]
        same: np.ndarray[Any, np.dtype[np.bool_]] = numbers[places[:, 0]] == numbers[places[:, 1]]
        return same & (elements[places] == pairs).all(axis=1)

    def memory(self) -> dict[str, int]:
        """The classes and sizes are relations of their own, and counted there."""
        return self._pairs.memory() if "_pairs" in self.__dict__ else {"rows": 0}

    @cached_property
    def _pairs(self) -> Relation:
        relation = Relation(self.database, self.name, 2)
        self.database.adopt(relation)
        for batch in self.batches():
            relation.insert(batch)
        relation.settle()
        return relation

    def __getattr__(self, name: str) -> Any:
        """Whatever else is asked of a relation is asked of the pairs."""
        if name.startswith("__") or name == "_pairs":
            raise AttributeError(name)
        return getattr(self._pairs, name)
