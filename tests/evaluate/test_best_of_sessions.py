"""Recursion for the best in sessions: what is followed, what is given up and why, what is kept in files."""

from __future__ import annotations

import heapq
import random
from pathlib import Path
from typing import Any

import pytest

from strategies.engine import checked_program
from tidelog import Session
from tidelog.errors import TidelogError
from tidelog.plan.best_of import NotShown, best_of
from tidelog.plan.stateful import flat_rules, stateful_program

ROADS = """
.decl edge(x: number, y: number, w: KIND)
.input edge
.decl source(x: number)
.input source
.decl dist(x: number, d: KIND)
.output dist
dist(x, ZERO) :- source(x).
dist(y, d + w) :- dist(x, d), edge(x, y, w).
dist(x, d1) <= dist(x, d2) :- d2 < d1.
"""
NUMBERS = ROADS.replace("KIND", "number").replace("ZERO", "0")
FLOATS = ROADS.replace("KIND", "float").replace("ZERO", "0.0")
CHAIN = {"edge": [(1, 2, 5), (2, 3, 1), (1, 3, 9)], "source": [(1,)]}


def updated(report: Any, name: str = "dist") -> str:
    (found,) = (s for s in report.strata if name in s.relations)
    return f"{found.strategy}: {found.why}"


def test_a_closed_road_makes_the_way_longer_and_an_open_one_shorter_again() -> None:
    with Session(NUMBERS) as session:
        session.bootstrap(CHAIN)
        report = session.update(delete={"edge": [(2, 3, 1)]})
        assert set(session["dist"]) == {(1, 0), (2, 5), (3, 9)}
        assert updated(report).startswith("update")
        session.update(insert={"edge": [(2, 3, 1)]})
        assert set(session["dist"]) == {(1, 0), (2, 5), (3, 6)}


def test_two_nodes_of_a_cycle_without_weight_do_not_hold_each_other() -> None:
    with Session(NUMBERS) as session:
        session.bootstrap({"edge": [(1, 2, 0), (2, 3, 0), (3, 2, 0)], "source": [(1,)]})
        report = session.update(delete={"edge": [(1, 2, 0)]})
        assert set(session["dist"]) == {(1, 0)}
        assert updated(report).startswith("update")


def test_a_weight_that_turns_negative_is_evaluated_anew_with_the_reason() -> None:
    with Session(NUMBERS) as session:
        session.bootstrap(CHAIN)
        report = session.update(insert={"edge": [(2, 3, -2)]})
        assert set(session["dist"]) == {(1, 0), (2, 5), (3, 3)}
        assert updated(report) == "bootstrap: the value of dist improves along the recursion (at edge(2, 3, -2))"
        report = session.update(delete={"edge": [(1, 2, 5)]})
        assert "improve" in updated(report)
        session.update(delete={"edge": [(2, 3, -2)]})
        report = session.update(insert={"edge": [(1, 2, 4)]})
        assert updated(report).startswith("update")
        assert set(session["dist"]) == {(1, 0), (2, 4), (3, 5)}


def test_floats_and_a_value_that_is_no_number() -> None:
    with Session(FLOATS) as session:
        session.bootstrap({"edge": [(1, 2, 0.5), (2, 3, 0.25)], "source": [(1,)]})
        session.update(insert={"edge": [(1, 3, 0.625)]})
        assert set(session["dist"]) == {(1, 0.0), (2, 0.5), (3, 0.625)}
        with pytest.raises(TidelogError, match="not a number"):
            session.update(insert={"edge": [(1, 4, float("inf")), (4, 5, -float("inf"))]})
        assert set(session["dist"]) == {(1, 0.0), (2, 0.5), (3, 0.625)}
        session.update(delete={"edge": [(1, 3, 0.625)]})
        assert set(session["dist"]) == {(1, 0.0), (2, 0.5), (3, 0.75)}


def test_values_that_overflow_are_an_error() -> None:
    large = 2**62
    with Session(NUMBERS) as session:
        session.bootstrap({"edge": [(1, 2, large), (3, 4, large)], "source": [(1,)]})
        with pytest.raises(TidelogError, match="TL0864"):
            session.update(insert={"edge": [(2, 3, large)]})
        assert set(session["dist"]) == {(1, 0), (2, large)}
    for strategy in ("batch", "elastic"):
        with Session(NUMBERS, strategy=strategy) as session, pytest.raises(TidelogError, match="too large"):
            session.bootstrap({"edge": [(1, 2, large), (2, 3, large)], "source": [(1,)]})


