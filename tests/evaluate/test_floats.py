"""Floats are compared by value, everywhere in the same way: one zero; one NaN, the greatest of all (decision 0013)."""

from __future__ import annotations

import itertools
import json
import math
import sqlite3
import struct
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tidelog
from evaluate.running import run
from tidelog.epochs.engine import STRATEGIES
from tidelog.evaluate.aggregates import fold
from tidelog.io.order import sorted_table
from tidelog.values import Kind

INF, NAN = math.inf, math.nan
ODD_NAN = struct.unpack("<d", struct.pack("<q", -1))[0]


def texts(rows: Iterable[tuple[Any, ...]]) -> list[str]:
    """Rows that can be compared: every NaN is written alike, and -0.0 is not 0.0."""
    return sorted(", ".join(map(repr, row)) for row in rows)


def found(text: str, name: str, facts: dict[str, list[tuple[Any, ...]]] | None = None) -> list[str]:
    return texts(run(text, facts)[name])


# ---- equality and order


def test_a_zero_of_either_sign_is_zero() -> None:
    assert found(".decl A(x: float)\nA(0.0). A(x + 1) :- A(x), x = -0.0.", "A") == ["0.0", "1.0"]


def test_a_relation_holds_zero_and_nan_once() -> None:
    text = ".decl e(x: float)\n.input e\n.decl p(x: float)\np(x) :- e(x)."
    facts = {"e": [(0.0,), (-0.0,), (NAN,), (-NAN,), (ODD_NAN,)]}
    assert found(text, "p", facts) == ["0.0", "nan"]


HOLDS = {
    "=": lambda a, b: a == b, "!=": lambda a, b: a != b, "<": lambda a, b: a < b, "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b, ">=": lambda a, b: a >= b,
}  # fmt: skip
ORDER = [-INF, -1.5, 0.0, 1.5, INF, NAN]
"""From the least to the greatest."""


@pytest.mark.parametrize("op", HOLDS)
def test_floats_have_one_order_in_which_nan_is_the_greatest(op: str) -> None:
    text = f".decl e(x: float)\n.input e\n.decl p(x: float, y: float)\np(x, y) :- e(x), e(y), x {op} y."
    expected = [
        (x, y) for (i, x), (j, y) in itertools.product(enumerate(ORDER), repeat=2) if HOLDS[op](i, j)
    ]  # by their places in the order
    assert found(text, "p", {"e": [(x,) for x in ORDER]}) == texts(expected)


def test_a_shared_variable_an_equation_and_a_negation_agree_about_nan() -> None:
    text = """
    .decl e(x: float)
    .input e
    .decl f(x: float)
    .input f
    .decl joined(x: float)
    joined(x) :- e(x), f(x).
    .decl compared(x: float)
    compared(x) :- e(x), f(y), x = y.
    .decl apart(x: float)
    apart(x) :- e(x), !f(x).
    .decl same(x: float)
    same(x) :- e(x), !(x != x).
    """
    relations = run(text, {"e": [(NAN,), (-0.0,), (1.0,)], "f": [(ODD_NAN,), (0.0,)]})
    assert {name: texts(relations[name]) for name in ("joined", "compared", "apart", "same")} == {
        "joined": ["0.0", "nan"],
        "compared": ["0.0", "nan"],
        "apart": ["1.0"],
        "same": ["0.0", "1.0", "nan"],
    }


# ---- functors


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("x * 0.0", ["0.0", "nan"]),
        ("-x * 0.0", ["0.0", "nan"]),
        ("-(x * 0.0)", ["0.0", "nan"]),
        ("0.0 / x", ["0.0", "nan"]),
        ("1 / (x * 0.0)", ["inf", "nan"]),
        ("x - x", ["0.0", "nan"]),
        ("(-1.0) ^ x", ["1.0", "nan"]),
        ("min(x, -x, 0.5)", ["-2.0", "-inf", "0.0", "0.5"]),
        ("max(x, 0.5)", ["0.5", "2.0", "inf", "nan"]),
        ("to_float(to_string(x * 0.0))", ["0.0", "nan"]),
        ("as(ord(x * 0.0), float)", ["0.0", "nan"]),
        ("@minus(x)", ["-2.0", "-inf", "0.0", "2.0", "inf", "nan"]),
    ],
)
def test_what_functors_give_is_canonical(expression: str, expected: list[str]) -> None:
    text = f""".functor minus(x: float): float
    .decl e(x: float)
    .input e
    .decl p(x: float)
    p({expression}) :- e(x).
    .decl again(x: float)
    again(x) :- p(x), p(y), x = y, !(x < y).
    """
    facts = {"e": [(x,) for x in (-2.0, 0.0, 2.0, INF, -INF, NAN)]}
    relations = run(text, facts, {"minus": lambda x: -x})
    assert texts(relations["p"]) == texts(relations["again"])
    assert texts(relations["p"]) == expected


