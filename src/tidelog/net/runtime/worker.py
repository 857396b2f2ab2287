"""One process of a network: it hosts the nodes that are its own and speaks to the other processes.

Started by a `pool` as `python -m tidelog.net.runtime.worker`, with the keys as one JSON line on standard input. The
coordinator loads a network on it, or another one later. It works while there is something to do, and when there is not
tells the coordinator how many updates it has sent to and received from other processes. It ends when told to, or within
a second when the coordinator is gone.
"""

from __future__ import annotations

import gc
import json
import os
import sys
from itertools import count
from typing import Any
from zlib import crc32

from tidelog.errors import TidelogError
from tidelog.net.derivations import Derivations
from tidelog.net.meter import Meter
from tidelog.net.program import Node as Place
from tidelog.net.program import load_local
from tidelog.net.runtime import wire
from tidelog.net.runtime.channel import Channel, Keys
from tidelog.net.runtime.launch import derivation_sets
from tidelog.net.runtime.network import Convergence, Network
from tidelog.net.runtime.trace import Trace
from tidelog.net.runtime.transport import InProcess, Message
from tidelog.net.schedulers import scheduler

COORDINATOR = -1
_STEPS_BETWEEN_MAIL = 500
_PATIENCE = 500


def owner(place: Place, processes: int) -> int:
    """The process that hosts a node: the same wherever it is asked."""
    return crc32(wire.dumps(place)) % processes


class Gateway:
    """A transport: messages for nodes of this process stay, the others are collected for their processes."""

    def __init__(
        self, inside: InProcess, channel: Channel, index: int, processes: int, sets: Derivations | None
    ) -> None:
        self._inside, self._channel, self._sets = inside, channel, sets
        self._index, self._processes = index, processes
        self._owners: dict[Place, int] = {}
        self._outgoing: dict[int, list[Any]] = {}
        self.sent = self.received = 0

    def send(self, message: Message) -> None:
        process = self._owners.get(message.destination)
        if process is None:
            process = self._owners[message.destination] = owner(message.destination, self._processes)
        if process == self._index:
            self._inside.send(message)
        else:
            update = wire.pack(message.update, self._sets)
            packed = [message.hops, message.number, message.source, message.destination, update]
            self._outgoing.setdefault(process, []).append(packed)

    def deliver(self, batch: bool) -> list[Message]:
        return self._inside.deliver(batch)

    def flush(self) -> None:
        for process, messages in self._outgoing.items():
            self._channel.send(process, ["updates", messages])
            self.sent += len(messages)
        self._outgoing.clear()

    def arrived(self, messages: list[Any]) -> None:
        self.received += len(messages)
        for hops, number, source, destination, packed in messages:
            update = wire.unpack(packed, self._sets)
            self._inside.send(Message(update, _place(source), _place(destination), hops, number))


class Hosted:
    """The part of a network that lives in this process."""

    def __init__(self, order: dict[str, Any], channel: Channel, index: int) -> None:
        processes, starve = order["processes"], _place(order["starve"])
        derivations = derivation_sets(order["algorithm"])
        delays = {(_place(a), _place(b)): delay for a, b, delay in order["delays"]}
        inside = InProcess(scheduler(order["schedule"], order["seed"] + index, starve, delays))
        self.gateway = Gateway(inside, channel, index, processes, derivations)
        self.trace = Trace(keep=sys.maxsize) if order["traced"] else None
        self.network = Network(
            load_local(order["text"], order["name"]), self.gateway, derivations, Meter(order["limit"]),
            order["batch"], order["cancel"], self.trace, numbers=count(index + 1, processes),
        )  # fmt: skip

    def work(self) -> bool:
        """Some steps; False when there is nothing left to do."""
        busy = all(self.network.step() for _ in range(_STEPS_BETWEEN_MAIL))
        self.gateway.flush()
        return busy

    def cost(self) -> list[int]:
        cost = self.network.cost
        return [cost.updates, cost.messages, cost.bytes, cost.rounds, cost.steps, cost.cancelled]


class Worker:
    def __init__(self, order: dict[str, Any]) -> None:
        self.index = order["index"]
        self.channel = Channel(Keys(*order["keys"]))
        self.hosted: Hosted | None = None
        self._parent = order["parent"]
        self.channel.connect(COORDINATOR, order["port"])
        self.tell("ready", self.channel.port)

    @property
    def alone(self) -> bool:
        """Whether the coordinator is gone."""
        return os.getppid() != self._parent

    def tell(self, kind: str, *more: Any) -> None:
        self.channel.send(COORDINATOR, [kind, self.index, *more])

    def run(self) -> None:
        """Mail before work, so that a probe is answered and nothing piles up; waits only when there is no work."""
        busy, reported = False, True
        while not self.alone:
            payload = self.channel.receive(0 if busy else _PATIENCE)
            while payload is not None:
                if not self._handle(payload):
                    return
                busy, reported = self.hosted is not None, False
                payload = self.channel.receive(0)
            if busy and self.hosted:
                busy = self.hosted.work()
            if not busy and not reported and self.hosted:
                self._report("idle", self.hosted)
                reported = True

    def _report(self, kind: str, hosted: Hosted, *more: Any) -> None:
        self.tell(kind, hosted.gateway.sent, hosted.gateway.received, hosted.cost(), *more)

    def _handle(self, payload: Any) -> bool:
        """False if this was the last one."""
        match payload:
            case ["peers", dict() as ports]:
                for peer, port in ports.items():
                    if int(peer) != self.index:
                        self.channel.connect(int(peer), port)
                self.tell("connected")
            case ["load", dict() as order]:
                self.hosted = Hosted(order, self.channel, self.index)
                self.tell("loaded")
            case ["end"]:
                return False
            case _ if self.hosted:
                self._answer(payload, self.hosted)
            case _:
                raise wire.Malformed(f"{payload!r}")
        return True

    def _answer(self, payload: Any, hosted: Hosted) -> None:
        network = hosted.network
        match payload:
            case ["updates", list() as messages]:
                hosted.gateway.arrived(messages)
            case ["burst", list() as updates]:
                hosted.gateway.received += len(updates)
                network.submit(wire.unpack(u) for u in updates)
            case ["probe", int() as wave]:
                while hosted.work() and not self.alone:
                    pass
                self._report("probed", hosted, wave)
            case ["settled"]:
                waiting = [wire.pack(u._replace(tag=None)) for u in network.waiting()]
                self.tell("cost", hosted.cost(), waiting, len(network.nodes))
                network.cost = Convergence()
            case ["traced"] if hosted.trace:
                self.tell("traced", hosted.trace.records)
                hosted.trace.records.clear()
            case ["facts"]:
                self.tell("facts", [wire.pack_fact(f) for f in network.facts()])
            case _:
                raise wire.Malformed(f"{payload!r}")

    def fail(self, problem: TidelogError) -> None:
        """Tells what went wrong, and waits for the end."""
        worst = problem.diagnostics[0]
        span = worst.span
        place = [span.source.name, span.source.text, span.start, span.end] if span else None
        self.tell("failed", worst.code, worst.message, worst.help, place)
        while not self.alone and self.channel.receive(_PATIENCE) != ["end"]:
            continue


def _place(packed: Any) -> Place:
    return None if packed is None else wire.value(packed)


def main() -> None:
    gc.disable()
    order = sys.stdin.readline()
    if not order:
        return  # the coordinator ended before it had said anything
    worker = Worker(json.loads(order))
    try:
        worker.run()
    except TidelogError as problem:
        worker.fail(problem)
    except KeyboardInterrupt:
        pass
    finally:
        worker.channel.close()


if __name__ == "__main__":
    main()
