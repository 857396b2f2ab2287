"""How workers find out that a phase is over: nobody has work, and nothing is on its way.

A detector is told of every message of work that is sent and taken, and asked when its worker has nothing to do. What is
always true: it says that the phase is over only when that is so, and in the end it does. Messages of the detectors
themselves do not count. The first worker is the one that finds it out, and tells the others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from tidelog.exchange.transport import Transport
from tidelog.wire.messages import Message


class Detector(Protocol):
    """Of one worker and one phase."""

    ended: bool
    """Whether this worker has found out that the phase is over; only the first does."""

    def sent(self) -> None:
        """A message of work has left."""

    def taken(self, sender: int) -> None:
        """A message of work has come, and will be worked off."""

    def heard(self, sender: int, message: Message) -> None:
        """Another worker's detector says something."""

    def idle(self) -> bool:
        """There is nothing to do. Whether there was something to tell others."""
        ...


MakeDetector = Callable[[Transport, int], Detector]
"""Makes the detector of a phase, by its number."""
