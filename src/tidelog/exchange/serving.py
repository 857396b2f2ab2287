"""What the process of a worker runs: it says hello, meets its peers, and answers one question after the other.

What is always true: an error in an answer is told to the driver and stops the peers, who answer that they were stopped;
the process goes on, and waits for the next question. It ends when it is told to, when a connection to a peer has broken
(the driver starts all workers anew then), or when the driver is gone.
"""

from __future__ import annotations

import os

import zmq

from tidelog.errors import TidelogError
from tidelog.exchange.peer_sockets import PeerAddress, PeerGone, SocketTransport
from tidelog.exchange.stage import WorkerBeat
from tidelog.exchange.transport import PeerFailed
from tidelog.exchange.workers import Contract, Worker
from tidelog.plain import dataclass
from tidelog.room import resident_bytes
from tidelog.wire.life import Pulse
from tidelog.wire.messages import Done, Failed, Hello, Message, Messages, Refused
from tidelog.wire.problems import problems
from tidelog.wire.sockets import Socket, Sockets, host_towards, received

LAST_WORDS = 2000
"""Milliseconds for which an answer may still be on its way when the process ends."""


@dataclass(frozen=True)
class PeerHello(Hello):
    """A worker with peers is there."""

    near: str = ""

    @property
    def peer(self) -> PeerAddress:
        return PeerAddress(self.address, self.near)


@dataclass(frozen=True)
class Meet(Message):
    """All workers have said hello: speak to each other at these addresses. The answer is `Done`."""

    addresses: list[PeerAddress]


@dataclass(frozen=True)
class Leave(Message):
    """The answer is `Done`, the last one."""


@dataclass(frozen=True)
class Pause(Message):
    """Are you done with what you were asked before? The answer is `Done`."""


@dataclass(frozen=True)
class Stopped(Message):
    """The answer of a worker that could not go on without another one; `gone` says which if its connection broke."""

    gone: str = ""


def spoken(contract: Contract) -> Messages:
    return Messages(PeerHello, Meet, Pause, Leave, Stopped, WorkerBeat, *contract.kinds)


def serve(contract: Contract, number: int) -> None:
    """Be the worker with this number, until told to leave."""
    sockets = Sockets(contract.keys)
    line = sockets.connected(zmq.DEALER, contract.rendezvous)
    line.linger = LAST_WORDS
    messages = spoken(contract)
    transport = SocketTransport(
        sockets, messages, number, contract.size, contract.attempt, host_towards(contract.rendezvous), contract.trusted
    )
    made: list[Worker] = []

    def beat() -> WorkerBeat:
        stage = getattr(made[0], "stage", None) if made else None
        return WorkerBeat(number, contract.attempt, resident_bytes(), stage)

    Pulse(sockets, contract.rendezvous, messages, beat, contract.patience).start()
    try:
        worker = contract.factory(contract.order, transport)
    except TidelogError as problem:
        line.send_multipart(messages.frames(Refused(number, contract.attempt, problems(problem.diagnostics))))
    else:
        made.append(worker)
        address = transport.address
        hello = PeerHello(number, contract.attempt, address.far, os.getpid(), 0, address.near)
        line.send_multipart(messages.frames(hello))
        _Serving(line, messages, transport, worker).run()
    transport.close()
    line.close()
    sockets.close()


class _Serving:
    def __init__(self, line: Socket, messages: Messages, transport: SocketTransport, worker: Worker) -> None:
        self._line, self._messages, self._transport, self._worker = line, messages, transport, worker

    def run(self) -> None:
        while True:
            question, _, number = self._messages.parcel(received(self._line))
            answer = self._answer(question)
            self._line.send_multipart(self._messages.frames(answer, number=number), copy=False)
            if isinstance(question, Leave) or (isinstance(answer, Stopped) and answer.gone):
                return

    def _answer(self, question: Message) -> Message:
        try:
            match question:
                case Meet():
                    self._transport.connect(question.addresses)
                    return Done()
                case Pause() | Leave():
                    return Done()
            self._transport.begin()
            return self._worker.answer(question)
        except PeerFailed:
            return Stopped()
        except PeerGone as problem:
            return Stopped(str(problem))
        except Exception as problem:
            self._transport.abort()
            return Failed.because(problem)
