"""Who goes next: the order in which updates are picked, that is, in which messages arrive.

A scheduler holds every update of 𝒰 in some order of preference and hands out the first that may be picked. Nothing is
ever lost; a deletion that overtakes its insertion is passed over until the fact is there. An update may be withdrawn
(it met its complement in the buffer). Handing out costs one step, plus one for each deletion passed over.
"""

from __future__ import annotations

import heapq
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import Any, NamedTuple

from tidelog.errors import error
from tidelog.net.values import Update

MayPick = Callable[[Update], bool]


class PendingUpdate(NamedTuple):
    """An update that waits to be picked, the node that it is for, what travels with it, and of how many copies."""

    update: Update
    destination: Any
    load: Any
    copies: int = 1


class Scheduler:
    """First in, first out; the others override `candidates`, which gives the places of updates, most wanted first."""

    def __init__(self) -> None:
        self.pending: OrderedDict[int, PendingUpdate] = OrderedDict()
        self._at: dict[Any, OrderedDict[int, None]] = {}
        self._withdrawn: Counter[Update] = Counter()
        self._places = 0

    def add(
        self, update: Update, source: Any = None, destination: Any = None, load: Any = None, copies: int = 1
    ) -> None:
        """Copies of an update that the node `source` sends to the node `destination`; None sends those of a burst."""
        place = self._places
        self._places += 1
        self.pending[place] = PendingUpdate(update, destination, load, copies)
        at = self._at.get(destination)
        if at is None:
            at = self._at[destination] = OrderedDict()
        at[place] = None
        self.entered(place, update, source, destination)

    def next(self, may_pick: MayPick) -> Update | None:
        """The update that is picked now; None if none may be."""
        found = self.take(may_pick)
        return found and found.update

    def next_at(self, node: Any, may_pick: MayPick) -> Update | None:
        """The oldest update for this node that may be picked."""
        found = self.take_at(node, may_pick)
        return found and found.update

    def take(self, may_pick: MayPick | None = None) -> PendingUpdate | None:
        """`next`, with its destination and load; without `may_pick` anything may be."""
        return self._first(self.candidates(), may_pick)

    def take_at(self, node: Any, may_pick: MayPick | None = None) -> PendingUpdate | None:
        """`next_at`, with its destination and load."""
        return self._first(iter(self._at.get(node, ())), may_pick)

    def withdraw(self, update: Update, copies: int = 1) -> None:
        """So many copies of the update will not be handed out."""
        self._withdrawn[update] += copies

    def candidates(self) -> Iterator[int]:
        return iter(self.pending)

    def entered(self, place: int, update: Update, source: Any, destination: Any) -> None:
        """An update came in at this place."""

    def left(self, place: int) -> None:
        """The update at this place is gone."""

    def _first(self, places: Iterator[int], may_pick: MayPick | None) -> PendingUpdate | None:
        dropped: list[int] = []
        found: PendingUpdate | None = None
        for place in places:
            waiting = self.pending[place]
            if self._withdrawn and self._withdrawn[waiting.update] > 0:
                withdrawn = min(waiting.copies, self._withdrawn[waiting.update])
                self._withdrawn[waiting.update] -= withdrawn
                waiting = self.pending[place] = waiting._replace(copies=waiting.copies - withdrawn)
            if not waiting.copies:
                dropped.append(place)
            elif may_pick is None or may_pick(waiting.update):
                found = waiting
                dropped.append(place)
                break
        for place in dropped:
            del self._at[self.pending.pop(place).destination][place]
            self.left(place)
        return found

    def __len__(self) -> int:
        """How many copies wait."""
        return sum(waiting.copies for waiting in self.pending.values()) - self._withdrawn.total()


class Fifo(Scheduler):
    """The oldest update first."""


class Lifo(Scheduler):
    """The newest update first."""

    def candidates(self) -> Iterator[int]:
        return reversed(self.pending)


