"""An equivalence relation, known by its classes.

What it holds: the names of two relations of its database, `classes` (element, class) and `sizes` (class, number of
elements). What is always true: it answers as a relation of all pairs would, but pairs exist only as long as someone
looks at them; plans read the two relations instead (see plan/rewrites/read_classes.py). Cost: a tuple per element and
one per class. Only a plan that was not rewritten makes the pairs for good, n² of them for a class of n.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from tidelog.plan.rewrites.read_classes import classes_of, sizes_of
from tidelog.plan.steps import Match, Probe, Slot, View
from tidelog.store.codes import NEVER
from tidelog.store.components import components
from tidelog.store.memory import Array
from tidelog.store.pair_rows import BATCH, NOWHERE, PairRows
from tidelog.store.relation import Relation

if TYPE_CHECKING:
    from tidelog.store.database import Database


class Equivalence:
    """See the module's docstring. The two relations are whichever the database has by their names."""

    arity = 2

    def __init__(self, database: Database, name: str) -> None:
        self.database, self.name = database, name

    @classmethod
    def completed(cls, database: Database, given: Relation) -> Equivalence:
        """The smallest one that has these pairs."""
        elements, numbers, sizes = classified(given.rows())
        for name, columns in (
            (classes_of(given.name), (elements, numbers)), (sizes_of(given.name), (np.arange(len(sizes)), sizes))
        ):  # fmt: skip
            relation = database.create(name, 2)
            relation.insert(np.column_stack(columns))
            relation.settle()
        return cls(database, given.name)

    @property
    def classes(self) -> Relation:
        return self.database[classes_of(self.name)]

    @property
    def sizes(self) -> Relation:
        return self.database[sizes_of(self.name)]

    @property
    def elements(self) -> Array:
        """Every element once."""
        return present(self.classes)[:, 0]

    @property
    def count(self) -> int:
        """The number of pairs."""
        return int((present(self.sizes)[:, 1] ** 2).sum())

    def __len__(self) -> int:
        return self.count

    def pairs(self) -> PairRows:
        """All pairs, made when looked at."""
        elements, numbers = present(self.classes).T
        return PairRows(elements, numbers)

    def rows(self, view: View | None = None) -> Array:
        """All pairs; none of them is a change."""
        return np.empty((0, 2), np.int64) if view is View.DELTA else np.asarray(self.pairs())

    def batches(self, order: Any = None, size: int = BATCH) -> Iterator[Array]:
        """The pairs, about `size` at a time; at least one batch. `order` lists the places of the elements as both
        columns shall have them; all pairs with the same first element are in one batch."""
        elements, numbers = present(self.classes).T
        _, numbers, lengths = np.unique(numbers, return_inverse=True, return_counts=True)
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
        left, right = self.class_of(pairs[:, 0]), self.class_of(pairs[:, 1])
        return cast("np.ndarray[Any, np.dtype[np.bool_]]", (left == right) & (left != NOWHERE))

    def class_of(self, elements: Array) -> Array:
        """The class of each element, or NOWHERE."""
        found = np.full(len(elements), NOWHERE, np.int64)
        places, numbers = self.probe(classes_of(self.name), 0, elements)
        found[places] = numbers
        return found

    def members(self, numbers: Array) -> tuple[Array, Array]:
        """The elements of some classes, and the class of each."""
        places, elements = self.probe(classes_of(self.name), 1, numbers)
        return elements, numbers[places]

    def probe(self, name: str, column: int, keys: Array) -> tuple[Array, Array]:
        """The tuples of a relation of two columns that have one of the keys: which key each has, and its other column;
        through an index, so that only these are looked at."""
        match = Match(name, View.ALL, ((column, Slot(1)),), ((1 - column, 2),))
        pipeline = self.database.pipeline([Probe(match)], inputs=(0, 1), outputs=(0, 2))
        found: Any = pipeline.run(np.column_stack((np.arange(len(keys)), keys)))
        places, others = found.astype(np.int64).T
        return places, others

    def dispose(self) -> None:
        """Let go of the pairs, if someone wanted them; classes and sizes are relations of their own."""
        if "_pairs" in self.__dict__:
            self._pairs.dispose()

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


def classified(pairs: Any) -> tuple[Array, Array, Array]:
    """The elements of pairs, those of a class side by side, the number of the class of each, and how many each has."""
    elements, numbers = components(pairs.astype(np.int64))
    order = np.argsort(numbers, kind="stable")
    return elements[order], numbers[order], np.bincount(numbers)


def present(relation: Relation) -> Array:
    """The tuples that are there, of a relation with state or without."""
    rows = relation.rows()
    return (rows[relation.now() != NEVER] if relation.stateful and relation.dirty else rows).astype(np.int64)
