"""The facts that a worker owns, and how the others are told of them (the paper's FCT messages, lines 15 to 23).

A derived fact goes to its owner first, which drops it if it is known. A fact is stored once each of its values is
*announced* at its position here: everyone who has the value knows that it occurs here, too. Until then the fact waits,
and takes part in nothing. What is announced is a value at a position, once, however many facts wait for it: it goes on
a tour of all workers that are known to have the value, and each adds those that it knows and that were not known
before. The owner is last. What is always true: whoever a tour has heard of is told before it ends. Whether something is
announced is told from what has ended, never from the map, which has it as soon as the tour begins.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from tidelog.evaluate.bindings import Words
from tidelog.exchange.dynamic import bits
from tidelog.exchange.dynamic.bits import Masks, Places
from tidelog.exchange.dynamic.messages import Announcement, DerivedFacts
from tidelog.exchange.dynamic.partial_matches import Held
from tidelog.store import Relation

Stored = Callable[[str, int], None]
"""Told of rows that were stored: the relation, and how many there were before."""


class OwnedFacts:
    """See the module's docstring."""

    def __init__(self, held: Held, relations: Sequence[str], stored: Stored) -> None:
        self.held, self.relations, self._stored = held, relations, stored
        self._waiting: defaultdict[str, list[Words]] = defaultdict(list)
        self._columns = {name: self._positions(name) for name in relations}

    def _positions(self, name: str) -> Places:
        arity = self._relation(name).arity
        return np.array([self.held.positions[name, column] for column in range(arity)], np.int64)

    def _relation(self, name: str) -> Relation:
        found: Relation = self.held.context.database[name]
        return found

    @property
    def waiting(self) -> int:
        """How many facts wait for their announcements."""
        return sum(len(rows) for some in self._waiting.values() for rows in some)

    # ---- facts

    def take(self, phase: int, messages: Iterable[DerivedFacts]) -> Iterator[tuple[int, Announcement]]:
        """Derived facts that this worker owns; what is to be told of them. The clock is past their messages'."""
        fresh: list[tuple[Words, Places]] = []  # values and positions that may have to be announced
        told: list[tuple[Words, Masks]] = []
        for message in messages:
            name = self.relations[message.relation]
            rows = message.rows.astype(np.int64)
            new = rows[~self._relation(name).contains(rows)]
            if len(new):
                self._waiting[name].append(new)
                fresh += [(new[:, c], np.full(len(new), p)) for c, p in enumerate(self._columns[name].tolist())]
                told.append((message.values.astype(np.int64), bits.unpacked(message.reach)))
        if fresh:
            yield from self._announce(phase, fresh, told)
        self._store_ready()

    def _announce(
        self, phase: int, fresh: list[tuple[Words, Places]], told: list[tuple[Words, Masks]]
    ) -> Iterator[tuple[int, Announcement]]:
        """Begin the tours of what is neither announced nor on its way."""
        held, occurrences = self.held, self.held.occurrences
        values, positions = (np.concatenate(part) for part in zip(*fresh, strict=True))
        numbers = occurrences.enter(values)
        new = ~self.settled(numbers, positions)
        numbers, positions = numbers[new], positions[new]
        if not len(numbers):
            return
        occurrences.underway[numbers, positions] = True
        mine = bits.of(held.me, held.size)
        occurrences.masks[numbers, positions] |= mine
        distinct, first = np.unique(numbers, return_index=True)
        announces = np.zeros((len(distinct), occurrences.masks.shape[1]), np.bool_)
        announces[np.searchsorted(distinct, numbers), positions] = True
        words = values[new][first]
        route = occurrences.reach(distinct) | held.meeting(words)
        order = np.argsort(words)
        for some, reach in told:
            places = np.minimum(np.searchsorted(words, some, sorter=order), len(words) - 1)
            at = order[places]
            hit = words[at] == some
            np.bitwise_or.at(route, at[hit], reach[hit])
        route &= ~mine
        yield from self._onward(phase, held.me, words, announces, occurrences.masks[distinct], route)

    def settled(self, numbers: Places, positions: Places) -> NDArray[np.bool_]:
        """What need not be announced: it is, or is being."""
        occurrences = self.held.occurrences
        found: NDArray[np.bool_] = occurrences.announced[numbers, positions] | occurrences.underway[numbers, positions]
        return found

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
                self._stored(name, before)
            if ready.all():
                del self._waiting[name]
            else:
                self._waiting[name] = [rows[~ready]]

    def ready(self, name: str, rows: Words) -> NDArray[np.bool_]:
        """Which facts have all of their values announced."""
        found, announced = np.ones(len(rows), np.bool_), self.held.occurrences.announced
        for column, position in enumerate(self._columns[name].tolist()):
            found &= announced[self.held.occurrences.find(rows[:, column]), position]
        return found

    # ---- tours

    def pass_on(self, phase: int, messages: Sequence[Announcement]) -> Iterator[tuple[int, Announcement]]:
        """Announcements that have come here, of this worker or of others. All are heard before any goes on, so that
        what goes on together is told the same."""
        occurrences = self.held.occurrences
        heard = []
        for message in messages:
            numbers = occurrences.enter(message.values.astype(np.int64))
            masks = self._unpacked(message)
            self.hear(numbers, masks)
            heard.append((message, numbers, masks))
        for message, numbers, masks in heard:
            now = occurrences.masks[numbers]
            route = self.route(message.route, now, masks)
            yield from self._onward(
                phase, message.owner, message.values, message.positions, self.spread(now, masks), route
            )
        self._store_ready()

    def _unpacked(self, message: Announcement) -> Masks:
        shape = len(message.values), self.held.occurrences.masks.shape[1], bits.words_for(self.held.size)
        return bits.unpacked(message.masks).reshape(shape)

    def hear(self, numbers: Places, masks: Masks) -> None:
        """Line 19: what the tour has heard so far is known here, too."""
        self.held.occurrences.put(numbers, masks)

    def route(self, route: NDArray[np.uint64], now: Masks, masks: Masks) -> Masks:
        """Line 18: on the way are, for each value, those that it had before and those that are known here and were not
        known to the tour."""
        found = np.repeat(bits.unpacked(route)[None], len(now), axis=0) | bits.union(now & ~masks, axis=1)
        return found & ~bits.of(self.held.me, self.held.size)

    def spread(self, now: Masks, masks: Masks) -> Masks:
        """What the tour has heard when it goes on."""
        return now

    def _onward(
        self, phase: int, owner: int, values: Words, positions: NDArray[np.bool_], masks: Masks, route: Masks
    ) -> Iterator[tuple[int, Announcement]]:
        """To the next worker on the way, and last to the owner; those that have the same way go together."""
        held = self.held
        route = route & ~bits.of(owner, held.size)
        ways, which = np.unique(route, axis=0, return_inverse=True)
        for number, way in enumerate(ways):
            chosen = which.reshape(-1) == number
            others = bits.members(way)
            if not others and owner == held.me:
                self._announced(values[chosen], positions[chosen])
                continue
            to = self.next_stop(others) if others else owner
            left = way & ~bits.of(to, held.size)
            shown = bits.packed(masks[chosen].reshape(-1), held.size)
            yield (
                to,
                Announcement(
                    phase, held.clock.now, owner, bits.packed(left, held.size), values[chosen], positions[chosen], shown
                ),
            )

    def next_stop(self, others: list[int]) -> int:
        """Behind this worker in the ring, so that not all tours go to the first at once."""
        return min(others, key=lambda other: (other - self.held.me) % self.held.size)

    def _announced(self, values: Words, positions: NDArray[np.bool_]) -> None:
        occurrences = self.held.occurrences
        numbers = occurrences.find(np.asarray(values, np.int64))
        occurrences.announced[numbers] |= positions
        occurrences.underway[numbers] &= ~positions
