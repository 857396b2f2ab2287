"""One process of a network: it hosts the nodes that are its own and speaks to the other processes.

Started by a `pool` as a child (`wire.children`). The coordinator loads a network on it, or another one later. It works
while there is something to do, and when there is not tells the coordinator how many updates it has sent to and received
from other processes. It ends when told to, or when the coordinator is gone.
"""

from __future__ import annotations

import gc
import math
import os
import sys
from collections.abc import Iterator
from itertools import count
from typing import Any
from zlib import crc32

import zmq

from tidelog.errors import TidelogError
from tidelog.net.algorithms import Method
from tidelog.net.derivations import Derivations
from tidelog.net.meter import Meter
from tidelog.net.program import Place, load_local
from tidelog.net.runtime.channel import Channel
from tidelog.net.runtime.dictionary import Receiver, Sender
from tidelog.net.runtime.messages import (
    MESSAGES,
    AllFacts,
    Burst,
    GiveFacts,
    GiveTrace,
    HostNetwork,
    Idle,
    Peers,
    ReportWhenIdle,
    Settle,
    Settled,
    StartOrder,
    Stop,
    Traced,
    Updates,
)
from tidelog.net.runtime.network import BurstCost, Convergence, Network
from tidelog.net.runtime.packed import pack, pack_fact, value
from tidelog.net.runtime.trace import Trace
from tidelog.net.runtime.transport import InFlight, InProcess
from tidelog.net.schedulers import scheduler
from tidelog.plain import fields
from tidelog.room import resident_bytes
from tidelog.wire import children
from tidelog.wire import messages as wire
from tidelog.wire.codec import MalformedMessage, dumps, loads, read
from tidelog.wire.life import Pulse
from tidelog.wire.sockets import Sockets

_STEPS_BETWEEN_MAIL = 500


def owner(place: Place, processes: int) -> int:
    """The process that hosts a node: the same wherever it is asked."""
    return crc32(dumps(place)) % processes


class Gateway:
    """A transport: messages for nodes of this process stay, the others are collected for their processes."""

    def __init__(
        self, inside: InProcess, channel: Channel, index: int, processes: int, sets: Derivations | None
    ) -> None:
        self._inside, self._channel = inside, channel
        self._index, self._processes = index, processes
        self._owners: dict[Place, int] = {}
        self._outgoing: dict[int, list[Any]] = {}
        self._senders = [Sender(sets) for _ in range(processes)]
        self._receivers = [Receiver(sets) for _ in range(processes)]
        self.sent = self.received = 0

    def send(self, message: InFlight) -> None:
        process = self._owners.get(message.destination)
        if process is None:
            process = self._owners[message.destination] = owner(message.destination, self._processes)
        if process == self._index:
            self._inside.send(message)
        else:
            update = self._senders[process].pack(message.update, message.copies)
            packed = [message.hops, message.number, message.source, message.destination, update]
            self._outgoing.setdefault(process, []).append(packed)

    def deliver(self, batch: bool) -> list[InFlight]:
        return self._inside.deliver(batch)

    def flush(self) -> None:
        for process, messages in self._outgoing.items():
            self._channel.send(process, Updates(self._index, messages))
            self.sent += len(messages)
        self._outgoing.clear()

    def arrived(self, process: int, messages: list[Any]) -> None:
        self.received += len(messages)
        for hops, number, source, destination, packed in messages:
            update, n = self._receivers[process].unpack(packed)
            self._inside.send(InFlight(update, _place(source), _place(destination), hops, number, n))


class Hosted:
    """The part of a network that lives in this process."""

    def __init__(self, load: HostNetwork, channel: Channel, index: int, processes: int) -> None:
        local = load_local(load.text, load.name)
        program, derivations = Method.unpack(load.method, local).start(local)
        delays = {(_place(a), _place(b)): delay for a, b, delay in load.delays}
        inside = InProcess(scheduler(load.schedule, load.seed + index, _place(load.starve), delays))
        self.gateway = Gateway(inside, channel, index, processes, derivations)
        self.trace = Trace(keep=sys.maxsize) if load.traced else None
        self.network = Network(
            program, self.gateway, derivations, Meter(load.limit), load.batch, load.cancel, self.trace,
            numbers=count(index + 1, processes),
        )  # fmt: skip

    def work(self) -> bool:
        """Some steps; False when there is nothing left to do."""
        busy = all(self.network.step() for _ in range(_STEPS_BETWEEN_MAIL))
        self.gateway.flush()
        return busy

    def report(self, wave: int = 0) -> Idle:
        return Idle(self.gateway.sent, self.gateway.received, self.cost(), wave)

    def cost(self) -> BurstCost:
        return BurstCost(**{f.name: getattr(self.network.cost, f.name) for f in fields(BurstCost)})


