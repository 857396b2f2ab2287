"""Tours: how everyone who has a value is told that another worker is about to have it (the paper's lines 15 to 23).

The owner tells all workers that it knows to have the value, each answers with those that it knows, and whoever is new
among them is told as well, until nobody is. What is always true: any two tours of a value come to a common worker, and
the later one there hears of the earlier; so when a tour ends, its owner knows all who have the value, and they know of
the owner (Lemma 2). Values that are announced at one time make one tour. Cost: a message and an answer for each worker
and round, whatever the number of values; at the owner, a set of workers per value under way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from tidelog.evaluate.bindings import Words
from tidelog.exchange.dynamic import bits
from tidelog.exchange.dynamic.bits import Masks, Places
from tidelog.exchange.dynamic.messages import Announcement, Noted
from tidelog.exchange.dynamic.partial_matches import Held

Posted = tuple[int, Announcement | Noted]
"""A message, and whom it is for."""


class Tour:
    """Values that are announced together. `asked` are those who were told, `open` is how many of them are to answer."""

    def __init__(self, numbers: Places, values: Words, positions: NDArray[np.bool_], size: int) -> None:
        self.numbers, self.values, self.positions = numbers, values, positions
        self.asked = bits.none(size, len(values))
        self.open = np.zeros(len(values), np.int64)
        self.ended = np.zeros(len(values), np.bool_)


class Tours:
    """All tours of a worker, and its part in those of others."""

    def __init__(self, held: Held, announced: Callable[[Places, NDArray[np.bool_]], None]) -> None:
        self.held, self._announced = held, announced
        self._tours: dict[int, Tour] = {}
        self._count = 0

    def begin(
        self, phase: int, numbers: Places, values: Words, positions: NDArray[np.bool_], route: Masks
    ) -> Iterator[Posted]:
        """Announce distinct values at their positions to the workers on their routes."""
        self._count += 1
        tour = self._tours[self._count] = Tour(numbers, values, positions, self.held.size)
        yield from self._ask(phase, self._count, tour, route)

    def _ask(self, phase: int, number: int, tour: Tour, route: Masks) -> Iterator[Posted]:
        """Tell those on the routes that have not been told; what nobody need be told of any more is announced."""
        route = route & ~tour.asked & ~bits.of(self.held.me, self.held.size)
        for to in bits.members(bits.union(route)):
            items = np.flatnonzero(bits.has(route, to))
            tour.open[items] += 1
            yield (
                to,
                Announcement(
                    phase,
                    self.held.clock.now,
                    number,
                    items.astype(np.int32),
                    tour.values[items],
                    tour.positions[items],
                ),
            )
        tour.asked |= route
        over = (tour.open == 0) & ~tour.ended
        if over.any():
            tour.ended |= over
            self._announced(tour.numbers[over], tour.positions[over])
        if tour.ended.all():
            self._tours.pop(number, None)

    def answer(self, phase: int, messages: Iterable[tuple[int, Announcement]]) -> Iterator[Posted]:
        """Note what others announce (line 19), and tell them what is known here."""
        occurrences = self.held.occurrences
        for sender, message in messages:
            numbers = occurrences.enter(message.values.astype(np.int64))
            self.note(numbers, message.positions, sender)
            places, words = _sparse(self.known(numbers), self.held.size)
            yield sender, Noted(phase, self.held.clock.now, message.tour, message.items, places, words)

    def note(self, numbers: Places, positions: NDArray[np.bool_], sender: int) -> None:
        """The sender has these values, or will have."""
        occurrences = self.held.occurrences
        occurrences.masks[numbers] |= np.where(positions[:, :, None], bits.of(sender, self.held.size), np.uint64(0))

    def known(self, numbers: Places) -> Masks:
        return self.held.occurrences.masks[numbers]

    def go_on(self, phase: int, messages: Sequence[Noted]) -> Iterator[Posted]:
        """Answers to this worker's tours (line 18)."""
        occurrences, routes = self.held.occurrences, dict[int, Masks]()
        for message in messages:
            tour, items = self._tours[message.tour], message.items
            heard = _dense(message, (len(items), *occurrences.masks.shape[1:]))
            occurrences.put(tour.numbers[items], heard)
            tour.open[items] -= 1
            route = routes.setdefault(message.tour, bits.none(self.held.size, len(tour.values)))
            route[items] |= self.others(heard)
        for number, route in routes.items():
            yield from self._ask(phase, number, self._tours[number], route)

    def others(self, heard: Masks) -> Masks:
        """Whom an answer names, for each value."""
        return bits.union(heard, axis=1)


def _sparse(masks: Masks, size: int) -> tuple[NDArray[np.int32], NDArray[np.unsignedinteger]]:
    flat = masks.reshape(-1)
    places = np.flatnonzero(flat)
    return places.astype(np.int32), bits.packed(flat[places], size)


def _dense(message: Noted, shape: tuple[int, ...]) -> Masks:
    masks = np.zeros(shape, np.uint64)
    masks.reshape(-1)[message.places] = message.words
    return masks
