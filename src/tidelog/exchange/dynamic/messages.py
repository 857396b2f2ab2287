"""What workers say to each other in an asynchronous evaluation. Each message is of a phase, and waits for it."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from tidelog.plain import dataclass
from tidelog.wire.messages import Message

Array = NDArray[Any]


@dataclass(frozen=True)
class PartialMatches(Message):
    """PAR: matches of the first `hop` look-ups of a plan, each with the time of its pivot. For each value that later
    look-ups or the head need: where it occurs (the paper's lambda), the `masks` of all values one after the other."""

    phase: int
    plan: int
    hop: int
    times: Array
    rows: Array
    values: Array
    lengths: tuple[int, ...]
    masks: Array


@dataclass(frozen=True)
class DerivedFacts(Message):
    """FCT, on the way to the owner: facts of a relation, and for each value in them who is known to have it."""

    phase: int
    clock: int
    relation: int
    rows: Array
    values: Array
    reach: Array


@dataclass(frozen=True)
class Announcement(Message):
    """FCT, on its tour: the sender is about to have these values at these positions. `tour` and `items` are for the
    answer."""

    phase: int
    clock: int
    tour: int
    items: Array
    values: Array
    positions: Array


@dataclass(frozen=True)
class Noted(Message):
    """The answer: it is noted, and this is what is known of the values here. Of their sets of workers, item by item and
    position by position, the words that are not zero: where they are, and what."""

    phase: int
    clock: int
    tour: int
    items: Array
    places: Array
    words: Array


@dataclass(frozen=True)
class Occurring(Message):
    """Before anything is derived: values, each with a position and a worker where it occurs."""

    phase: int
    values: Array
    positions: Array
    workers: Array


@dataclass(frozen=True)
class GatheredRows(Message):
    """Rows of a relation for the worker that evaluates a stratum for all."""

    phase: int
    relation: int
    rows: Array


@dataclass(frozen=True)
class RingToken(Message):
    """The token of Safra's ring: the balance of those that it has passed, and whether one of them was black."""

    phase: int
    count: int
    black: bool


@dataclass(frozen=True)
class Acknowledged(Message):
    """So many messages were worked off, and all that came of them, by Dijkstra and Scholten's tree."""

    phase: int
    count: int
    to_root: bool


@dataclass(frozen=True)
class PhaseEnded(Message):
    """Nobody has anything to do any more in this phase."""

    phase: int


Work = PartialMatches | DerivedFacts | Announcement | Noted | Occurring | GatheredRows
KINDS = (
    PartialMatches,
    DerivedFacts,
    Announcement,
    Noted,
    Occurring,
    GatheredRows,
    RingToken,
    Acknowledged,
    PhaseEnded,
)
