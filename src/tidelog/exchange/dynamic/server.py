"""A worker of an asynchronous evaluation: a `transport.Peer` that holds its part of all relations (Algorithm 1).

It takes facts that have not been a pivot yet, and messages, in any order; a piece of work is a batch of either. What is
worked off first is what asks for least memory: announcements and facts for which others may wait, then partial matches
that have come furthest, then new pivots. When there is nothing to do, the detector of the phase is asked; when a phase
is over everywhere, the next begins. Messages of a phase that has not begun here wait for it. What is always true:
nothing is under way between two phases; each fact is on the worker that owns it, and nowhere else.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum

import numpy as np

from tidelog.evaluate.bindings import Words
from tidelog.exchange.dynamic import bits
from tidelog.exchange.dynamic.clocks import Times
from tidelog.exchange.dynamic.gathering import AtFirst
from tidelog.exchange.dynamic.introductions import Introductions
from tidelog.exchange.dynamic.known_places import IN_HEAD
from tidelog.exchange.dynamic.messages import (
    Announcement,
    DerivedFacts,
    GatheredRows,
    Noted,
    Occurring,
    PartialMatches,
    PhaseEnded,
    Work,
)
from tidelog.exchange.dynamic.occurrences import UNTOLD
from tidelog.exchange.dynamic.owned_facts import OwnedFacts
from tidelog.exchange.dynamic.partial_matches import Derived, Held, Matching, Outgoing
from tidelog.exchange.dynamic.termination import Detector, MakeDetector
from tidelog.exchange.homes import FIRST
from tidelog.exchange.transport import PeerFailed, Transport
from tidelog.exchange.waves import GaveUp, narrow
from tidelog.plain import dataclass
from tidelog.plan.exchange.phases import NOTHING, AsyncPhase, PivotPlan
from tidelog.wire.messages import Message

MOST_PIVOTS = 1 << 14
"""Facts that become pivots in one piece of work."""


class Does(Enum):
    """What is done in a phase: say which values one has; say who else has them; match rules; send to the first worker
    what a stratum reads; have it evaluated there."""

    INTRODUCE = 0
    INFORM = 1
    MATCH = 2
    GATHER = 3
    EVALUATE = 4


@dataclass(frozen=True)
class PlannedPhase:
    """A phase with its plans."""

    does: Does
    phase: AsyncPhase = NOTHING
    plans: tuple[PivotPlan, ...] = ()


INTRODUCTIONS = (PlannedPhase(Does.INTRODUCE), PlannedPhase(Does.INFORM))


class Tally:
    """What a worker has done; whoever wants to see more, sees it here."""

    def __init__(self) -> None:
        self.derived = 0
        self.looked_at = 0

    def stored(self, server: Server, relation: str, before: int) -> None:
        """Rows of a relation were stored."""

    def fired(self, server: Server, plan: PivotPlan, derived: Derived) -> None:
        """A rule has derived heads."""
        self.derived += len(derived.rows)


class Server:
    """See the module's docstring."""

    matching_class: type[Matching] = Matching
    owning_class: type[OwnedFacts] = OwnedFacts

    def __init__(
        self,
        transport: Transport,
        held: Held,
        phases: Sequence[PlannedPhase],
        make_detector: MakeDetector,
        at_first: AtFirst | None = None,
        tally: Tally | None = None,
    ) -> None:
        self.transport, self.held, self.phases, self._make_detector = transport, held, phases, make_detector
        self.tally = tally or Tally()
        self.done = False
        self.phase = -1
        self.names = sorted(held.clock.times)
        self._numbers = {name: number for number, name in enumerate(self.names)}
        self.owned = self.owning_class(held, self.names, self._stored)
        self.pivoted: dict[str, int] = dict.fromkeys(self.names, 0)  # rows before this one have been pivots
        self._at_first, self._introductions = at_first, Introductions(held)
        self._later: defaultdict[int, list[tuple[int, Message]]] = defaultdict(list)
        self._facts: list[DerivedFacts] = []
        self._announcements: list[tuple[int, Announcement]] = []
        self._answers: list[Noted] = []
        self._matches: list[PartialMatches] = []
        self._starting: list[int] = []
        self.detector: Detector
        self.matching: Matching
        self._begin(0)

    # ---- phases

    def _begin(self, number: int) -> None:
        self.phase = number
        if number == len(self.phases):
            self.done = True
            return
        planned, held = self.phases[number], self.held
        self.detector = self._make_detector(self.transport, number)
        own = planned.phase.relations
        self.matching = self.matching_class(held, number, planned.plans, sorted(own))
        self._starting = [n for n, plan in enumerate(planned.plans) if plan.pivot is None and held.me == FIRST]
        for name in self.matching.by_pivot:
            self.pivoted[name] = 0
        for name in self.names:
            if name not in self.matching.by_pivot:
                self.pivoted[name] = held.context.database[name].count
        self._open(planned)
        for sender, message in self._later.pop(number, []):
            self._sort(sender, message)

    def _open(self, planned: PlannedPhase) -> None:
        """What a phase begins with, besides matching."""
        match planned.does:
            case Does.INTRODUCE:
                self._post_all(self._introductions.introduce(self.phase))
            case Does.INFORM:
                self._post_all(self._introductions.inform(self.phase))
            case Does.GATHER:
                self._gather(planned.phase)
            case Does.EVALUATE if self._at_first is not None:
                for name, rows in self._at_first.evaluate(planned.phase):
                    self._derived(Derived(name, rows, {}))

    def _gather(self, phase: AsyncPhase) -> None:
        database, own = self.held.context.database, sorted(phase.relations)
        for name in dict.fromkeys((*phase.inputs, *own)):
            if database[name].count:
                rows = narrow(database[name].rows())
                self._post(FIRST, GatheredRows(self.phase, self._numbers[name], rows))
        for name in own:  # what is given may not stay: all of it comes back from the first
            database[name].clear()
            self.held.clock.times[name] = Times(database[name])

    # ---- work

    def act(self) -> bool:
        for sender, message in self.transport.receive():
            self._sort(sender, message)
        if self.done:
            return True
        if self.work():
            return True
        told = self.detector.idle()
        return self._look_for_the_end() or told

    def _sort(self, sender: int, message: Message) -> None:
        if isinstance(message, GaveUp):
            raise PeerFailed
        phase: int = message.phase  # type: ignore[attr-defined]
        if phase > self.phase or self.done:
            self._later[phase].append((sender, message))
            return
        if isinstance(message, Work):
            self.detector.taken(sender)
            self._take(sender, message)
        elif isinstance(message, PhaseEnded):
            self._begin(self.phase + 1)
        else:
            self.detector.heard(sender, message)
            self._look_for_the_end()

    def _take(self, sender: int, message: Work) -> None:
        match message:
            case PartialMatches():
                self._matches.append(message)
            case DerivedFacts():
                self._facts.append(message)
            case Announcement():
                self._announcements.append((sender, message))
            case Noted():
                self._answers.append(message)
            case Occurring() if self.phases[self.phase].does is Does.INTRODUCE:
                self._introductions.hear(message)
            case Occurring():
                self._introductions.learn(message)
            case GatheredRows():
                assert self._at_first is not None
                self._at_first.gather(self.names[message.relation], message.rows)

    def _look_for_the_end(self) -> bool:
        if self.done or not self.detector.ended:
            return False
        ended = PhaseEnded(self.phase)
        for to in range(self.transport.size):
            if to != self.held.me:
                self.transport.send(to, ended)
        self._begin(self.phase + 1)
        return True

    def work(self) -> bool:
        """One piece of work; false if there is none."""
        return any(kind() for kind in self.order())

    def order(self) -> list[Callable[[], bool]]:
        """What is worked off first."""
        return [self.answer, self.hear, self.own, self.match, self.start, self.pivot]

    def answer(self) -> bool:
        """Note what others announce, and answer."""
        come, self._announcements = self._announcements, []
        if come:
            self.hear_of(*(message.clock for _, message in come))
            self._post_all(self.owned.answer(self.phase, come))
        return bool(come)

    def hear(self) -> bool:
        """Go on with what this worker announces."""
        answers, self._answers = self._answers, []
        if answers:
            self.hear_of(*(message.clock for message in answers))
            self._post_all(self.owned.hear(self.phase, answers))
        return bool(answers)

    def own(self) -> bool:
        """Take facts that are this worker's."""
        facts, self._facts = self._facts, []
        if facts:
            self.held.clock.synchronise(max(message.clock for message in facts))
            self._post_all(self.owned.take(self.phase, facts))
        return bool(facts)

    def hear_of(self, *times: int) -> None:
        """Line 16, for what is on a tour."""
        self.held.clock.synchronise(max(times))

    def match(self) -> bool:
        """Go on with matches that have come furthest, all of one plan."""
        if not self._matches:
            return False
        first = max(self._matches, key=lambda message: message.hop)
        same = [m for m in self._matches if (m.plan, m.hop) == (first.plan, first.hop)]
        self._matches = [m for m in self._matches if (m.plan, m.hop) != (first.plan, first.hop)]
        self.go_on(same)
        return True

    def go_on(self, messages: Sequence[PartialMatches]) -> None:
        self.held.clock.synchronise(max(int(message.times.max()) for message in messages))
        self._all(self.matching.plans[messages[0].plan], self.matching.arrive(messages))

    def start(self) -> bool:
        """A rule without atoms."""
        if not self._starting:
            return False
        number = self._starting.pop()
        self._all(self.matching.plans[number], self.matching.start(number))
        return True

    def pivot(self) -> bool:
        """Facts that have not been pivots, of one relation."""
        for name in self.matching.by_pivot:
            if self.pivoted[name] < self.held.context.database[name].count:
                self.begin_with(name, MOST_PIVOTS)
                return True
        return False

    def begin_with(self, name: str, most: int) -> None:
        """Some facts of a relation as pivots. Those without a time get one, and the clock moves past it before anything
        leaves."""
        relation, clock, start = self.held.context.database[name], self.held.clock, self.pivoted[name]
        stop = min(relation.count, start + most)
        if clock.times[name].stamped < stop:
            clock.stamp()
        times = clock.times[name].of(np.arange(start, stop))
        clock.synchronise(int(times[-1]))
        self.pivoted[name] = stop
        rows = relation.rows()[start:stop]
        for number in self.matching.by_pivot[name]:
            self._all(self.matching.plans[number], self.matching.pivots(number, rows, times))

    # ---- what goes out

    def _all(self, plan: PivotPlan, outgoing: Iterable[Outgoing]) -> None:
        for each in outgoing:
            if isinstance(each, Derived):
                self.tally.fired(self, plan, each)
                self._derived(each)
            else:
                self._post(*each)

    def _derived(self, derived: Derived) -> None:
        """Heads, each once, to their owners."""
        rows = np.unique(derived.rows, axis=0) if derived.rows.shape[1] else derived.rows[:1]
        owners = self.held.owners(derived.relation, rows)
        relation = self._numbers[derived.relation]
        for to in np.unique(owners).tolist():
            part = rows[owners == to]
            values, reach = self._reach(derived, part)
            shown = bits.packed(reach, self.held.size)
            self._post(to, DerivedFacts(self.phase, self.held.clock.now, relation, narrow(part), narrow(values), shown))

    def _reach(self, derived: Derived, rows: Words) -> tuple[Words, bits.Masks]:
        """For each value in the rows of which others are told, who is known to have it."""
        told = [c for c in range(rows.shape[1]) if self.held.positions[derived.relation, c] != UNTOLD]
        values = np.unique(rows[:, told])
        reach = bits.none(self.held.size, len(values))
        for column, known in derived.known.items():
            some = np.unique(rows[:, column])
            reach[np.searchsorted(values, some)] |= known.of(some, IN_HEAD)
        return values, reach

    def _post(self, to: int, message: Work) -> None:
        if to == self.held.me:
            self._take(to, message)
        else:
            self.detector.sent()
            self.transport.send(to, message)

    def _post_all(self, posted: Iterable[tuple[int, Work]]) -> None:
        for to, message in posted:
            self._post(to, message)

    def _stored(self, name: str, before: int) -> None:
        if name not in self.matching.by_pivot:
            self.pivoted[name] = self.held.context.database[name].count
        self.tally.stored(self, name, before)

    # ---- contents

    def rows(self) -> Mapping[str, Words]:
        """The facts that this worker has."""
        return {name: self.held.context.database[name].rows() for name in self.names}
