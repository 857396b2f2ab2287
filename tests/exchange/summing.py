"""Workers for the tests of processes: they exchange arrays, and do what else they are asked."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tidelog.errors import error
from tidelog.exchange.workers import LiveTransport
from tidelog.wire.messages import Message

Numbers = NDArray[np.uint32]


@dataclass(frozen=True)
class Deal(Message):
    """Send each peer its share of these numbers, in so many portions; the answer is the sum of what you were dealt."""

    numbers: Numbers
    portions: int = 1


@dataclass(frozen=True)
class Share(Message):
    numbers: Numbers
    hop: int = 0


@dataclass(frozen=True)
class Dealt(Message):
    """A marker: so many shares are on their way."""

    shares: int


@dataclass(frozen=True)
class Total(Message):
    total: int
    most_held: int = 0


@dataclass(frozen=True)
class Act(Message):
    what: str


KINDS = (Deal, Share, Dealt, Total, Act)


class Summing:
    def __init__(self, order: Any, transport: LiveTransport) -> None:
        if order == "refuse":
            raise error("TL1300", f"worker {transport.me} cannot open its state")
        self.transport = transport

    def answer(self, question: Message) -> Message:
        match question:
            case Deal():
                return self.deal(question)
            case Act("fail"):
                raise error("TL0805", "division by zero", help="divide by something else")
            case Act("break"):
                raise ZeroDivisionError("ours")
            case Act("die"):
                os.kill(os.getpid(), signal.SIGKILL)
            case Act("hang"):
                os.kill(os.getpid(), signal.SIGSTOP)
            case Act("wait"):
                while True:
                    self.transport.wait()
                    self.transport.receive()
            case Act("be late"):
                time.sleep(0.2)
                return self.deal(Deal(np.arange(10, dtype=np.uint32)))
        return Total(0)

    def deal(self, question: Deal) -> Total:
        transport, size = self.transport, self.transport.size
        for portion in np.array_split(question.numbers, question.portions):
            for peer in range(size):
                transport.send(peer, Share(portion[portion % size == peer]))
        for peer in range(size):
            transport.send(peer, Dealt(question.portions))
        total, shares, expected, markers = 0, 0, 0, 0
        while markers < size or shares < expected:
            transport.wait()
            for _, message in transport.receive():
                if isinstance(message, Dealt):
                    markers, expected = markers + 1, expected + message.shares
                elif isinstance(message, Share):
                    shares, total = shares + 1, total + int(message.numbers.sum(dtype=np.int64))
        return Total(total)
