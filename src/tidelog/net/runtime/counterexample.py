"""A run that breaks a property, as the records of a trace: the page replays it like any other run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from tidelog.net.faulty import FaultyNetwork, Move, NetworkState, Sent
from tidelog.net.program import Place
from tidelog.net.property_checker import PropertyVerdict
from tidelog.net.runtime.merge import Record
from tidelog.net.runtime.trace import name, weighted


def records(verdict: PropertyVerdict, **about: Any) -> list[Record]:
    """The records of the run that the verdict shows: what nodes hold at first, then move by move."""
    system = verdict.system
    assert system is not None
    return [*_Replay(system).run(verdict, about)]


class _Replay:
    def __init__(self, system: FaultyNetwork) -> None:
        self.system = system
        self._last = self._steps = 0
        self._flying: dict[Sent, list[int]] = {}

    def run(self, verdict: PropertyVerdict, about: dict[str, Any]) -> Iterable[Record]:
        yield {"kind": "network", **about, "nodes": [name(p) for p in self.system.places], "links": []}
        for place in self.system.places:
            held = self.system.held_by(place, verdict.path[0])
            if held:
                yield self._step(place, [], [f"+{told}" for told in held], [])
        bursts = 0
        for move, before, after in zip(verdict.moves, verdict.path, verdict.path[1:], strict=False):
            gone = [n for sent, k in _less(before, after).items() for n in self._land(sent, k)]
            made = [m for sent, k in _less(after, before).items() for m in self._fly(sent, k)]
            if move.kind == "receive" and move.sent is not None:
                yield self._step(move.node, gone, [str(move.sent.update)], made)
            elif move.kind == "burst":
                bursts += 1
                yield {"kind": "burst", "burst": bursts, "sent": made}
            else:
                yield self._fault(move, gone, made)
        yield {"kind": "fault", "node": None, "what": f"broken: {verdict.broken}", "lost": [], "sent": []}

    def _step(self, place: Place, received: list[int], picked: list[str], sent: list[Any]) -> Record:
        self._steps += 1
        return {
            "kind": "step", "step": self._steps, "node": name(place), "received": received, "picked": picked,
            "sent": sent, "cancelled": 0, "waiting": [],
        }  # fmt: skip

    def _fault(self, move: Move, lost: list[int], sent: list[Any]) -> Record:
        node = move.node if move.sent is None else move.sent.destination
        forgets = move.kind == "crash" and not self.system.first.allowed.keeps
        return {
            "kind": "fault", "node": name(node), "what": str(move), "lost": lost, "sent": sent, "forgets": forgets
        }  # fmt: skip

    def _fly(self, sent: Sent, copies: int) -> list[list[Any]]:
        source = None if sent.source is None else name(sent.source)
        made = []
        for _ in range(copies):
            self._last += 1
            self._flying.setdefault(sent, []).append(self._last)
            made.append([self._last, source, name(sent.destination), weighted(sent.update, 1)])
        return made

    def _land(self, sent: Sent, copies: int) -> list[int]:
        return [self._flying[sent].pop(0) for _ in range(copies)]


def _less(one: NetworkState, other: NetworkState) -> Counter[Sent]:
    """The messages that are on their way in one state and not in the other."""
    return Counter(dict(one.flying)) - Counter(dict(other.flying))
