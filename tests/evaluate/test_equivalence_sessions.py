"""An `eqrel` in a session is held as classes: nothing costs what all of its pairs would, whatever changes."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from test_memory_limits import beyond_now

import tidelog
from evaluate.recomputation import compare
from strategies.budget import examples
from strategies.epochs import History, histories
from strategies.programs import Features
from tidelog.epochs.engine import STRATEGIES
from tidelog.errors import TidelogError
from tidelog.evaluate.limits import Limits
from tidelog.state.query import query_state
from tidelog.state.reader import read_changes, read_relation

SAME = """
.decl link(x: number, y: number) .input link
.decl same(x: number, y: number) eqrel .output same
same(x, y) :- link(x, y).
"""
ASKED = (
    SAME
    + """
.decl asked(x: number) .input asked
.decl friends(x: number, n: number)
friends(x, n) :- asked(x), n = count : { same(x, _) }.
.decl strangers(x: number, y: number)
strangers(x, y) :- asked(x), asked(y), !same(x, y).
.decl met(x: number, y: number)
met(x, y) :- asked(x), same(x, y), asked(y).
"""
)
EQUIVALENCES = Features(types=("number", "symbol", "Pair"), equivalences=10, derived_inputs=True)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_an_update_with_equivalences_is_a_recomputation(strategy: str) -> None:
    @examples(120, len(STRATEGIES), STRATEGIES.index(strategy))
    @given(histories(EQUIVALENCES))
    def agrees(history: History) -> None:
        compare(history, strategy)

    agrees()


def chain(nodes: int) -> np.ndarray[Any, Any]:
    """The links of a chain, shuffled."""
    places = np.random.default_rng(nodes).permutation(nodes - 1)
    return np.column_stack((places, places + 1))


def contents(session: tidelog.Session, names: Iterable[str]) -> dict[str, set[Any]]:
    return {name: set(session[name]) for name in names}


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_chain_of_20000_in_a_session(strategy: str) -> None:
    n = 20_000
    with tidelog.Session(ASKED, strategy=strategy, limits=Limits(max_memory=beyond_now(256))) as session:
        first = session.bootstrap({"link": chain(n), "asked": [(0,), (n - 1,), (n,)]})
        assert (first.inserted.count("same"), session.count("same"), len(session["same"])) == (n * n,) * 3
        assert (0, n - 1) in session["same"]
        assert (0, n) not in session["same"]
        assert session.query(f"same(0, X), X > {n - 3}").column("X").to_pylist() == [n - 2, n - 1]

        one_more = session.update(insert={"link": [(n - 1, n)]})
        assert one_more.inserted.count("same") == 2 * n + 1
        assert set(session["friends"]) == {(x, n + 1) for x in (0, n - 1, n)}
        assert not set(session["strangers"])

        cut = session.update(delete={"link": [(n // 2 - 1, n // 2)]})
        assert cut.deleted.count("same") == 2 * (n // 2) * (n // 2 + 1)
        assert session.count("same") == (n // 2) ** 2 + (n // 2 + 1) ** 2
        assert (0, n - 1) not in session["same"]
        assert set(session["friends"]) == {(0, n // 2), (n - 1, n // 2 + 1), (n, n // 2 + 1)}
        assert set(session["strangers"]) == {(0, n - 1), (n - 1, 0), (0, n), (n, 0)}
        assert set(session["met"]) == {(0, 0), (n - 1, n - 1), (n, n), (n - 1, n), (n, n - 1)}


def test_a_chain_of_200000_needs_memory_for_its_elements_and_not_for_its_pairs(tmp_path: Path) -> None:
    n = 200_000
    limits = Limits(max_memory=beyond_now(512))
    with tidelog.Session(SAME, limits=limits, state=tmp_path / "state") as session:
        session.bootstrap({"link": chain(n)})
        session.update(insert={"link": [(n - 1, n)]})
        assert session.update(delete={"link": [(99, 100)]}).deleted.count("same") == 2 * 100 * (n - 99)
    assert sum(file.stat().st_size for file in (tmp_path / "state").rglob("*.parquet")) < 40 * n
    with tidelog.Session(SAME, limits=limits, state=tmp_path / "state") as session:
        assert session.count("same") == 100**2 + (n - 99) ** 2
        session.update(insert={"link": [(99, 100)]})
        assert session.count("same") == (n + 1) ** 2


def test_an_update_leaves_the_classes_alone_that_it_does_not_touch() -> None:
    pairs = np.arange(100_000).reshape(-1, 2)
    with tidelog.Session(ASKED) as session:
        session.bootstrap({"link": np.concatenate((pairs, chain(5000) + 200_000)), "asked": [(0,), (201_000,)]})
        for change in ({"insert": {"link": [(0, 2)]}}, {"delete": {"link": [(0, 1)]}}):
            epoch = session.update(**change)  # type: ignore[arg-type]
            assert epoch.strategy == "update"
            assert epoch.derivations < 500


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_pairs_that_are_given_and_derived_stay_until_both_are_gone(strategy: str) -> None:
    text = SAME + ".input same\n"
    with tidelog.Session(text, strategy=strategy) as session:
        session.bootstrap({"link": [(1, 2)], "same": [(1, 2), (2, 3)]})
        assert session.count("same") == 9
        assert session.update(delete={"same": [(1, 2)]}).deleted.count("same") == 0
        assert set(session.update(delete={"link": [(1, 2)]}).changes["same"].column("x").to_pylist()) == {1, 2, 3}
        assert set(session["same"]) == {(x, y) for x in (2, 3) for y in (2, 3)}
        assert session.update(insert={"same": [(3, 3), (2, 3)]}).ignored_inserts == {"same": 1}
        assert session.update(clear="same").deleted.count("same") == 4
        assert session.count("same") == 0


@pytest.mark.parametrize("strategy", [s for s in STRATEGIES if s != "batch"])
def test_several_rules_that_a_negated_pair_becomes_are_kept_apart(strategy: str) -> None:
    """Each has an aggregate over groups of its own, and derivations with the same numbers of rows."""
    text = SAME + (
        ".decl a(x: number) .input a\n.decl p(x: number, y: number, n: number)\n"
        "p(x, y, n) :- a(x), a(y), !same(x, y), !same(y, x), n = count : { a(z), z != y, !same(z, x) }.\n"
    )
    changes: list[dict[str, Any]] = [
        {"insert": {"link": [(1, 2), (3, 4)]}},
        {"insert": {"a": [(5,), (6,)], "link": [(5, 5)]}},
        {"delete": {"link": [(1, 2)]}, "insert": {"link": [(2, 3)]}},
        {"delete": {"link": [(5, 5)], "a": [(2,)]}},
        {"clear": "link"},
    ]
    facts: dict[str, set[Any]] = {"link": set(), "a": {(1,), (2,), (3,)}}
    with tidelog.Session(text, strategy=strategy) as session:
        session.bootstrap(facts)
        for change in changes:
            session.update(**change)
            if "clear" in change:
                facts["link"] = set()
            for name, rows in change.get("delete", {}).items():
                facts[name] -= set(rows)
            for name, rows in change.get("insert", {}).items():
                facts[name] |= set(rows)
            with tidelog.Session(text, strategy="batch") as fresh:
                fresh.bootstrap(facts)
                assert contents(session, ("same", "p")) == contents(fresh, ("same", "p"))


def test_changes_that_were_handed_out_stay_as_they_are() -> None:
    with tidelog.Session(SAME) as session:
        session.bootstrap({"link": [(1, 2), (3, 4)]})
        joined = session.update(insert={"link": [(2, 3)]})
        session.update(delete={"link": [(1, 2), (2, 3)]})
        rows = set(zip(*(c.to_pylist() for c in joined.inserted["same"].columns), strict=True))
        assert rows == {(x, y) for x in (1, 2) for y in (3, 4)} | {(y, x) for x in (1, 2) for y in (3, 4)}


def test_an_equivalence_that_is_read_in_its_own_recursion_ends_at_the_limit_of_memory() -> None:
    text = SAME + "same(x, z) :- same(x, y), link(y, z).\n"
    with tidelog.Session(text, limits=Limits(max_memory=beyond_now(200))) as session:
        session.bootstrap({"link": [(1, 2)]})
        with pytest.raises(TidelogError, match="TL0903"):
            session.update(insert={"link": chain(20_000)})
        assert set(session["same"]) == {(1, 1), (1, 2), (2, 1), (2, 2)}


def test_all_pairs_are_refused_where_there_is_no_memory_for_them() -> None:
    with tidelog.Session(SAME, limits=Limits(max_memory=beyond_now(200))) as session:
        session.bootstrap({"link": chain(20_000)})
        with pytest.raises(TidelogError, match="TL0903"):
            session["same"].to_arrow()
        assert session.count("same") == 20_000**2


# ---- states


def test_a_state_of_an_equivalence_is_read_as_all_of_its_pairs(tmp_path: Path) -> None:
    text = '.decl same(x: symbol, y: symbol) eqrel .input same\n.decl p(x: symbol)\np(x) :- same("a", x).\n'
    with tidelog.Session(text, state=tmp_path / "s") as session:
        session.bootstrap({"same": [("a", "b")]})
        session.update(insert={"same": [("b", "c")]})
        session.update(delete={"same": [("a", "b")]})
        session.update(insert={"same": [("c", "a")]})
    found = {
        epoch: set(zip(*(c.to_pylist() for c in read_relation(tmp_path / "s", "same", epoch).columns[:2]), strict=True))
        for epoch in (1, 2, 3, 4)
    }
    assert found == {
        epoch: {(x, y) for x in texts for y in texts} for epoch, texts in enumerate(("ab", "abc", "bc", "abc"), 1)
    }
    changes = read_changes(tmp_path / "s", "same", since=2).to_pylist()
    assert {(c["x"], c["y"]) for c in changes if (c["_epoch"], c["_change_type"]) == (3, "delete")} == found[2] - found[
        3
    ]
    assert {(c["x"], c["y"]) for c in changes if (c["_epoch"], c["_change_type"]) == (4, "insert")} == found[4] - found[
        3
    ]
    assert len(changes) == 10
    _, answers = query_state(tmp_path / "s", tidelog.errors.Source("q", "same(X, X)"), {})
    assert sorted(answers.column("X").to_pylist()) == ["a", "b", "c"]


@pytest.mark.parametrize("kind", ["number", "symbol", "Pair"])
def test_restarts_go_on_with_the_classes_of_any_kind_of_element(tmp_path: Path, kind: str) -> None:
    text = (
        f".type Pair = [a: number, b: number]\n.decl link(x: {kind}, y: {kind}) .input link\n"
        f".decl same(x: {kind}, y: {kind}) eqrel\nsame(x, y) :- link(x, y).\n"
        f".decl alone(x: {kind}, y: {kind})\nalone(x, y) :- link(x, _), link(_, y), !same(x, y).\n"
        ".decl sizes(n: number)\nsizes(n) :- link(x, _), n = count : { same(x, _) }.\n"
    )
    values = {"number": [1, 2, 3, 4, 5], "symbol": list("abcde"), "Pair": [f"[{i}, 0]" for i in range(5)]}[kind]
    a, b, c, d, e = values
    steps: list[tuple[list[Any], list[Any]]] = [
        ([(c, d)], []),
        ([(b, c), (e, e)], []),
        ([], [(c, d)]),
        ([(d, e)], [(a, b)]),
    ]
    facts = {(a, b)}
    with tidelog.Session(text, state=tmp_path / "s") as session:
        session.bootstrap({"link": facts})
    for insert, delete in steps:
        facts = facts - set(delete) | set(insert)
        with tidelog.Session(text, state=tmp_path / "s") as session:
            session.update(insert={"link": insert}, delete={"link": delete})
            found = contents(session, ("same", "alone", "sizes"))
        with tidelog.Session(text, strategy="batch") as fresh:
            fresh.bootstrap({"link": facts})
            assert found == contents(fresh, ("same", "alone", "sizes"))


def test_a_state_that_has_all_pairs_is_brought_to_classes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As earlier versions have left it."""
    text = ASKED + ".input same\n"
    with monkeypatch.context() as earlier:
        earlier.setattr("tidelog.plan.stateful.implicit_equivalences", lambda checked: frozenset())
        with tidelog.Session(text, state=tmp_path / "s") as session:
            session.bootstrap({"link": [(1, 2), (2, 3)], "same": [(4, 5)], "asked": [(1,), (4,)]})
            before = contents(session, ("same", "friends", "strangers"))
    manifest = tmp_path / "s" / "manifest.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"format": 1}))
    with tidelog.Session(text, state=tmp_path / "s", read_only=True) as session:
        assert contents(session, ("same", "friends", "strangers")) == before
    with tidelog.Session(text, state=tmp_path / "s") as session:
        assert contents(session, ("same", "friends", "strangers")) == before
        session.update(delete={"same": [(4, 5)], "link": [(2, 3)]})
        assert set(session["same"]) == {(1, 1), (1, 2), (2, 1), (2, 2)}
    with tidelog.Session(text, state=tmp_path / "s") as session:
        assert set(session["friends"]) == {(1, 2), (4, 0)}