def test_a_functor_of_arrays_may_give_any_zero() -> None:
    text = ".functor f(x: float): float\n.decl e(x: float)\n.input e\n.decl p(x: float)\np(@f(x)) :- e(x)."
    relations = run(text, {"e": [(1.0,), (2.0,), (3.0,)]}, {"f": lambda x: x * -0.0})
    assert texts(relations["p"]) == ["0.0"]


def test_bits_taken_for_a_float_are_the_float_that_they_mean() -> None:
    text = """.decl e(n: number)
    .input e
    .decl p(x: float)
    p(as(n, float)) :- e(n).
    p(x) :- e(n), x = as(n, float).
    """
    assert found(text, "p", {"e": [(-(2**63),), (0,), (-1,), (0x7FF8000000000001,)]}) == ["0.0", "nan"]


def test_a_range_of_floats_is_computed_from_its_start_and_ends_at_nan() -> None:
    text = ".decl e(a: float, b: float, c: float)\n.input e\n.decl p(x: float)\np(x) :- e(a, b, c), x = range(a, b, c)."
    assert found(text, "p", {"e": [(0.0, 1.0, 0.1)]}) == texts({(0.1 * i,) for i in range(10)} | {(0.1 * 3,)})
    assert found(text, "p", {"e": [(NAN, 1.0, 1.0), (0.0, NAN, 1.0), (0.0, 2.0, NAN), (-0.0, 0.0, 1.0)]}) == []
    assert found(text, "p", {"e": [(-1.0, 1.0, 1.0)]}) == ["-1.0", "0.0"]


# ---- aggregates


HARD = [0.1, 1e16, -1e16, 1.0, 0.3, 1e-9, -0.1]


@pytest.mark.parametrize("op", ["sum", "mean", "min", "max"])
@pytest.mark.parametrize("values", [HARD, [*HARD, NAN], [INF, *HARD], [INF, -INF, 1.0], [NAN], [-0.0]])
def test_an_aggregate_does_not_depend_on_the_order_of_its_matches(op: str, values: list[float]) -> None:
    results = set()
    for order in itertools.islice(itertools.permutations(values), 300):
        words = np.array([v + 0.0 for v in order]).view(np.int64)
        result, has = fold(op, Kind.FLOAT, 1, np.zeros(len(order), np.int64), words)
        assert has[0]
        results.add(int(result[0]))
    assert len(results) == 1


def test_the_greatest_of_floats_is_nan_and_the_least_is_not() -> None:
    text = """.decl e(k: number, x: float)
    .input e
    .decl p(k: number, low: float, high: float)
    p(k, a, b) :- e(k, _), a = min x : { e(k, x) }, b = max x : { e(k, x) }.
    """
    assert found(text, "p", {"e": [(1, NAN), (1, 2.0), (1, -0.0), (2, NAN)]}) == ["1, 0.0, nan", "2, nan, nan"]


# ---- updates


E_AND_MAX = """
.decl e(k: number, f: float)
.input e
.decl r(f: float)
r(f) :- e(0, f).
r(max(f, h)) :- r(f), e(_, h).
"""
E_AND_PRODUCT = """
.decl e(k: number, f: float)
.input e
.decl g(f: float)
.input g
.decl q(f: float)
q(f) :- e(0, f).
q(f * h) :- q(f), g(h).
"""


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_an_update_leaves_the_floats_that_a_new_session_finds(strategy: str) -> None:
    with tidelog.Session(E_AND_MAX, strategy=strategy) as session:
        session.bootstrap({"e": [(0, NAN), (0, 0.5), (1, NAN)]})
        session.update(delete={"e": [(0, NAN)]})
        assert texts(session["r"]) == ["0.5", "nan"]
    with tidelog.Session(E_AND_PRODUCT, strategy=strategy) as session:
        session.bootstrap({"e": [(0, 1.0), (1, -1.0), (0, -0.0)], "g": [(0.0,)]})
        session.update(delete={"e": [(1, -1.0), (0, -0.0)]})
        assert texts(session["q"]) == ["0.0", "1.0"]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_fact_is_deleted_by_its_value(strategy: str) -> None:
    text = ".decl e(x: float)\n.input e\n.decl p(x: float)\np(x) :- e(x)."
    with tidelog.Session(text, strategy=strategy) as session:
        session.bootstrap({"e": [(-0.0,), (NAN,), (1.0,)]})
        report = session.update(delete={"e": [(0.0,), (ODD_NAN,)]}, insert={"e": [(-0.0,)]})
        assert texts(session["p"]) == ["0.0", "1.0"]
        assert texts(zip(report.deleted["p"].column("x").to_pylist())) == ["nan"]
        assert "p" not in report.inserted