class Shuffled(Scheduler):
    """Any update, each equally likely; the seed decides."""

    def __init__(self, seed: int = 0) -> None:
        super().__init__()
        self._random = Random(seed)
        self._order: list[int] = []
        self._index: dict[int, int] = {}

    def entered(self, place: int, update: Update, source: Any, destination: Any) -> None:
        self._index[place] = len(self._order)
        self._order.append(place)

    def left(self, place: int) -> None:
        index, last = self._index.pop(place), self._order.pop()
        if last != place:
            self._order[index] = last
            self._index[last] = index

    def candidates(self) -> Iterator[int]:
        """A random place; if it is refused, the others from there on."""
        start = self._random.randrange(len(self._order)) if self._order else 0
        return (self._order[(start + i) % len(self._order)] for i in range(len(self._order)))


class Ranked(Scheduler):
    """The lowest rank first, the oldest of it first (or the newest); `rank` sees the update and its destination."""

    def __init__(self, rank: Callable[[Update, Any], int], newest: bool = False) -> None:
        super().__init__()
        self._rank, self._newest = rank, newest
        self._ranks: dict[int, OrderedDict[int, None]] = {}
        self._rank_of: dict[int, int] = {}

    def entered(self, place: int, update: Update, source: Any, destination: Any) -> None:
        rank = self._rank_of[place] = self._rank(update, destination)
        self._ranks.setdefault(rank, OrderedDict())[place] = None

    def left(self, place: int) -> None:
        del self._ranks[self._rank_of.pop(place)][place]

    def candidates(self) -> Iterator[int]:
        for rank in sorted(self._ranks):
            yield from reversed(self._ranks[rank]) if self._newest else self._ranks[rank]


class Delayed(Scheduler):
    """Each link takes its own time, with some jitter: messages overtake one another as on a real network.

    `delays` gives the delay of a link (source, destination); other links take `usual`. An update of a burst takes none.
    """

    def __init__(
        self,
        delays: Mapping[tuple[Any, Any], float] | None = None,
        usual: float = 1.0,
        jitter: float = 1.0,
        seed: int = 0,
    ) -> None:
        super().__init__()
        self._delays, self._usual, self._jitter = delays or {}, usual, jitter
        self._random = Random(seed)
        self._heap: list[tuple[float, int]] = []
        self.now = 0.0

    def entered(self, place: int, update: Update, source: Any, destination: Any) -> None:
        takes = 0.0
        if source is not None and source != destination:
            takes = self._delays.get((source, destination), self._usual) + self._random.random() * self._jitter
        heapq.heappush(self._heap, (self.now + takes, place))

    def candidates(self) -> Iterator[int]:
        """In order of arrival. What is passed over is looked at again next time."""
        passed: list[tuple[float, int]] = []
        try:
            while self._heap:
                arrival, place = heapq.heappop(self._heap)
                if place not in self.pending:
                    continue
                passed.append((arrival, place))
                self.now = max(self.now, arrival)
                yield place
        finally:
            for entry in passed:
                heapq.heappush(self._heap, entry)


def deletions_first(newest: bool = True) -> Scheduler:
    """Adversarial: a deletion before any insertion, the newest before the oldest."""
    return Ranked(lambda update, _: update.sign, newest)


def insertions_first() -> Scheduler:
    return Ranked(lambda update, _: -update.sign)


def starving(node: Any) -> Scheduler:
    """Adversarial: the node receives nothing while there is anything for others."""
    return Ranked(lambda _, destination: int(destination == node), newest=True)


def scheduler(
    name: str, seed: int = 0, node: Any = None, delays: Mapping[tuple[Any, Any], float] | None = None
) -> Scheduler:
    """The scheduler of this name: fifo, lifo, random, deletions-first, insertions-first, starve, delays.

    `starve` keeps `node` waiting. With `delays` each link takes exactly its time, without any the time is random.
    """
    makers: dict[str, Callable[[], Scheduler]] = {
        "fifo": Fifo,
        "lifo": Lifo,
        "random": lambda: Shuffled(seed),
        "deletions-first": deletions_first,
        "insertions-first": insertions_first,
        "starve": lambda: starving(node),
        "delays": lambda: Delayed(delays, jitter=0.0 if delays else 1.0, seed=seed),
    }
    if name not in makers:
        raise error("TL1042", f"there is no schedule `{name}`", help=f"there are {', '.join(makers)}")
    return makers[name]()
