"""Safety: what binds a variable, and what does not."""

from __future__ import annotations

import pytest
from analysis_programs import grounded, messages

from tidelog.analysis.clauses import clauses_of
from tidelog.analysis.clauses.scopes import VariableScope, bound_names, scopes_of
from tidelog.errors import Report
from tidelog.lang.souffle import parse


def unsafe(rule: str) -> list[str]:
    """The unsafe variables of a rule, in the order in which they are reported."""
    report = grounded(rule)
    assert all(d.code == "TL0203" for d in report.errors)
    return [m.split("`")[1] for m in messages(report)]


@pytest.mark.parametrize(
    "rule",
    [
        "a(x) :- b(x).",
        "a(x) :- x = 1.",
        "a(x) :- b(y), x = y + 1.",
        "a(x) :- b(y), y + 1 = x.",
        "a(x) :- x = y, y = z, b(z).",
        "a(x) :- b([x, _]).",
        "a(x) :- b(r), r = [_, [x, _]].",
        "a(x) :- b(r), $Leaf(x) = r.",
        "a([x, y]) :- b(x, y), !b(x, _).",
        "a(x) :- [x, 1] = [2, y], b(y).",
        "a(x) :- x = range(1, 10).",
        "a(x) :- b(y), x = as(y, number).",
        "a(x) :- b(y), x = @f(y).",
        "a(n) :- n = count : { b(_) }.",
        "a(n) :- n = sum x : { b(x) }.",
        "a(n) :- n = sum x + y : { b(x), c(y) }.",
        "a(k, n) :- c(k), n = sum x + k : { b(x) }.",
        "a(k, n) :- c(k), n = count : { b(x), x < k }.",
        "a(n) :- m = max x : { b(x) }, n = count : { c(m) }.",
        "a(x) :- (b(x) ; c(x)).",
        "a(x, y) <= a(x, z) :- z < y.",
        "a(1) :- true.",
    ],
)
def test_is_safe(rule: str) -> None:
    assert unsafe(rule) == []


@pytest.mark.parametrize(
    ("rule", "names"),
    [
        ("a(x) :- b(y).", ["x"]),
        ("a(x, y, x) :- b(z).", ["x", "y"]),
        ("a(1) :- !b(x).", ["x"]),
        ("a(1) :- x < 1.", ["x"]),
        ("a(1) :- b(y), y != x.", ["x"]),
        ("a(x) :- b(y), y = x + 1.", ["x"]),
        ("a(x) :- b(x + 1).", ["x"]),
        ("a(x) :- x = y.", ["x", "y"]),
        ("a(x) :- b(y), y = as(x, number).", ["x"]),
        ("a(x) :- b(y), y = @f(x).", ["x"]),
        ("a(r) :- b(x), r = [x, y].", ["r", "y"]),
        ("a(1) :- b(r), r != [x].", ["x"]),
        ("a(1) :- !b([x]).", ["x"]),
        ("a(x) :- x = range(1, n).", ["x", "n"]),
        ("a(x) :- (b(x) ; c(y)).", ["x"]),
        ("a(x), d(y) :- b(x).", ["y"]),
        ("a(n) :- n = sum y : { b(x) }.", ["y"]),
        ("a(n) :- n = sum x + y : { b(x) }.", ["y"]),
        ("a(n) :- n = count : { b(x), x < k }.", ["k"]),
        ("a(n) :- n = count : { !b(x) }.", ["x"]),
        ("a(n) :- c(x), n = sum x : { b(_) }.", ["x"]),
        ("a(n) :- n = sum x : { b(x), x > max y : { b(y), y < z } }.", ["z"]),
        ("a(x, y) <= a(x, z) :- z < w.", ["w"]),
    ],
)
def test_is_unsafe(rule: str, names: list[str]) -> None:
    assert unsafe(rule) == names


def test_the_first_use_is_shown() -> None:
    (error,) = grounded("a(x, y) :- b(x), y < 2, c(y + 1).").errors
    assert error.span is not None
    assert (error.span.start, error.span.end) == (5, 6)


def test_heads_of_inline_relations_bind() -> None:
    rule = "f(x, y) :- y = x + 1."
    assert messages(grounded(rule)) == [
        "unsafe variable `x`: nothing gives it a value",
        "unsafe variable `y`: nothing gives it a value",
    ]
    assert messages(grounded(rule, inline=("f",))) == []


def test_aggregates_that_need_each_other_are_refused() -> None:
    report = grounded("a(x, y) :- x = sum v : { b(v, y) }, y = sum v : { b(v, x) }.")
    assert [d.code for d in report.errors] == ["TL0229"]


def test_an_alternative_that_does_not_bind_is_pointed_out() -> None:
    (error,) = grounded("a(x) :- b(x) ; c(y).").errors
    ((text, span),) = error.notes
    assert text == "in the alternative of the body that has this"
    assert span is not None
    assert span.source.text[span.start : span.end] == "c(y)"


def test_long_chains_of_equalities_are_followed_in_linear_time() -> None:
    chain = ", ".join(f"x{i} = x{i + 1} + 1" for i in range(3000))
    assert unsafe(f"a(x0) :- {chain}, x3000 = 1.") == []


def scopes(rule: str) -> list[VariableScope]:
    (clause,) = clauses_of(parse(rule, "test.dl"), Report())
    return list(scopes_of(clause).values())


def test_a_variable_bound_outside_is_injected() -> None:
    (scope,) = scopes("a(k, n) :- c(k), n = count : { b(k, x) }.")
    assert scope == VariableScope(frozenset({"k"}), frozenset({"x"}), frozenset())


def test_the_aggregated_variable_is_local_even_if_bound_outside() -> None:
    (scope,) = scopes("a(x, n) :- c(x), n = sum x : { b(x) }.")
    assert scope == VariableScope(frozenset(), frozenset({"x"}), frozenset())


def test_the_result_of_an_aggregate_is_not_injected_into_it() -> None:
    (scope,) = scopes("a(x) :- x = sum y : { b(y, x) }.")
    assert scope == VariableScope(frozenset(), frozenset({"x", "y"}), frozenset())


def test_a_variable_bound_only_inside_but_used_outside_is_a_witness() -> None:
    (scope,) = scopes("a(w, n) :- n = min y : { b(y, w) }.")
    assert scope == VariableScope(frozenset(), frozenset({"y"}), frozenset({"w"}))


def test_a_witness_is_left_to_others_to_report() -> None:
    assert messages(grounded("a(w, n) :- n = min y : { b(y, w) }.")) == []


def test_an_inner_aggregate_shares_variables_with_the_outer_one() -> None:
    outer, inner = scopes("a(n) :- c(k), n = sum x : { b(x, k), x < max y : { b(y, x), y < k } }.")
    assert outer == VariableScope(frozenset({"k"}), frozenset({"x", "y"}), frozenset())
    assert inner == VariableScope(frozenset({"k", "x"}), frozenset({"y"}), frozenset())


def test_negation_binds_nothing() -> None:
    (clause,) = clauses_of(parse("a(1) :- b(x), !c(y), x != z.", "test.dl"), Report())
    assert bound_names(clause.body) == {"x"}


@pytest.mark.parametrize(
    "aggregate", ["sum _ : { b(_) }", "min _ : { b(x) }", "sum x + _ : { b(x) }", "max [_] : { b(_) }"]
)
def test_what_is_aggregated_has_a_value(aggregate: str) -> None:
    assert messages(grounded(f"a(n) :- n = {aggregate}.")) == ["`_` has no value here"]