def test_texts_and_several_columns_as_keys() -> None:
    text = """
    .decl leg(depot: symbol, from: symbol, to: symbol, w: unsigned)
    .input leg
    .decl far(depot: symbol, to: symbol, w: unsigned)
    far(d, d, 0) :- leg(d, _, _, _).
    far(d, z, n + w) :- far(d, y, n), leg(d, y, z, w).
    far(d, x, n) <= far(d, x, m) :- m < n.
    """
    with Session(text) as session:
        session.bootstrap({"leg": [("a", "a", "b", 3), ("a", "b", "c", 4), ("b", "b", "a", 1), ("a", "a", "c", 9)]})
        assert set(session["far"]) == {("a", "a", 0), ("a", "b", 3), ("a", "c", 7), ("b", "b", 0), ("b", "a", 1)}
        session.update(delete={"leg": [("a", "b", "c", 4)]})
        assert ("a", "c", 9) in set(session["far"])


def test_a_state_on_disk_is_gone_on_from(tmp_path: Path) -> None:
    with Session(NUMBERS, state=tmp_path / "state") as session:
        session.bootstrap(CHAIN)
        session.update(insert={"edge": [(3, 4, 0), (4, 3, 0)]})
    with Session(NUMBERS, state=tmp_path / "state") as session:
        report = session.update(delete={"edge": [(2, 3, 1)]})
        assert updated(report).startswith("update")
        assert set(session["dist"]) == {(1, 0), (2, 5), (3, 9), (4, 9)}
        session.update(delete={"edge": [(1, 3, 9)]})
        assert set(session["dist"]) == {(1, 0), (2, 5)}


def test_many_changes_with_compaction_and_a_small_switch() -> None:
    rnd = random.Random(1)
    nodes = 400
    edges = {(rnd.randrange(nodes), rnd.randrange(nodes), rnd.randrange(1, 50)) for _ in range(1500)}
    with Session(NUMBERS, switch=0.0) as session, Session(NUMBERS, strategy="batch") as batch:
        sources = [(0,), (1,)]
        for one in (session, batch):
            one.bootstrap({"edge": sorted(edges), "source": sources})
        for _ in range(12):
            gone = set(rnd.sample(sorted(edges), 60))
            come = {(rnd.randrange(nodes), rnd.randrange(nodes), rnd.randrange(1, 50)) for _ in range(60)} - edges
            edges = edges - gone | come
            for one in (session, batch):
                one.update(delete={"edge": sorted(gone)}, insert={"edge": sorted(come)})
            assert set(session["dist"]) == set(batch["dist"]) == dijkstra(edges, {0, 1})


def dijkstra(edges: set[tuple[int, int, int]], sources: set[int]) -> set[tuple[int, int]]:
    """The distances, found by the book."""
    after: dict[int, list[tuple[int, int]]] = {}
    for x, y, w in edges:
        after.setdefault(x, []).append((y, w))
    waiting, done = [(0, source) for source in sources], dict[int, int]()
    while waiting:
        distance, node = heapq.heappop(waiting)
        if node not in done:
            done[node] = distance
            for other, weight in after.get(node, ()):
                heapq.heappush(waiting, (distance + weight, other))
    return set(done.items())


