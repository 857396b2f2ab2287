"""One process of a network: it hosts the nodes that are its own and speaks to the other processes.

Started by `processes` as `python -m tidelog.net.runtime.worker`, with everything it needs as one JSON line on standard
input. It works while there is something to do, and when there is not tells the coordinator how many updates it has
sent to and received from other processes. It ends when told to, or when the coordinator is gone.
"""

from __future__ import annotations

import gc
import json
import os
import sys
from typing import Any
from zlib import crc32

from tidelog.errors import TidelogError
from tidelog.net.derivations import Derivations
from tidelog.net.meter import Meter
from tidelog.net.program import Node as Place
from tidelog.net.program import load_local
from tidelog.net.runtime import wire
from tidelog.net.runtime.channel import Channel, Keys
from tidelog.net.runtime.network import Convergence, Network
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
            packed = [message.hops, message.source, message.destination, wire.pack(message.update, self._sets)]
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
        for hops, source, destination, packed in messages:
            update = wire.unpack(packed, self._sets)
            self._inside.send(Message(update, _place(source), _place(destination), hops))


class Worker:
    def __init__(self, order: dict[str, Any]) -> None:
        self.index, self.processes = order["index"], order["processes"]
        self.channel = Channel(Keys(*order["keys"]))
        self.derivations = Derivations() if order["annotated"] else None
        plan = scheduler(order["schedule"], order["seed"] + self.index, _place(order["starve"]))
        self.gateway = Gateway(InProcess(plan), self.channel, self.index, self.processes, self.derivations)
        self.network = Network(
            load_local(order["text"], order["name"]), self.gateway, self.derivations, Meter(order["limit"]),
            order["batch"], order["cancel"],
        )  # fmt: skip
        self.channel.connect(COORDINATOR, order["port"])
        self.channel.send(COORDINATOR, ["ready", self.index, self.channel.port])
        self._parent = os.getppid()

    def run(self) -> None:
        """Mail before work, so that a probe is answered and nothing piles up; waits only when there is no work."""
        busy = reported = False
        while True:
            payload = self.channel.receive(0 if busy else _PATIENCE)
            while payload is not None:
                if not self._handle(payload):
                    return
                busy, reported = True, False
                payload = self.channel.receive(0)
            if busy:
                busy = self._work()
                self.gateway.flush()
            if not busy and not reported:
                self._report("idle")
                reported = True
            if os.getppid() != self._parent:
                return

    def _work(self) -> bool:
        """Some steps; False when there is nothing left to do."""
        return all(self.network.step() for _ in range(_STEPS_BETWEEN_MAIL))

    def _report(self, kind: str, *more: Any) -> None:
        gateway = self.gateway
        self.channel.send(COORDINATOR, [kind, self.index, gateway.sent, gateway.received, self._cost(), *more])

    def _cost(self) -> list[int]:
        cost = self.network.cost
        return [cost.updates, cost.messages, cost.bytes, cost.rounds, cost.steps, cost.cancelled]

    def _handle(self, payload: Any) -> bool:
        match payload:
            case ["peers", dict() as ports]:
                for peer, port in ports.items():
                    if int(peer) != self.index:
                        self.channel.connect(int(peer), port)
                self.channel.send(COORDINATOR, ["connected", self.index])
            case ["updates", list() as messages]:
                self.gateway.arrived(messages)
            case ["burst", list() as updates]:
                self.gateway.received += len(updates)
                self.network.submit(wire.unpack(u) for u in updates)
            case ["probe", int() as wave]:
                while self._work():
                    self.gateway.flush()
                self.gateway.flush()
                self._report("probed", wave)
            case ["settled"]:
                waiting = [wire.pack(u._replace(tag=None)) for u in self.network.waiting()]
                self.channel.send(COORDINATOR, ["cost", self.index, self._cost(), waiting, len(self.network.nodes)])
                self.network.cost = Convergence()
            case ["facts"]:
                facts = [wire.pack_fact(f) for f in self.network.facts()]
                self.channel.send(COORDINATOR, ["facts", self.index, facts])
            case ["end"]:
                return False
            case _:
                raise wire.Malformed(f"{payload!r}")
        return True


def _place(packed: Any) -> Place:
    return None if packed is None else wire.value(packed)


def main() -> None:
    gc.disable()
    worker = Worker(json.loads(sys.stdin.readline()))
    try:
        worker.run()
    except TidelogError as problem:
        worst = problem.diagnostics[0]
        span = [worst.span.start, worst.span.end] if worst.span else None
        worker.channel.send(COORDINATOR, ["failed", worker.index, worst.code, worst.message, worst.help, span])
        while worker.channel.receive(_PATIENCE) != ["end"] and os.getppid() == worker._parent:
            continue
    except KeyboardInterrupt:
        pass
    finally:
        worker.channel.close()


if __name__ == "__main__":
    main()
