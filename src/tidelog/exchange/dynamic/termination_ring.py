"""A ring that a token goes round, with Safra's counts.

Dijkstra's ring as the paper prints it needs a token that overtakes no message, and from three workers on no order
between pairs gives that. So every worker counts what it has sent less what it has taken, and is black after it has
taken something. The token sums the counts of those that it passes while they are idle, and is black if one of them
was; who passes it on is white. If the first worker has it back, is idle and white, the token is white, and all counts
sum up to zero, the phase is over.
Cost: a message per worker and round, and no more rounds than times that somebody has been idle.
"""

from __future__ import annotations

from tidelog.exchange.dynamic.messages import RingToken
from tidelog.exchange.transport import Transport
from tidelog.wire.messages import Message


class Ring:
    """A `termination.Detector`."""

    def __init__(self, transport: Transport, phase: int) -> None:
        self._transport, self._phase = transport, phase
        self.ended = False
        self.balance, self.black = 0, False
        first = transport.me == 0
        self._token: RingToken | None = RingToken(phase, 0, True) if first else None

    def sent(self) -> None:
        self.balance += 1

    def taken(self, sender: int) -> None:
        self.balance -= 1
        self.black = True

    def heard(self, sender: int, message: Message) -> None:
        assert isinstance(message, RingToken), message
        self._token = message

    def idle(self) -> bool:
        token, line = self._token, self._transport
        if token is None or self.ended:
            return False
        count, black = token.count + self.balance, token.black or self.black
        self._token, self.black = None, False
        if line.me == 0:
            if self.over(count, black):
                self.ended = True
                return True
            count, black = 0, False
        line.send((line.me + 1) % line.size, RingToken(self._phase, count, black))
        return True

    def over(self, count: int, black: bool) -> bool:
        return not black and count == 0
