"""Where the values of a slot occur, as it travels with matches (the paper's partial occurrences, lambda).

For each distinct value, a set of workers per use: a position by which a later leg looks it up, or `IN_HEAD`, for all
who have the value anywhere. What is always true: the set has every worker that had it at that position when the value
was matched; it may have more, as matches that travel together share what is known of a value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tidelog.evaluate.bindings import Words
from tidelog.exchange.dynamic import bits
from tidelog.exchange.dynamic.bits import Masks, Places
from tidelog.plain import dataclass
from tidelog.plan.exchange.phases import Position

IN_HEAD = None
Use = Position | None


@dataclass(frozen=True)
class KnownPlaces:
    """`values` in ascending order; for each use, the sets of all of them."""

    values: Words
    sets: Mapping[Use, Masks]

    def of(self, column: Words, use: Use) -> Masks:
        """For each value of a column, its workers."""
        return self.sets[use][self.places(column)]

    def places(self, column: Words) -> Places:
        return np.searchsorted(self.values, column)

    def only(self, column: Words, uses: Sequence[Use]) -> KnownPlaces:
        """What is known of the values in a column, as far as it has a use."""
        kept = np.unique(self.places(column))
        return KnownPlaces(self.values[kept], {use: self.sets[use][kept] for use in uses})


def united(known: Sequence[KnownPlaces]) -> KnownPlaces:
    """What is known of the values of several of them, with the same uses."""
    values, places = np.unique(np.concatenate([each.values for each in known]), return_inverse=True)
    sets: dict[Use, Masks] = {}
    for use, masks in known[0].sets.items():
        sets[use] = np.zeros((len(values), masks.shape[1]), np.uint64)
        np.bitwise_or.at(sets[use], places, np.concatenate([each.sets[use] for each in known]))
    return KnownPlaces(values, sets)


def to_wire(known: Sequence[KnownPlaces], size: int) -> tuple[Words, tuple[int, ...], Masks]:
    """Several of them as plain arrays."""
    values = np.concatenate([each.values for each in known]) if known else np.empty(0, np.int64)
    sets = [masks.reshape(-1) for each in known for masks in each.sets.values()]
    flat = np.concatenate(sets) if sets else np.empty(0, np.uint64)
    return values, tuple(len(each.values) for each in known), bits.packed(flat, size)


def from_wire(
    values: Words, lengths: Sequence[int], masks: Masks, uses: Sequence[Sequence[Use]], size: int
) -> list[KnownPlaces]:
    found, at, start, words = [], 0, 0, bits.words_for(size)
    masks = bits.unpacked(masks)
    for length, some in zip(lengths, uses, strict=True):
        sets = {}
        for use in some:
            sets[use] = masks[at : at + length * words].reshape(length, words)
            at += length * words
        found.append(KnownPlaces(values[start : start + length].astype(np.int64), sets))
        start += length
    return found
