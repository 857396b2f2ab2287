"""A trace: everything a network did, as JSON lines that `replay_page` shows and anyone can read.

The records are, in order of time:

- `network`: `nodes`, `links` (pairs of nodes), `program`, `schedule`, `seed`.
- `burst`: `burst` (its number), `sent`: messages `[number, source, destination, update]`; the source is null.
- `step`: `step`, `node`, `received` (numbers of messages), `picked` (updates that changed the node's facts), `sent`
  (messages), `cancelled` (pairs that met in the inbox and vanished), `waiting` (deletions whose facts have not come).
- `converged`: `burst`, and what it cost.

A node's facts at any step are the sum of what it picked up to then. Messages a node sends to itself are in the trace;
only those between nodes count as messages of the network. With several processes the order is a causal one (`merge`):
everything is sent before it is received, and each process has its own order.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, TextIO

from tidelog.net.program import Node as Place
from tidelog.net.runtime.merge import Record, merge
from tidelog.net.runtime.network import Convergence
from tidelog.net.runtime.node import Node, Reaction
from tidelog.net.runtime.transport import Message
from tidelog.net.values import show


class Trace:
    """Writes records to a file as they happen, keeps the first `keep` for a page, or both."""

    def __init__(self, out: TextIO | None = None, keep: int = 0) -> None:
        self._out, self._keep = out, keep
        self.records: list[Record] = []
        self.left_out = 0
        self._bursts = self._steps = 0

    def network(self, nodes: Iterable[Place], links: Iterable[tuple[Place, Place]], **about: Any) -> None:
        self._write({
            "kind": "network", **about, "nodes": [name(n) for n in nodes],
            "links": [[name(a), name(b)] for a, b in links],
        })  # fmt: skip

    def burst(self, messages: list[Message]) -> None:
        self._write({"kind": "burst", "burst": self._bursts, "sent": list(map(_message, messages))})

    def step(self, node: Node, received: list[Message], reaction: Reaction, sent: list[Message]) -> None:
        self._steps += 1
        self._write({
            "kind": "step", "step": self._steps, "node": name(node.place), "received": [m.number for m in received],
            "picked": list(map(str, reaction.picked)), "sent": list(map(_message, sent)),
            "cancelled": reaction.cancelled, "waiting": list(map(str, node.waiting)),
        })  # fmt: skip

    def merged(self, traces: list[list[Record]]) -> None:
        """A burst as the processes of a network recorded it, each for itself."""
        sent = [m for trace in traces for record in trace if record["kind"] == "burst" for m in record["sent"]]
        self._write({"kind": "burst", "burst": self._bursts, "sent": sent})
        for record in merge(traces):
            if record["kind"] == "step":
                self._steps += 1
                self._write({**record, "step": self._steps})

    def converged(self, cost: Convergence) -> None:
        self._write({
            "kind": "converged", "burst": self._bursts, "updates": cost.updates, "messages": cost.messages,
            "bytes": cost.bytes, "rounds": cost.rounds, "steps": cost.steps, "waiting": list(map(str, cost.waiting)),
        })  # fmt: skip
        self._bursts += 1

    def _write(self, record: Record) -> None:
        if self._out:
            self._out.write(json.dumps(record, ensure_ascii=False) + "\n")
        if len(self.records) < self._keep:
            self.records.append(record)
        elif self._keep:
            self.left_out += 1


def name(place: Place) -> str:
    return "the only node" if place is None else show(place)


def _message(message: Message) -> list[Any]:
    source = None if message.source is None else name(message.source)
    return [message.number, source, name(message.destination), str(message.update)]
