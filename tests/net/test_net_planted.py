"""Planted errors: the checker finds each of them on a small network, also those that SN shares."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tidelog.errors import InternalError, TidelogError
from tidelog.net import check_bursts, parse_facts, parse_updates
from tidelog.net.aggregates import Groups
from tidelog.net.core import Core
from tidelog.net.delta import Presence
from tidelog.net.ledger import Ledger
from tidelog.net.program import load_local
from tidelog.net.sets import EMPTY
from tidelog.net.supports import Supports
from tidelog.net.systems import GroundPsn
from tidelog.net.values import Fact

HOP = "hop(@X,Y) :- link(@X,Z), link(@Z,Y). tri(@X,Y) :- hop(@X,Z), link(@Z,Y)."
HOP_FACTS, HOP_BURST = "link(@a,b). link(@b,c). link(@a,d). link(@d,c).", "-link(@a,b), +link(@c,a)"
LONE = "two(@S,D) :- link(@S,Z), link(@Z,D), !link(@S,D)."
LONE_FACTS, LONE_BURST = "link(@a,b). link(@b,c). link(@a,c). link(@a,c).", "-link(@a,c)"
BEST = "best(@S,min<C>) :- link(@S,D,C)."
BEST_FACTS, BEST_BURST = "link(@a,b,1). link(@a,c,2).", "-link(@a,b,1), +link(@a,d,3)"
FLOOD = "s1 val(@S,V) :- seed(@S,V). s2 val(@S,V) :- link(@S,Z), top(@Z,V). s3 top(@S,max<V>) :- val(@S,V)."
FLOOD_FACTS, FLOOD_BURST = "link(@a,b). link(@b,a). seed(@a,7). seed(@b,3).", "-seed(@a,7)"
REACH = "r1: reach(@S,D) :- link(@S,D). r2: reach(@S,D) :- link(@S,Z), reach(@Z,D)."
REACH_FACTS, REACH_BURST = "link(@b,c). link(@c,b). link(@c,d).", "-link(@c,d)"
STEP = "p(@X) :- q(@X), r(@X)."
STEP_FACTS, STEP_BURST = "q(@a). r(@a).", "-q(@a), +r(@a)"
TWICE = "p(@X) :- t(@X), t(@X). q(@X) :- p(@X), t(@X)."
TWICE_FACTS, TWICE_BURST = "t(@a). t(@a).", "-t(@a)"

Patch = Callable[[pytest.MonkeyPatch], None]


def verdict(case: tuple[str, str, str], picking: int) -> str:
    """`holds`, or how the checker says no."""
    program = load_local(case[0])
    try:
        found = check_bursts(
            program, parse_facts(case[1], program), [parse_updates(case[2], program)], picking=picking, limit=20_000,
            most_updates=20_000,
        )  # fmt: skip
    except (TidelogError, InternalError) as problem:
        return f"error {problem}"
    return "holds" if found.holds else str(found)


CASES = {
    "hop": (HOP, HOP_FACTS, HOP_BURST), "negation": (LONE, LONE_FACTS, LONE_BURST),
    "min": (BEST, BEST_FACTS, BEST_BURST), "flood": (FLOOD, FLOOD_FACTS, FLOOD_BURST),
    "step": (STEP, STEP_FACTS, STEP_BURST), "reach": (REACH, REACH_FACTS, REACH_BURST),
    "twice": (TWICE, TWICE_FACTS, TWICE_BURST),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_without_a_planted_error_every_run_ends_well(name: str) -> None:
    assert verdict(CASES[name], 1) == "holds"
    if name not in ("hop", "reach"):  # too many choices
        assert verdict(CASES[name], 2) == "holds"


def wrapped(cls: Any, name: str, change: Callable[..., Any]) -> Patch:
    """The method of a class with its result changed: `change(result, self, *arguments)`."""

    def plant(monkeypatch: pytest.MonkeyPatch) -> None:
        honest = getattr(cls, name)
        monkeypatch.setattr(cls, name, lambda self, *args: change(honest(self, *args), self, *args))

    return plant


def replaced(cls: Any, name: str, method: Callable[..., Any]) -> Patch:
    return lambda monkeypatch: monkeypatch.setattr(cls, name, method)


def without_nu(self: Any, instance: Any, pivot: int, before: Any, after: Any) -> int:
    return HONEST_WEIGHT(self, instance, pivot, after, after)


def near_only(self: Any, head: str, body: int, tags: Any) -> Any:
    return HONEST_ANNOTATION(self, head, body, ())


def insertions_settle(self: Any, update: Any, n: int = 1) -> None:
    if update.sign > 0:
        HONEST_SETTLE(self, update, n)


def last_value(self: Any, before: Any, changed: Any, present: bool, members: Any) -> Fact:
    return Fact("best", changed.args)


def let_in(self: Any, burst: Any) -> Any:
    updates = list(burst)
    for update in updates:
        self.counts[update.fact] += update.sign
    self.counts = +self.counts
    return updates, []


def only_insertions(made: Any, *_: Any) -> Any:
    return [(u, n) for u, n in made if u.sign > 0]


def one_copy(made: Any, *_: Any) -> Any:
    return [(u, 1) for u, _ in made]


PLANTED: dict[str, tuple[str, int, Patch]] = {
    # in the fast system that the checker explores
    "copies are not multiplied": ("twice", 1, wrapped(GroundPsn, "_weight", lambda w, *_: min(w, 1))),
    "facts with and without ν are the same": (
        "twice", 1, replaced(GroundPsn, "_weight", without_nu),
    ),
    "rules fire for insertions only": (
        "hop", 1, wrapped(GroundPsn, "_fire", lambda made, *_: [m for m in made if m[2] > 0]),
    ),
    "a head is made twice": ("hop", 1, wrapped(GroundPsn, "_fire", lambda made, *_: [m for m in made for _ in (1, 2)])),
    "negation is the wrong way round": (
        "negation", 1, wrapped(GroundPsn, "_fire", lambda made, *_: [(h, n, -s) for h, n, s in made]),
    ),
    "the old minimum stays": (
        "min", 1, wrapped(GroundPsn, "_aggregate", lambda made, *_: [m for m in made if m[2] > 0]),
    ),
    "a lost minimum is not looked for again": (
        "min", 1, wrapped(GroundPsn, "_aggregate", lambda made, *_: [m for m in made if m[2] < 0]),
    ),
    "an update is lost": ("hop", 1, wrapped(GroundPsn, "_fire", lambda made, *_: list(made)[1:])),
    # in supports
    "a fact may support itself": (
        "reach", 1, wrapped(Supports, "used", lambda used, *_: EMPTY),
    ),
    "a value may support itself": ("flood", 1, wrapped(Supports, "used", lambda used, *_: EMPTY)),
    "supports forget what is further away": (
        "flood", 1, replaced(Supports, "annotation", near_only),
    ),
    "the worst value is chosen": ("flood", 1, wrapped(Supports, "_better", lambda better, *_: not better)),
    # in the step that all hosts share, so that SN has it too
    "deletions make nothing": ("step", 2, wrapped(Core, "react", only_insertions)),
    "n copies make what one makes": ("twice", 2, wrapped(Core, "react", one_copy)),
    "presence counts updates": (
        "negation", 2, wrapped(Presence, "change", lambda found, self, update, n: (update.sign, found[1])),
    ),
    "a group keeps what it had": ("min", 2, replaced(Groups, "change", lambda self, update, n, appears: [])),
    "a group takes the last value": (
        "min", 2, replaced(Groups, "_after", last_value),
    ),
    "commit does nothing for deletions": (
        "step", 2, replaced(Core, "settle", insertions_settle),
    ),
    "the old value of a group is deleted twice": (
        "min", 2, wrapped(Groups, "change", lambda made, *_: [(u, n if u.sign > 0 else 2 * n) for u, n in made]),
    ),
    # at the edges
    "a deletion of what is not there is let in": ("hop", 1, replaced(Ledger, "admit", let_in)),
}  # fmt: skip
HONEST_WEIGHT, HONEST_ANNOTATION, HONEST_SETTLE = GroundPsn._weight, Supports.annotation, Core.settle


@pytest.mark.parametrize("error", PLANTED)
def test_the_checker_finds_a_planted_error(error: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, picking, plant = PLANTED[error]
    case = CASES[name]
    if error.startswith("a deletion of what"):
        case = (case[0], case[1], "-link(@c,d), +link(@c,a)")
    plant(monkeypatch)
    assert verdict(case, picking) != "holds"


def test_there_are_twenty_planted_errors() -> None:
    assert len(PLANTED) == 20