class HostProcess:
    def __init__(self, start: StartOrder) -> None:
        self.index, self.processes = start.index, 0
        self.sockets = Sockets(start.keys)
        self.line = self.sockets.connected(zmq.DEALER, start.coordinator)
        self.channel = Channel(self.sockets)
        self.hosted: Hosted | None = None
        self._asked = 0  # the number of the question that is being answered
        self._poller = zmq.Poller()
        for socket in (self.line, self.channel.inbox):
            self._poller.register(socket, zmq.POLLIN)
        Pulse(self.sockets, start.coordinator, MESSAGES, self._beat, math.inf).start()
        self.tell(wire.Hello(self.index, 0, self.channel.address, os.getpid()))

    def tell(self, message: wire.Message) -> None:
        self.line.send_multipart(MESSAGES.frames(message, number=self._asked))

    def run(self) -> None:
        """Mail before work, so that a probe is answered and nothing piles up; waits only when there is no work."""
        busy, reported = False, True
        while True:
            for parcel in self._mail(wait=not busy):
                if isinstance(parcel.message, Stop):
                    return
                self._asked = parcel.number
                self._handle(parcel.message)
                busy, reported = self.hosted is not None, False
            self._asked = 0
            if busy and self.hosted:
                busy = self.hosted.work()
            if not busy and not reported and self.hosted:
                self.tell(self.hosted.report())
                reported = True

    def fail(self, problem: TidelogError) -> None:
        """Tells what went wrong, and waits for the end."""
        self.tell(wire.Failed.because(problem))
        while not any(isinstance(parcel.message, Stop) for parcel in self._mail(wait=True)):
            continue

    def close(self) -> None:
        self.line.close()
        self.channel.close()
        self.sockets.close()

    def _mail(self, wait: bool) -> Iterator[wire.Parcel]:
        """All that has come."""
        ready = self._poller.poll(None if wait else 0)
        while ready:
            for socket, _ in ready:
                yield MESSAGES.parcel(socket.recv_multipart())
            ready = self._poller.poll(0)

    def _beat(self) -> wire.Beat:
        return wire.Beat(self.index, 0, resident_bytes())

    def _handle(self, message: wire.Message) -> None:
        match message:
            case Peers():
                self.processes = len(message.addresses)
                for peer, address in enumerate(message.addresses):
                    if peer != self.index:
                        self.channel.connect(peer, address)
                self.tell(wire.Done())
            case HostNetwork():
                self.hosted = Hosted(message, self.channel, self.index, self.processes)
                self.tell(wire.Done())
            case _ if self.hosted:
                self._answer(message, self.hosted)
            case _:
                raise MalformedMessage(f"{message} to a process that hosts nothing")

    def _answer(self, message: wire.Message, hosted: Hosted) -> None:
        network = hosted.network
        match message:
            case Updates():
                hosted.gateway.arrived(message.process, message.updates)
            case Burst():
                hosted.gateway.received += len(message.updates)
                network.submit(Receiver(None).unpack(u)[0] for u in message.updates)
            case ReportWhenIdle():
                while hosted.work():
                    pass
                self.tell(hosted.report(message.wave))
            case Settle():
                waiting, left_out = map(pack, network.waiting()), map(pack, network.cost.left_out)
                self.tell(Settled(hosted.cost(), list(waiting), list(left_out), len(network.nodes)))
                network.cost = Convergence()
            case GiveTrace() if hosted.trace:
                self.tell(Traced(hosted.trace.records))
                hosted.trace.records.clear()
            case GiveFacts():
                self.tell(AllFacts([pack_fact(f) for f in network.facts()]))
            case _:
                raise MalformedMessage(f"{message}")


def _place(packed: Any) -> Place:
    return None if packed is None else value(packed)


def main() -> None:
    gc.disable()
    order = children.order()
    if order is None:
        return  # the coordinator ended before it had said anything
    worker = HostProcess(read(StartOrder, loads(order)))
    try:
        worker.run()
    except TidelogError as problem:
        worker.fail(problem)
    finally:
        worker.close()


if __name__ == "__main__":
    main()
