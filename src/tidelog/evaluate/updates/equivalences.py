"""The classes of an equivalence, kept up to date by the pairs that come and go.

The pairs that were given and derived are a relation like any other; from them follow the classes, (element, class),
and their sizes. A change of the pairs touches the classes of its elements, and no others: a class that lost none of
its pairs stays together, as it is or as part of a larger one, and one that did is made anew from the pairs that its
elements have left. Of the classes that become one, the largest keeps its number, and of one that falls apart the
largest part does, so that as few elements as possible change: what rules see of a change is then no more than a
constant times the pairs that came and went. Cost: the elements of the touched classes, and the pairs of those that
lost some.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tidelog.evaluate.bindings import Words
from tidelog.evaluate.state import State
from tidelog.plan.rewrites.read_classes import classes_of, sizes_of
from tidelog.store import PairRows, classified, present
from tidelog.store.components import components
from tidelog.store.distinct import distinct, distinct_rows
from tidelog.store.index import Index
from tidelog.store.pair_rows import NOWHERE
from tidelog.store.update import UNLIMITED, Watch

Chosen = NDArray[np.bool_]
NONE = np.empty(0, np.int64)


def classify(state: State, name: str) -> None:
    """Fill the classes and sizes, which are empty, from the pairs."""
    elements, numbers, sizes = classified(present(state.database[name]))
    for relation, columns in (
        (classes_of(name), (elements, numbers)), (sizes_of(name), (np.arange(len(sizes)), sizes))
    ):  # fmt: skip
        state.database[relation].insert(np.column_stack(columns))
        state.database[relation].settle()


class EquivalenceUpdate:
    """Keeps the classes of one equivalence up to date."""

    plans = ()  # it works on classes
    stale = False  # it looks for the relations whenever it needs them

    def __init__(self, state: State, name: str) -> None:
        self.state, self.name = state, name
        self.view = state.database.views[name]

    def prepare(self) -> list[Index]:
        """Have the indexes made that the first update needs."""
        self.view.probe(self.name, 0, NONE)
        self.view.class_of(NONE)
        self.view.members(NONE)
        return []

    def run(self, budget: int = UNLIMITED, watch: Watch | None = None) -> int:
        """Follow what changed among the pairs; the work done, in elements and pairs looked at."""
        change, pairs = self.state.epoch.changes[self.name], self.state.database[self.name].rows()
        gone, come = (pairs[numbers].astype(np.int64) for numbers in (change.deleted, change.inserted))
        elements, before = self.touched(gone, come)
        edges = self.edges(elements, before, gone, come)
        members, parts = components(edges)
        was = _numbers_of(members, elements, before)
        after = self.numbered(parts, was)
        becomes = _numbers_of(elements, members, after)
        self.replace(classes_of(self.name), (elements, before), becomes != before, (members, after), was != after)
        old, new = _sizes(before), _sizes(after)
        self.replace(
            sizes_of(self.name), old, _numbers_of(old[0], *new) != old[1], new, _numbers_of(new[0], *old) != new[1]
        )
        self.state.epoch.pairs[self.name] = PairRows(members, after, was), PairRows(elements, before, becomes)
        work = len(elements) + len(edges)
        if watch is not None:
            watch(1, work)
        return work

    def touched(self, gone: Words, come: Words) -> tuple[Words, Words]:
        """The elements of all classes that have an element in a changed pair, and their classes."""
        numbers, _ = distinct(self.view.class_of(distinct(np.concatenate((gone, come)).reshape(-1))[0]))
        return self.view.members(numbers[numbers != NOWHERE])

    def edges(self, elements: Words, numbers: Words, gone: Words, come: Words) -> Words:
        """Pairs whose classes are the new ones: those that came; what is left of the classes that lost some; and for
        the others, which stay together, each element with one of them."""
        lost = np.isin(numbers, distinct(self.view.class_of(gone[:, 0]))[0])
        places, partners = self.view.probe(self.name, 0, elements[lost])
        left = np.column_stack((elements[lost][places], partners))
        together, which = elements[~lost], distinct(numbers[~lost])[1]
        one = np.empty(int(which.max(initial=-1)) + 1, np.int64)
        one[which] = together
        return np.concatenate((come, left, np.column_stack((together, one[which]))))

    def numbered(self, parts: Words, before: Words) -> Words:
        """The new class of each element: a number that most of its part had before, or a new one."""
        known = before != NOWHERE
        shared, which = distinct_rows(np.column_stack((parts[known], before[known])))
        largest = shared[np.argsort(-np.bincount(which), kind="stable")]
        largest = largest[np.sort(np.unique(largest[:, 1], return_index=True)[1])]  # of each class, its largest part
        keeping, first = np.unique(largest[:, 0], return_index=True)  # of each part, its largest class
        found = np.full(int(parts.max(initial=-1)) + 1, NOWHERE, np.int64)
        found[keeping] = largest[first, 1]
        fresh = np.flatnonzero(found == NOWHERE)
        classes = self.state.database[classes_of(self.name)]
        highest = classes.limits(1, classes.count)[1] if classes.count else -1
        found[fresh] = highest + 1 + np.arange(len(fresh))
        return found[parts]

    def replace(
        self, name: str, before: tuple[Words, Words], gone: Chosen, after: tuple[Words, Words], come: Chosen
    ) -> None:
        """Take tuples out of a relation and put others in: those that are chosen of the columns before and after."""
        relation = self.state.database[name]
        rows = relation.find(np.column_stack(before)[gone])
        self.state.exchange(name, rows, relation.enter_absent(np.column_stack(after)[come]), iteration=0)


def _numbers_of(wanted: Words, keys: Words, numbers: Words) -> Words:
    """The number of each key that is wanted, or NOWHERE; one of the two is in ascending order."""
    if not len(keys) or not len(wanted):
        return np.full(len(wanted), NOWHERE, np.int64)
    if (np.diff(keys) > 0).all():
        places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where(keys[places] == wanted, numbers[places], NOWHERE)
    places = np.minimum(np.searchsorted(wanted, keys), len(wanted) - 1)
    known = wanted[places] == keys
    found = np.full(len(wanted), NOWHERE, np.int64)
    found[places[known]] = numbers[known]
    return found


def _sizes(numbers: Words) -> tuple[Words, Words]:
    """Classes, in ascending order, and how many elements each has."""
    classes, which = distinct(numbers)
    return classes, np.bincount(which, minlength=len(classes))