def test_a_sum_of_floats_after_updates_is_that_of_a_new_session_to_the_last_bit() -> None:
    text = ".decl e(k: number, x: float)\n.input e\n.decl s(a: float, b: float)\n" + (
        "s(a, b) :- a = sum x : { e(_, x) }, b = mean x : { e(_, x) }."
    )
    values = [0.1, 0.7, 1e16, 0.3, -1e16, 1 / 3, 1e-3]
    with tidelog.Session(text) as session:
        session.bootstrap({"e": list(enumerate(values))})
        for number in (2, 0, 4):
            session.update(delete={"e": [(number, values[number])]})
            session.update(insert={"e": [(number, values[number])]})
        assert texts(session["s"]) == found(text, "s", {"e": list(reversed(list(enumerate(values))))})


def test_a_query_compares_floats_by_value() -> None:
    with tidelog.Session(".decl e(k: number, x: float)\n.input e\n") as session:
        session.bootstrap({"e": [(1, -0.0), (2, NAN), (3, 1.0)]})
        assert session.query("e(k, x), x = 0.0 / 0.0")["k"].to_pylist() == [2]
        assert session.query("e(k, -0.0)")["k"].to_pylist() == [1]
        assert sorted(session.query("e(k, x), x >= 1.0")["k"].to_pylist()) == [2, 3]


# ---- where values enter


def given_as(kind: str, folder: Path) -> Any:
    values = [0.0, -0.0, NAN, ODD_NAN]
    column = pa.array(values, pa.float64())
    match kind:
        case "python":
            return [(value,) for value in values]
        case "arrow":
            return pa.table({"x": column})
        case "float32":
            return pa.table({"x": column.cast(pa.float32())})
    path = folder / f"e.{kind}"
    match kind:
        case "facts":
            path.write_text("0\n-0\n-0.0\nnan\n-nan\n-0x0p0\n")
        case "parquet":
            pq.write_table(pa.table({"x": column}), path)
        case "json":
            path.write_text(json.dumps([[value] for value in values]))
        case "sqlite":
            with sqlite3.connect(path) as connection:
                connection.execute("CREATE TABLE e (x REAL)")
                connection.executemany("INSERT INTO e VALUES (?)", [(0.0,), (-0.0,), ("nan",), ("-nan",)])
            connection.close()
    return path


@pytest.mark.parametrize("kind", ["python", "arrow", "float32", "facts", "parquet", "json", "sqlite"])
def test_facts_have_one_zero_and_one_nan_wherever_they_come_from(kind: str, tmp_path: Path) -> None:
    reading = '.input e(IO=sqlite, filename="e.sqlite")' if kind == "sqlite" else ".input e"
    text = f".decl e(x: float)\n{reading}\n.decl n(n: number)\nn(n) :- n = count : {{ e(_) }}."
    with tidelog.Session(text) as session:
        session.bootstrap({"e": given_as(kind, tmp_path)})
        assert (texts(session["e"]), list(session["n"])) == (["0.0", "nan"], [(2,)])


def test_records_of_equal_floats_are_equal() -> None:
    text = """.type R = [x: float, s: symbol]
    .type S = One {x: float} | Two {r: R}
    .decl e(r: R)
    .input e
    .decl f(s: S)
    .input f
    .decl p(r: R)
    p(r) :- e(r).
    p([x * 0.0, s]) :- e([x, s]).
    """
    facts = {
        "e": [("[0, a]",), ("[-0.0, a]",), ("[nan, a]",), ("[-nan, a]",), ((-0.0, "a"),)],
        "f": [("$One(0)",), ("$One(-0.0)",), ("$Two([-0, a])",), ("$Two([0.0, a])",)],
    }
    relations = run(text, facts)
    assert relations["e"] == relations["p"] == {("[0, a]",), ("[nan, a]",)}
    assert relations["f"] == {("$One(0)",), ("$Two([0, a])",)}


def test_rows_with_nan_are_written_in_order() -> None:
    rows = [(NAN, 2), (1.0, 1), (NAN, 1), (-1.0, 3), (NAN, 3)]
    table = sorted_table(pa.table({"x": [x for x, _ in rows], "k": [k for _, k in rows]}))
    assert table.column("k").to_pylist() == [3, 1, 1, 2, 3]
