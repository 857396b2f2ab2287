"""Waves: what all workers send each other before any of them goes on.

A *phase* is a round of an evaluation, and has some waves. What belongs to a wave is sent in portions, in any order; a
marker for each pair of workers says how many portions there were, and carries numbers that all are to know: so what is
agreed on needs no messages of its own. What is of a later phase waits. What is always true: a wave ends for a worker
when it has every portion of it; by then it knows the numbers of all. Cost: a message per pair and wave, and the data.

A worker that fails says so, and all others end what they do with `PeerFailed`. What workers do together has a number,
so that what is still under way of something that was given up is not mistaken for what comes next.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tidelog.evaluate.bindings import Words
from tidelog.exchange.transport import PeerFailed, WaitingTransport
from tidelog.plain import dataclass
from tidelog.wire.messages import Message


@dataclass(frozen=True)
class Portion(Message):
    """Rows for a port."""

    phase: int
    wave: int
    port: int
    rows: NDArray[Any]


@dataclass(frozen=True)
class Marker(Message):
    """The end of a wave for one receiver."""

    phase: int
    wave: int
    portions: int
    numbers: tuple[int, ...]


@dataclass(frozen=True)
class GaveUp(Message):
    """The sender has given up what all do, in this phase or a later one."""

    phase: int


class Waves:
    """See the module's docstring."""

    def __init__(self, line: WaitingTransport) -> None:
        self.line, self.me, self.size = line, line.me, line.size
        self.phase = self._start = 0
        self._sent: Counter[tuple[int, int]] = Counter()  # of this phase: (wave, to) -> portions
        self._portions: defaultdict[tuple[int, int], list[Portion]] = defaultdict(list)  # (phase, wave), not taken yet
        self._came: Counter[tuple[int, int, int]] = Counter()  # (phase, wave, from) -> portions
        self._markers: defaultdict[tuple[int, int], dict[int, Marker]] = defaultdict(dict)
        self._failed = False

    def start(self, task: int) -> None:
        """The next thing that all do together, by its number; what is left of those before is dropped."""
        self.phase = self._start = task << 24
        self._sent.clear()
        self._failed = False
        kept: tuple[dict[Any, Any], ...] = self._portions, self._came, self._markers
        for held in kept:
            for key in [key for key in held if key[0] < self._start]:
                del held[key]

    def begin(self) -> None:
        """The next phase."""
        self.phase += 1
        self._sent.clear()

    def send(self, to: int, wave: int, port: int, rows: Words) -> None:
        """Rows for a port, which become part of a wave of this phase."""
        portion = Portion(self.phase, wave, port, narrow(rows))
        if to == self.me:
            self._portions[self.phase, wave].append(portion)
        else:
            self._sent[wave, to] += 1
            self.line.send(to, portion)

    def end(self, wave: int, numbers: Sequence[int] = ()) -> list[tuple[int, ...]]:
        """Say that this worker has sent all of a wave, and wait for that of the others; the numbers of all."""
        numbers = tuple(map(int, numbers))
        for to in range(self.size):
            if to != self.me:
                self.line.send(to, Marker(self.phase, wave, self._sent[wave, to], numbers))
        place = self.phase, wave
        while not self._complete(*place):
            if not self._take():
                self.line.wait()
        markers = self._markers.pop(place, {})
        return [numbers if worker == self.me else markers[worker].numbers for worker in range(self.size)]

    def arrived(self, wave: int) -> list[tuple[int, Words]]:
        """What has come in a wave that has ended: ports, and rows for them."""
        return [(portion.port, portion.rows) for portion in self._portions.pop((self.phase, wave), [])]

    def look(self) -> None:
        """Raise `PeerFailed` if what all do was given up, for a worker that computes for long without a wave."""
        self.line.look()

    def fail(self) -> None:
        """Tell the others that nothing more will come of what all do."""
        for to in range(self.size):
            if to != self.me:
                self.line.send(to, GaveUp(self.phase))

    def _complete(self, phase: int, wave: int) -> bool:
        markers = self._markers[phase, wave]
        return len(markers) == self.size - 1 and all(
            self._came[phase, wave, sender] == marker.portions for sender, marker in markers.items()
        )

    def _take(self) -> bool:
        """Sort what has come; whether there was anything."""
        come = self.line.receive()
        for sender, message in come:
            match message:
                case Portion() | Marker() | GaveUp() if message.phase < self._start:
                    pass  # of something that was given up
                case Portion(phase=phase, wave=wave):
                    self._portions[phase, wave].append(message)
                    self._came[phase, wave, sender] += 1
                case Marker(phase=phase, wave=wave):
                    self._markers[phase, wave][sender] = message
                case GaveUp():
                    self._failed = True
        if self._failed:
            raise PeerFailed
        return bool(come)


def narrow(rows: Words) -> Words:
    """The same rows in words of 32 bits, if these suffice; bytes as they are."""
    if rows.dtype == np.uint8:
        return np.ascontiguousarray(rows)
    if rows.dtype == np.int32 or not rows.size:
        return np.ascontiguousarray(rows, np.int32)
    fits = rows.min() >= -(2**31) and rows.max() < 2**31
    return np.ascontiguousarray(rows, np.int32 if fits else np.int64)
