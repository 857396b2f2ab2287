"""How messages travel, apart from who sends them: in one process, in the order that a scheduler likes.

A transport takes messages and hands them out, each exactly once, in any order it likes. What a node makes for itself
travels the same way, so that a schedule may delay it too, but is no message of the network and not counted. `hops` of
a message is the length of the chain of messages behind it: the longest chain is the number of rounds that the same run
takes when every message takes one unit of time.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from tidelog.net.program import Place
from tidelog.net.schedulers import Scheduler
from tidelog.net.values import Update


class InFlight(NamedTuple):
    """An update on its way, of so many copies; `source` is None if the user sent it. A trace knows it by `number`."""

    update: Update
    source: Place
    destination: Place
    hops: int = 0
    number: int = 0
    copies: int = 1

    @property
    def travels(self) -> bool:
        """Whether it goes from one node to another."""
        return self.source is not None and self.source != self.destination


class Delivery(Protocol):
    def send(self, message: InFlight) -> None:
        """Takes the message; it will be delivered once."""

    def deliver(self, batch: bool) -> list[InFlight]:
        """A message that arrives now; with `batch`, all that have arrived at the same node. Empty if none is there."""


class InProcess:
    """Everything in flight waits in a scheduler, which decides what arrives next."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler

    def send(self, message: InFlight) -> None:
        self._scheduler.add(message.update, message.source, message.destination, message)

    def deliver(self, batch: bool) -> list[InFlight]:
        first = self._scheduler.take()
        if first is None:
            return []
        arrived = [first.load]
        while batch:
            more = self._scheduler.take_at(first.destination)
            if more is None:
                break
            arrived.append(more.load)
        return arrived
