"""The facts that a worker owns: derived ones come here first, and are dropped if they are known.

A fact is stored once each of its values is *announced* at its position here: everyone who has the value knows that it
occurs here, too (`tours.py`). Until then the fact waits, and takes part in nothing. What is announced is a value at a
position, once, however many facts wait for it. What is always true: whether something is announced is told from tours
that have ended, never from the map, which has it as soon as a tour begins.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from tidelog.evaluate.bindings import Words
from tidelog.exchange.dynamic import bits
from tidelog.exchange.dynamic.bits import Masks, Places
from tidelog.exchange.dynamic.messages import Announcement, DerivedFacts, Noted
from tidelog.exchange.dynamic.occurrences import UNTOLD
from tidelog.exchange.dynamic.partial_matches import Held
from tidelog.exchange.dynamic.tours import Posted, Tours
from tidelog.store import Relation

Stored = Callable[[str, int], None]
"""Told of rows that were stored: the relation, and how many there were before."""


class OwnedFacts:
    """See the module's docstring."""

    tours_class: type[Tours] = Tours

    def __init__(self, held: Held, relations: Sequence[str], stored: Stored) -> None:
        self.held, self.relations, self._stored = held, relations, stored
        self._waiting: defaultdict[str, list[Words]] = defaultdict(list)
        self._told = {name: self._told_columns(name) for name in relations}
        self.tours = self.tours_class(held, self._announced)

    def _told_columns(self, name: str) -> list[tuple[int, int]]:
        """The columns of which others are told, with their positions."""
        columns = range(self._relation(name).arity)
        return [(c, p) for c in columns if (p := self.held.positions[name, c]) != UNTOLD]

    def _relation(self, name: str) -> Relation:
        found: Relation = self.held.context.database[name]
        return found

    @property
    def waiting(self) -> int:
        """How many facts wait for their announcements."""
        return sum(len(rows) for some in self._waiting.values() for rows in some)

    def take(self, phase: int, messages: Iterable[DerivedFacts]) -> Iterator[Posted]:
        """Derived facts that this worker owns; what is to be told of them. The clock is past their messages'."""
        fresh: list[tuple[Words, Places]] = []  # values and positions that may have to be announced
        told: list[tuple[Words, Masks]] = []
        for message in messages:
            name = self.relations[message.relation]
            rows = message.rows.astype(np.int64)
            new = rows[~self._relation(name).contains(rows)]
            if len(new):
                self._waiting[name].append(new)
                fresh += [(new[:, c], np.full(len(new), p)) for c, p in self._told[name]]
                told.append((message.values.astype(np.int64), bits.unpacked(message.reach)))
        if fresh:
            yield from self._announce(phase, fresh, told)
        self._store_ready()

    def hear(self, phase: int, messages: Sequence[Noted]) -> Iterator[Posted]:
        """Answers to what was announced."""
        yield from self.tours.go_on(phase, messages)
        self._store_ready()

    def answer(self, phase: int, messages: Iterable[tuple[int, Announcement]]) -> Iterator[Posted]:
        """What others announce."""
        return self.tours.answer(phase, messages)

    def _announce(
        self, phase: int, fresh: list[tuple[Words, Places]], told: list[tuple[Words, Masks]]
    ) -> Iterator[Posted]:
        """Begin a tour of what is neither announced nor on its way, to all who are known to have it."""
        held, occurrences = self.held, self.held.occurrences
        values, positions = (np.concatenate(part) for part in zip(*fresh, strict=True))
        numbers = occurrences.enter(values)
        new = ~self.settled(numbers, positions)
        numbers, positions = numbers[new], positions[new]
        if not len(numbers):
            return
        occurrences.underway[numbers, positions] = True
        occurrences.masks[numbers, positions] |= bits.of(held.me, held.size)
        distinct, first = np.unique(numbers, return_index=True)
        announces = np.zeros((len(distinct), occurrences.masks.shape[1]), np.bool_)
        announces[np.searchsorted(distinct, numbers), positions] = True
        words = values[new][first]
        route = occurrences.reach(distinct) | held.meeting(words)
        order = np.argsort(words)
        for some, reach in told:
            at = order[np.minimum(np.searchsorted(words, some, sorter=order), len(words) - 1)]
            hit = words[at] == some
            np.bitwise_or.at(route, at[hit], reach[hit])
        yield from self.tours.begin(phase, distinct, words, announces, route)

    def settled(self, numbers: Places, positions: Places) -> NDArray[np.bool_]:
        """What need not be announced: it is, or is being."""
        occurrences = self.held.occurrences
        found: NDArray[np.bool_] = occurrences.announced[numbers, positions] | occurrences.underway[numbers, positions]
        return found

    def _announced(self, numbers: Places, positions: NDArray[np.bool_]) -> None:
        occurrences = self.held.occurrences
        occurrences.announced[numbers] |= positions
        occurrences.underway[numbers] &= ~positions

    def _store_ready(self) -> None:
        """Store the facts that have waited for what is announced now."""
        for name, waiting in list(self._waiting.items()):
            rows = np.concatenate(waiting)
            ready = self.ready(name, rows)
            if ready.any():
                relation = self._relation(name)
                before = relation.count
                relation.insert(rows[ready])
                relation.settle()
                if relation.count > before:
                    self._stored(name, before)
            if ready.all():
                del self._waiting[name]
            else:
                self._waiting[name] = [rows[~ready]]

    def ready(self, name: str, rows: Words) -> NDArray[np.bool_]:
        """Which facts have all of their values announced."""
        found, announced = np.ones(len(rows), np.bool_), self.held.occurrences.announced
        for column, position in self._told[name]:
            found &= announced[self.held.occurrences.find(rows[:, column]), position]
        return found
