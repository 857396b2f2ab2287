"""`sin`, `log` and their like, whose names relations may have too."""

import math

import pytest

from evaluate.running import run
from tidelog.errors import TidelogError
from tidelog.functors import MATHEMATICAL
from tidelog.lang.souffle import parse
from tidelog.lang.souffle_printer import print_program


@pytest.mark.parametrize("name", MATHEMATICAL)
def test_of_a_float_it_is_what_c_gives(name: str) -> None:
    x = 1.5 if name == "acosh" else 0.5
    (found,) = run(f".decl r(y: float) .decl a(x: float) a({x}). r({name}(x)) :- a(x).")["r"]
    assert found[0] == pytest.approx(getattr(math, name)(x), rel=1e-15)


def test_of_a_number_it_has_no_fraction() -> None:
    text = ".decl r(a: number, b: number, c: unsigned) .decl n(x: number) n(3). r(exp(x), sin(-x), log(20u)) :- n(x)."
    assert run(text)["r"] == {(20, 0, 2)}


def test_where_there_is_no_value_it_is_nan_or_for_a_number_zero() -> None:
    text = ".decl r(a: float, b: number, c: number) .decl n(x: float) n(-1.0). r(log(x), asin(7), exp(1000)) :- n(x)."
    ((a, b, c),) = run(text)["r"]
    assert math.isnan(a)
    assert (b, c) == (0, 2**63 - 1)


def test_relations_functors_and_branches_may_have_their_names() -> None:
    text = """
        .type T = log { x: number } | exp {}
        .decl log(x: number) .decl sin, cos(t: T)
        log(3).
        sin($log(x)) :- log(x), log(x), (log(x) ; log(7)), log(20) < x, !log(4).
        cos($exp()) :- sin($log(log(x))), log(y), x = count : log(_).
        cos($log(n)) :- n = count : { log(_) }, 2 = sum x - 1 : { log(x) }.
    """
    found = run(text)
    assert found["sin"] == {("$log(3)",)}
    assert found["cos"] == {("$log(1)",)}


def test_they_are_printed_as_they_are_read() -> None:
    program = parse("p(exp(log(x) + 1)) :- log(x), sin(x) < 1.")
    assert parse(print_program(program)) == program


def test_other_names_are_no_functors() -> None:
    with pytest.raises(TidelogError, match="TL0101"):
        run(".decl r(x: float) r(sine(1.0)).")
