"""`.lattice`: relations that hold the least upper bounds of what is derived."""

from __future__ import annotations

import random
from typing import Any

import pytest

import tidelog
from evaluate.running import checked_text, run
from tidelog.errors import TidelogError

Interval = tuple[int, int]
EMPTY = (1, 0)


def hull(a: Interval, b: Interval) -> Interval:
    return b if a == EMPTY else a if b == EMPTY else (min(a[0], b[0]), max(a[1], b[1]))


def overlap(a: Interval, b: Interval) -> Interval:
    met = (max(a[0], b[0]), min(a[1], b[1]))
    return met if met[0] <= met[1] else EMPTY


FUNCTORS: dict[str, Any] = {"hull": hull, "overlap": overlap, "shift": lambda i, n: (i[0] + n, min(i[1] + n, 50))}
LATTICE = """
.type Interval = [low: number, high: number]
.functor hull(a: Interval, b: Interval): Interval stateful
.functor overlap(a: Interval, b: Interval): Interval stateful
.functor shift(i: Interval, n: number): Interval stateful
.lattice Interval<> { Bottom -> [1, 0], Lub -> @hull(_, _), Glb -> @overlap(_, _) }
"""


def found(text: str, facts: dict[str, Any] | None = None) -> dict[str, Any]:
    return run(LATTICE + text, facts, FUNCTORS)


def test_of_each_key_there_is_the_least_upper_bound() -> None:
    text = """
        .decl r(x: number, i: Interval<>, j: Interval<>)
        r(1, [0, 2], [7, 7]). r(1, [5, 6], [8, 9]). r(2, [3, 3], [1, 1]).
        .decl all(i: Interval<>)
        all(i) :- r(_, i, _).
    """
    relations = found(text)
    assert relations["r"] == {(1, "[0, 6]", "[7, 9]"), (2, "[3, 3]", "[1, 1]")}
    assert relations["all"] == {("[0, 6]",)}


def test_a_recursion_goes_on_from_what_has_grown() -> None:
    text = """
        .decl edge(x: number, y: number)
        edge(1, 2). edge(2, 3). edge(3, 2). edge(3, 4).
        .decl at(x: number, i: Interval<>)
        at(1, [0, 0]).
        at(y, @shift(i, 10)) :- at(x, i), edge(x, y).
    """
    assert found(text)["at"] == {(1, "[0, 0]"), (2, "[10, 50]"), (3, "[20, 50]"), (4, "[30, 50]")}


def test_values_that_are_known_ask_for_at_least_so_much() -> None:
    text = """
        .decl r(x: number, i: Interval<>)
        r(1, [0, 5]). r(2, [2, 3]). r(3, [4, 9]).
        .decl covers(x: number) covers(x) :- r(x, [2, 3]).
        .decl wanted(i: Interval) wanted([4, 5]).
        .decl has(x: number) has(x) :- wanted(i), r(x, i).
    """
    relations = found(text)
    assert relations["covers"] == {(1,), (2,)}
    assert relations["has"] == {(1,), (3,)}


def test_a_variable_in_several_places_is_what_they_have_in_common() -> None:
    text = """
        .decl r(x: number, i: Interval<>) r(1, [0, 5]). r(2, [2, 3]).
        .decl s(x: number, i: Interval<>) s(1, [4, 9]). s(2, [7, 9]).
        .decl both(x: number, i: Interval<>) both(x, i) :- r(x, i), s(x, i).
    """
    assert found(text)["both"] == {(1, "[4, 5]")}


def test_what_is_not_there_has_nothing_in_common() -> None:
    text = """
        .decl n(x: number) n(1). n(2). n(3).
        .decl r(x: number, i: Interval<>) r(1, [0, 5]). r(2, [7, 9]).
        .decl apart(x: number) apart(x) :- n(x), !r(x, [1, 2]).
        .decl none(x: number) none(x) :- n(x), !r(x, _).
    """
    relations = found(text)
    assert relations["apart"] == {(2,), (3,)}
    assert relations["none"] == {(3,)}


def hulls_by_hand(edges: set[tuple[int, int]], starts: dict[int, Interval]) -> set[tuple[int, str]]:
    held = dict(starts)
    changed = True
    while changed:
        changed = False
        for x, y in edges:
            if x in held:
                moved = hull(held.get(y, EMPTY), FUNCTORS["shift"](held[x], 1))
                if moved != held.get(y):
                    held[y], changed = moved, True
    return {(x, f"[{low}, {high}]") for x, (low, high) in held.items()}


@pytest.mark.parametrize("seed", range(8))
def test_sessions_follow_changes_by_evaluating_anew(seed: int) -> None:
    choose = random.Random(seed)
    text = LATTICE + """
        .decl edge(x: number, y: number) .input edge
        .decl start(x: number, low: number, high: number) .input start
        .decl at(x: number, i: Interval<>)
        at(x, [l, h]) :- start(x, l, h).
        at(y, @shift(i, 1)) :- at(x, i), edge(x, y).
    """  # fmt: skip
    edges = {(choose.randrange(8), choose.randrange(8)) for _ in range(10)}
    starts = {x: (choose.randrange(5), 5 + choose.randrange(40)) for x in choose.sample(range(8), 2)}
    with tidelog.Session(text, functors=FUNCTORS) as session:
        session.bootstrap({"edge": list(edges), "start": [(x, *i) for x, i in starts.items()]})
        assert set(session["at"]) == hulls_by_hand(edges, starts)
        for _ in range(4):
            new, gone = (choose.randrange(8), choose.randrange(8)), choose.choice(sorted(edges))
            edges = (edges - {gone}) | {new}
            session.update(insert={"edge": [new]}, delete={"edge": [gone]} if gone != new else {})
            assert set(session["at"]) == hulls_by_hand(edges, starts)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (".lattice T<> { Lub -> @hull(_, _) }", "TL0231"),
        (".type T <: number .lattice T<> { Bottom -> 0, Glb -> @overlap(_, _) }", "TL0232"),
        (".type T <: number .lattice T<> { Lub -> 1, Bottom -> 0 }", "TL0232"),
        (".type T <: number .lattice T<> { Lub -> @hull(_, _) }", "TL0232"),
        (".type T <: number .lattice T<> { Lub -> @nothing(_, _) }", "TL0220"),
        (".type T <: number .decl r(x: number, t: T<>)", "TL0233"),
        (".decl r(i: Interval<>, x: number)", "TL0234"),
        (".decl r(x: number, i: Interval<>) choice-domain x", "TL0235"),
        (".decl r(x: number, i: Interval<>) .decl p(x: number) p(x) :- r(_, [x, 1]).", "TL0236"),
        (".decl r(i: Interval<>) .decl p(x: number) p(x) :- r(i), r(i), i = [x, _].", "TL0236"),
    ],
)
def test_what_is_no_lattice_is_refused(text: str, code: str) -> None:
    with pytest.raises(TidelogError, match=code):
        checked_text(LATTICE + text)


def test_a_functor_that_fails_is_told() -> None:
    text = LATTICE + ".decl r(x: number, i: Interval<>) r(1, [0, 2]). r(1, [5, 6])."
    with pytest.raises(TidelogError, match="TL0802"):
        run(text, functors=FUNCTORS | {"hull": lambda a, b: 1 // 0})


def test_the_functors_of_a_lattice_must_be_there() -> None:
    with pytest.raises(TidelogError, match="`hull` has no Python function"):
        run(LATTICE + ".decl r(x: number, i: Interval<>) r(1, [0, 2]).", functors={})