@pytest.mark.parametrize(
    ("rules", "why"),
    [
        ("p(x, a) <= p(x, b) :- b < a, x > 0.", "a partial order"),
        ("p(x, a) <= p(x, b) :- b < a. p(x, a) <= p(x, b) :- b > a.", "a partial order"),
        ("p(x, a) <= p(x, b) :- b < a. q(x, a) <= q(x, b) :- b > a. q(x, d) :- p(x, d).", "min and max in one"),
        ("p(x, a) <= p(x, b) :- b < a. q(x, d) :- p(x, d).", "used as a key of q"),
        ("p(x, a) <= p(x, b) :- b < a. p(d, 0) :- p(_, d).", "used as a key of p"),
        ("p(x, a) <= p(x, b) :- b < a. p(y, 0) :- p(_, d), e(d, y).", "used as a key"),
        ("p(x, a) <= p(x, b) :- b < a. p(y, d) :- p(x, d), e(x, y), d > 3.", "a test that worse values pass"),
        ("p(x, a) <= p(x, b) :- b < a. p(y, 1) :- p(x, 3), e(x, y).", "a test that worse values pass"),
        ("p(x, a) <= p(x, b) :- b < a. p(y, d) :- p(x, d), e(x, y), !e(d, d).", "in a negation of e"),
        ("p(x, a) <= p(x, b) :- b < a. p(y, 9 - d) :- p(x, d), e(x, y).", "not shown to be monotone"),
        ("p(x, a) <= p(x, b) :- b < a. p(y, d * w) :- p(x, d), e(y, w).", "not shown to be monotone: *"),
        ("p(x, a) <= p(x, b) :- b < a. p(y, d % 7) :- p(x, d), e(x, y).", "not shown to be monotone: %"),
        ("p(x, a) <= p(x, b) :- b < a. p(y, d) :- p(x, d), p(y, d).", "used as a key"),
    ],
)
def test_what_is_not_shown_is_refused_with_the_reason(rules: str, why: str) -> None:
    declared = "e(x: number, y: number)", "p(x: number, d: number)", "q(x: number, d: number)"
    text = "\n".join(f".decl {one}" for one in declared) + "\n.input e\np(x, y) :- e(x, y).\np(x, y) :- q(x, y).\n"
    checked = checked_program(text + rules.replace(". ", ".\n"))
    (stratum,) = (s for s in checked.strata if "p" in s.relations)
    with pytest.raises(NotShown, match=why.replace("*", r"\*")):
        best_of(flat_rules(checked, stratum), stratum.relations)


@pytest.mark.parametrize(
    "rule",
    [
        "p(y, d + w) :- p(x, d), e(x, y, w).",
        "p(y, max(d, w)) :- p(x, d), e(x, y, w).",
        "p(y, d + f - w) :- p(x, d), p(y, f), e(x, y, w).",
        "p(y, d * w) :- p(x, d), e(x, y, w), w >= 0.0.",
        "p(y, d * 2.0 / 4.0) :- p(x, d), e(x, y, _).",
        "p(y, d) :- p(x, d), e(x, y, w), d + w < 7.0.",
        "p(y, d) :- p(x, d), e(x, y, w), 3.0 - d > w.",
        "p(y, -(-d)) :- p(x, d), e(x, y, w), w = 2.0.",
    ],
)
def test_what_keeps_the_order_is_followed(rule: str) -> None:
    text = ".decl e(x: number, y: number, w: float)\n.input e\n.decl p(x: number, d: float)\np(x, w) :- e(x, x, w).\n"
    checked = checked_program(text + rule + "\np(x, a) <= p(x, b) :- b < a.")
    (stratum,) = (s for s in stateful_program(checked, by_ranks=True).strata if "p" in s.relations)
    assert stratum.best is not None, stratum.whole
    assert not stratum.best.descending


# ---- why a value is the best


def test_the_best_predecessors_of_a_key_lead_back_to_the_source() -> None:
    with Session(NUMBERS) as session:
        session.bootstrap({"edge": [(1, 2, 5), (2, 3, 1), (1, 3, 6), (1, 3, 9), (3, 4, 2)], "source": [(1,)]})
        assert {found.body for found in session.best("dist", (3,))} == {
            (("dist", (2, 5)), ("edge", (2, 3, 1))),
            (("dist", (1, 0)), ("edge", (1, 3, 6))),
        }
        (only,) = session.best("dist", [4])
        assert (only.value, str(only)) == (8, "dist(3, 6), edge(3, 4, 2)")
        (first,) = session.best("dist", (1,))
        assert (first.rule, first.body) == ("dist(x, 0) :- source(x).", (("source", (1,)),))
        assert session.best("dist", (9,)) == []
        session.update(delete={"edge": [(2, 3, 1)]})
        assert [str(found) for found in session.best("dist", (3,))] == ["dist(1, 0), edge(1, 3, 6)"]


@pytest.mark.parametrize(
    ("name", "key", "message"),
    [
        ("edge", (1, 2), "edge has no best value: all of its tuples are kept"),
        ("dust", (1,), "no relation dust"),
        ("dist", (1, 2), r"the key of dist is \(x\): 1 values, and not 2"),
        ("dist", ("a",), "'a' is no value of type number"),
    ],
)
def test_what_has_no_best_value_says_so(name: str, key: tuple[Any, ...], message: str) -> None:
    with Session(NUMBERS) as session:
        session.bootstrap(CHAIN)
        with pytest.raises(TidelogError, match=message):
            session.best(name, key)
