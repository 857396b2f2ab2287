"""Faults planted into dynamic data exchange, one line each: the checks see every one of them.

The names are those of the checked model where it has the same fault (`docs/dynamic-exchange.md`). Programs are small
and of the model's kind, positive rules over few values, so that some hundreds of runs meet the rare orders.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from dynamic_subject import AnyOrder, WatchedRun, Wrong

import oracle
from strategies.engine import checked_program
from tidelog.errors import InternalError
from tidelog.exchange.dynamic import bits
from tidelog.exchange.dynamic.clocks import LamportClock, Times
from tidelog.exchange.dynamic.dijkstra_scholten import Tree
from tidelog.exchange.dynamic.known_places import IN_HEAD, KnownPlaces
from tidelog.exchange.dynamic.loading import Shares
from tidelog.exchange.dynamic.occurrences import Occurrences
from tidelog.exchange.dynamic.owned_facts import OwnedFacts
from tidelog.exchange.dynamic.partial_matches import Held, Matching
from tidelog.exchange.dynamic.server import Server
from tidelog.exchange.dynamic.termination_ring import Ring
from tidelog.exchange.dynamic.tours import Tours


def random_program(rnd: random.Random, constants: int = 1) -> tuple[str, dict[str, set[tuple[int, ...]]]]:
    arity = {relation: rnd.randint(1, 3) for relation in "pqrs"[: rnd.randint(1, 4)]}
    values = rnd.randint(2, 6)

    def atom(terms: list[str]) -> tuple[str, list[str]]:
        relation = rnd.choice([*arity])
        return relation, [rnd.choice(terms) for _ in range(arity[relation])]

    lines = []
    for relation, columns in arity.items():
        lines.append(f".decl {relation}({', '.join(f'c{n}: number' for n in range(columns))})\n.input {relation}")
    for _ in range(rnd.randint(1, 6)):
        terms = [*"xyzw"[: rnd.randint(1, 4)]] * rnd.choice((1, 2, 4))
        terms += [str(rnd.randrange(values + 2)) for _ in range(constants)]
        body = [atom(terms) for _ in range(rnd.choice((1, 2, 2, 3)))]
        bound = sorted({term for _, args in body for term in args if term.isalpha()})
        head = atom(bound * 2 + [str(rnd.randrange(values + 2))])
        shown = [f"{name}({', '.join(args)})" for name, args in body]
        lines.append(f"{head[0]}({', '.join(head[1])}) :- {', '.join(shown)}.")
    facts: dict[str, set[tuple[int, ...]]] = {relation: set() for relation in arity}
    for _ in range(rnd.randint(1, 14)):
        name, args = atom([str(value) for value in range(values)])
        facts[name].add(tuple(map(int, args)))
    return "\n".join(lines) + "\n", facts


def run(seed: int, constants: int = 1) -> str | None:
    """What the checks find wrong with one run, if anything."""
    rnd = random.Random(seed)
    text, facts = random_program(rnd, constants)
    checked = checked_program(text)
    wanted = oracle.evaluate(checked, facts)
    if sum(map(len, wanted.values())) > 150:
        return None
    watched = WatchedRun(checked, rnd.choice((1, 2, 3, 3, 4, 5)), seed)
    try:
        watched.materialise(facts)
        for name, rows in wanted.items():
            if watched.contents(name) != rows:
                return "result"
    except Wrong as wrong:
        return str(wrong)
    except InternalError:
        return "never ends"
    return None


def found_within(runs: int, first: int = 0, constants: int = 1) -> tuple[int, str] | None:
    """The first seed that fails, and with what."""
    found = ((seed, run(seed, constants)) for seed in range(first, first + runs))
    return next(((seed, wrong) for seed, wrong in found if wrong), None)


def test_without_a_fault_all_checks_hold() -> None:
    assert found_within(60) is None


# ---- the faults


def line18(self: Tours, heard: Any) -> Any:
    """Whom others know of is not told."""
    return bits.none(self.held.size, len(heard))


def one_position(self: Occurrences, numbers: Any) -> Any:
    """A tour goes to those that have the value at one position only."""
    return self.masks[numbers, -1]


def all_le(self: Matching, relation: str, times: Any, earlier: bool) -> Any:
    return self.held.clock.times[relation].prefix(times, False)


def all_lt(self: Matching, relation: str, times: Any, earlier: bool) -> Any:
    return self.held.clock.times[relation].prefix(times, True)


def in_flight(self: OwnedFacts, name: str, rows: Any) -> Any:
    """A fact is stored although what it brings is still on tour: the map has it already."""
    found = np.ones(len(rows), np.bool_)
    for column, position in self._told[name]:
        numbers = self.held.occurrences.find(rows[:, column])
        found &= bits.has(self.held.occurrences.masks[numbers, position], self.held.me)
    return found


def no_meeting(self: Held, values: Any) -> Any:
    return bits.none(self.size, len(values))


def stale(self: Held, values: Any) -> Any:
    """Whatever the map has of a value is believed."""
    return self.occurrences.find(values) >= 0


def empty(self: Matching, column: Any, uses: Any) -> KnownPlaces:
    """Of what is not known here: nowhere."""
    held, values = self.held, np.unique(column)
    numbers = held.occurrences.find(values)
    sets = {}
    for use in uses:
        masks = bits.none(held.size, len(values))
        known = numbers >= 0
        if use is IN_HEAD:
            masks[known] = held.occurrences.reach(numbers[known])
        else:
            masks[known] = held.occurrences.masks[numbers[known], held.positions[use]]
        sets[use] = masks
    return KnownPlaces(values, sets)


def here(self: Held, relation: str, rows: Any) -> Any:
    """Whoever derives a fact owns it."""
    return np.full(len(rows), self.me, np.int64)


def not_synchronised(method: Any) -> Any:
    """Meanwhile the clock does not move."""

    def wrapped(self: Server, *args: Any) -> Any:
        clock = self.held.clock
        clock.synchronise = lambda time: None  # type: ignore[method-assign]
        try:
            return method(self, *args)
        finally:
            del clock.synchronise

    return wrapped


def loose(self: Shares, facts: Any, any_held: Held) -> None:
    """Input facts are anywhere."""
    rnd = np.random.default_rng(len(facts))

    def anywhere(name: str, rows: Any) -> Any:
        return rnd.integers(0, any_held.size, len(rows))

    any_held.owners = anywhere  # type: ignore[method-assign]
    try:
        _share(self, facts, any_held)
    finally:
        del any_held.owners


def sync_lt(self: LamportClock, time: int) -> None:
    if self.now < time:
        self.stamp()
        self.now = time + 1


def no_counts(self: Ring, count: int, black: bool) -> bool:
    return not black


def no_colour(self: Ring, count: int, black: bool) -> bool:
    return count == 0


def one_root(self: Tree) -> int:
    return 1


def ack_early(self: Tree) -> bool:
    return True


def no_ack(self: Tree) -> bool:
    return False


def owner_early(self: OwnedFacts, name: str, rows: Any) -> Any:
    """The owner stores a fact before anybody is told."""
    return np.ones(len(rows), np.bool_)


def deaf(self: Tours, numbers: Any, positions: Any, sender: int) -> None:
    """Nobody notes what is announced."""


def secretive(self: Tours, numbers: Any) -> Any:
    """Nobody tells what is known of a value."""
    return np.zeros_like(self.held.occurrences.masks[numbers])


def pivot_again(self: Server, name: str, most: int) -> None:
    """A fact is a pivot twice."""
    _begin_with(self, name, most)
    if self.pivoted[name] == 1:
        self.pivoted[name] = 0
        _begin_with(self, name, 1)


def unstamped(self: Times, times: Any, strictly: bool) -> Any:
    """Facts that have no time take part."""
    return np.full(len(times), self.relation.count)


_begin_with = AnyOrder.begin_with
_share = Shares.__init__

FAULTS = {
    "line18": (Tours, "others", line18),
    "line19": (Tours, "note", deaf),
    "line19-tour": (Tours, "known", secretive),
    "one-position": (Occurrences, "reach", one_position),
    "all-le": (Matching, "prefix", all_le),
    "all-lt": (Matching, "prefix", all_lt),
    "in-flight": (OwnedFacts, "ready", in_flight),
    "owner-early": (OwnedFacts, "ready", owner_early),
    "no-meeting": (Held, "meeting", no_meeting),
    "stale": (Held, "knows", stale),
    "empty": (Matching, "places", empty),
    "here": (Held, "owners", here),
    "again": (AnyOrder, "begin_with", pivot_again),
    "line8": (Server, "begin_with", not_synchronised(Server.begin_with)),
    "line12": (Server, "go_on", not_synchronised(Server.go_on)),
    "line16": (Server, "hear_of", not_synchronised(Server.hear_of)),
    "loose": (Shares, "__init__", loose),
    "sync-lt": (LamportClock, "synchronise", sync_lt),
    "unstamped": (Times, "prefix", unstamped),
    "ring": (Ring, "over", no_counts),
    "black": (Ring, "over", no_colour),
    "one-root": (Tree, "started_by_root", one_root),
    "ack-early": (Tree, "can_leave", ack_early),
    "no-ack": (Tree, "can_leave", no_ack),
}


SEEDS = {"stale": 370, "ring": 60, "empty": 270, "line12": 40, "line18": 40, "no-meeting": 30}
"""Where the search begins for faults that few runs meet."""


@pytest.mark.parametrize("fault", FAULTS)
def test_the_checks_see_a_fault(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, name, new = FAULTS[fault]
    assert hasattr(owner, name)
    monkeypatch.setattr(owner, name, new)
    constants = 6 if fault == "stale" else 1  # only constants of rules are looked up in the map without being local
    assert found_within(1500, SEEDS.get(fault, 0), constants) is not None
