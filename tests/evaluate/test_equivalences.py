"""An `eqrel` held as classes says what one that lists its pairs says."""

from __future__ import annotations

import random
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from evaluate.running import evaluated, run
from tidelog.local.outputs import write_outputs
from tidelog.store import Equivalence

DECLARED = """
.decl edge(x: number, y: number)
.decl node(x: number)
.decl same(x: number, y: number) eqrel
same(x, y) :- edge(x, y).
"""
LISTED = DECLARED + "same(x, y) :- same(y, x).\n"  # it reads itself, so its pairs are listed
FACTS = {
    "edge": [(1, 2), (3, 2), (5, 6), (7, 7), (-4, 2**40), (2**40, 5)],
    "node": [(n,) for n in (*range(10), -4, 2**40)],
}
RULES = {
    "a join from the left": ".decl p(x: number, y: number)\np(x, y) :- node(x), x > 2, same(x, y).",
    "a join from the right": ".decl p(x: number, y: number)\np(x, y) :- same(x, y), node(y), y < 3.",
    "all pairs": ".decl p(x: number, y: number)\np(y, x) :- same(x, y).",
    "a pair that is known": ".decl p(x: number, y: number)\np(x, y) :- edge(x, _), edge(_, y), same(x, y).",
    "constants": ".decl p(x: number)\np(x) :- same(3, x).\np(-1) :- same(1, 3).\np(-2) :- same(1, 5).",
    "the diagonal": ".decl p(x: number)\np(x) :- same(x, x).",
    "someone": ".decl p(x: number)\np(x) :- same(x, _).\np(-1) :- same(_, _).",
    "inequality": ".decl p(x: number, y: number)\np(x, y) :- same(x, y), x < y.",
    "two at once": ".decl p(x: number, y: number)\np(x, z) :- same(x, y), edge(y, w), same(w, z).",
    "negation": ".decl p(x: number, y: number)\np(x, y) :- node(x), node(y), !same(x, y).",
    "negation of two": ".decl p(x: number)\np(x) :- node(x), !same(x, 1), !same(6, x).",
    "negation of oneself": ".decl p(x: number)\np(x) :- node(x), !same(x, x).",
    "negation of anyone": ".decl p(x: number)\np(x) :- node(x), !same(_, x).\np(-1) :- !same(_, _).",
    "the number of pairs": ".decl p(n: number)\np(n) :- n = count : { same(_, _) }.",
    "the number of named pairs": ".decl p(n: number)\np(n) :- n = count : { same(x, y) }.",
    "the number of partners": ".decl p(x: number, n: number)\np(x, n) :- node(x), n = count : { same(y, x) }.",
    "a count with a condition": ".decl p(x: number, n: number)\np(x, n) :- node(x), n = count : { same(x, y), y > 2 }.",
    "a count of joins": ".decl p(n: number)\np(n) :- n = count : { edge(x, y), same(y, z), same(x, _) }.",
    "a count of the diagonal": ".decl p(n: number)\np(n) :- n = count : { same(x, x) }.",
    "the least of a class": ".decl p(x: number, n: number)\np(x, n) :- node(x), n = min y : { same(x, y) }.",
    "a sum": ".decl p(x: number, n: number)\np(x, n) :- node(x), n = sum y : { node(y), same(y, _), same(y, x) }.",
    "negation in a count": ".decl p(x: number, n: number)\np(x, n) :- node(x), n = count : { node(y), !same(x, y) }.",
    "recursion beside it": ".decl p(x: number)\np(1).\np(y) :- p(x), same(x, z), edge(w, z), same(w, y).",
    "negation beside recursion": ".decl p(x: number)\np(0).\np(x + 1) :- p(x), x < 9, !same(x, 2).",
    "an equivalence of it": (
        ".decl p(x: number, y: number) eqrel\np(x / 2, y / 2) :- same(x, y), x < 9, y < 9.\np(0, 9)."
    ),
}


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", RULES)
def test_rules_find_the_same_as_with_listed_pairs(name: str, threads: int) -> None:
    by_classes = run(DECLARED + RULES[name], FACTS, threads=threads)
    assert by_classes == run(LISTED + RULES[name], FACTS)
    assert by_classes["p"] or "negation" in name


def test_facts_of_text_and_input_count_as_pairs() -> None:
    text = '.decl same(x: symbol, y: symbol) eqrel\n.input same\nsame("a", "b").\nsame("c", "c").'
    pairs = {(x, y) for group in (("a", "b", "d"), ("c",)) for x in group for y in group}
    assert run(text, {"same": [("d", "b")]})["same"] == pairs


def test_input_alone_is_closed_too() -> None:
    text = ".decl same(x: number, y: number) eqrel\n.input same"
    assert run(text, {"same": [(1, 2)]})["same"] == {(1, 1), (1, 2), (2, 1), (2, 2)}


def test_an_empty_equivalence_has_nothing() -> None:
    rule = ".decl p(n: number)\np(n) :- n = count : { same(_, _) }.\np(-1) :- same(_, _)."
    found = run(DECLARED + rule)
    assert (found["same"], found["p"]) == (set(), {(0,)})


def test_a_class_of_100_000_takes_a_few_megabytes() -> None:
    members = np.arange(100_000)
    random.Random(5).shuffle(members)
    rule = ".decl p(n: number)\np(n) :- n = count : { same(_, _) }.\np(n) :- edge(5, _), n = count : { same(5, _) }."
    tracemalloc.start()
    session = evaluated(DECLARED + rule, {"edge": np.column_stack((members[:-1], members[1:]))})
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert session.count("same") == 10**10
    assert session.ready().rows("p").tolist() == [[10**10], [10**5]]
    assert peak < 50e6


def test_output_is_in_order_and_made_a_batch_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tidelog.store.equivalence.BATCH", 10)
    session = evaluated(f"{DECLARED}.output same", {"edge": np.array([(9, 2), (2, 30), (4, 5)])})
    same = session.ready().query_database()["same"]
    assert isinstance(same, Equivalence)
    assert [len(part) for part in same.batches(size=4)] == [3, 3, 3, 4]
    write_outputs(session, tmp_path)
    lines = [f"{x}\t{y}" for x in (2, 4, 5, 9, 30) for y in ((4, 5) if x in (4, 5) else (2, 9, 30))]
    assert (tmp_path / "same.csv").read_text().splitlines() == lines


@pytest.mark.parametrize("directive", ["IO=jsonfile", 'filename="same.parquet"', 'IO=sqlite, dbname="d"'])
def test_every_format_takes_an_equivalence(directive: str, tmp_path: Path) -> None:
    write_outputs(evaluated(f"{DECLARED}.output same({directive})", {"edge": np.array([(1, 2)])}), tmp_path)
    assert list(tmp_path.iterdir())
