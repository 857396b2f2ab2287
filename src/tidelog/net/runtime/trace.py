"""A trace: everything a network did, as JSON lines that `replay_page` shows and anyone can read.

The records are, in order of time:

- `network`: `nodes`, `links` (pairs of nodes), `program`, `schedule`, `seed`.
- `burst`: `burst` (its number), `sent`: messages `[number, source, destination, update]`; the source is null.
- `step`: `step`, `node`, `received` (numbers of messages), `picked` (updates that changed the node's facts), `sent`
  (messages), `cancelled` (pairs that met in the inbox and vanished), `waiting` (deletions whose facts have not come).
- `fault`: `node`, `what` happened, messages that are `lost`, whether the node `forgets` what it knew.
- `converged`: `burst`, and what it cost.

Where there is a clock, bursts, steps and faults have their `time`.

An update is a text such as `+link(a,b)`; n copies of it are `+link(a,b) × n`.

A node's facts at any step are the sum of what it picked up to then. Messages a node sends to itself are in the trace;
only those between nodes count as messages of the network. With several processes the order is a causal one (`merge`):
everything is sent before it is received, and each process has its own order.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, TextIO

from tidelog.net.program import Place
from tidelog.net.runtime.merge import Record, merge
from tidelog.net.runtime.network import Convergence
from tidelog.net.runtime.node import Node, Reaction
from tidelog.net.runtime.transport import InFlight
from tidelog.net.values import Update, show


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

    def burst(self, messages: list[InFlight], time: float | None = None) -> None:
        self._write({
            "kind": "burst", "burst": self._bursts, "sent": list(map(_message, messages)), **_timed(time)
        })  # fmt: skip

    def step(
        self,
        node: Node,
        received: list[InFlight],
        reaction: Reaction,
        sent: list[InFlight],
        time: float | None = None,
    ) -> None:
        self._steps += 1
        self._write({
            "kind": "step", "step": self._steps, "node": name(node.place), "received": [m.number for m in received],
            "picked": [weighted(*p) for p in reaction.picked], "sent": list(map(_message, sent)),
            "cancelled": reaction.cancelled, "waiting": [weighted(*w) for w in node.waiting], **_timed(time),
        })  # fmt: skip

    def fault(self, node: str, what: str, lost: list[int], time: float | None = None, forgets: bool = False) -> None:
        """Something went wrong at a node: messages that are lost, a crash (which forgets what the node knew)."""
        self._write({
            "kind": "fault", "node": node, "what": what, "lost": lost, "forgets": forgets, **_timed(time)
        })  # fmt: skip

    def forgets(self, place: Place) -> None:
        self.fault(name(place), f"{name(place)} begins anew", [], forgets=True)

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
            "left_out": list(map(str, cost.left_out)),
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


def _timed(time: float | None) -> dict[str, float]:
    return {} if time is None else {"time": round(time, 6)}


def _message(message: InFlight) -> list[Any]:
    source = None if message.source is None else name(message.source)
    return [message.number, source, name(message.destination), weighted(message.update, message.copies)]


def weighted(update: Update, n: int) -> str:
    return str(update) if n == 1 else f"{update} × {n}"
