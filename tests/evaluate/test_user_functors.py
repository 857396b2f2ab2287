"""Functors written in Python."""

import numpy as np
import pytest

from evaluate.running import run
from tidelog.errors import TidelogError

PROGRAM = """
.functor double(x: number): number
.decl n(x: number) .decl out(x: number, y: number)
n(1). n(2). n(3).
out(x, @double(x)) :- n(x).
"""
EXPECTED = {(1, 2), (2, 4), (3, 6)}


def test_a_plain_function_is_called_for_each_value() -> None:
    seen = []

    def double(x: int) -> int:
        assert isinstance(x, int)
        seen.append(x)
        return x * 2 if x > 0 else 0  # an array has no truth value, so this cannot take one

    assert run(PROGRAM, functors={"double": double})["out"] == EXPECTED
    assert sorted(seen) == [1, 2, 3]


def test_a_function_that_takes_arrays_is_called_once() -> None:
    calls = []

    def double(x: np.ndarray) -> np.ndarray:
        calls.append(len(x))
        return x * 2

    assert run(PROGRAM, functors={"double": double})["out"] == EXPECTED
    assert calls == [3]


def test_texts_go_in_and_out() -> None:
    text = '.functor shout(x: symbol): symbol\n.decl w(x: symbol)\n.decl o(x: symbol)\nw("a").\no(@shout(x)) :- w(x).'
    assert run(text, functors={"shout": str.upper})["o"] == {("A",)}


def test_a_missing_function_is_named() -> None:
    with pytest.raises(TidelogError, match="functor `double` has no Python function"):
        run(PROGRAM)


def test_a_function_with_another_number_of_arguments_is_refused() -> None:
    with pytest.raises(TidelogError) as problem:
        run(PROGRAM, functors={"double": lambda x, y: x})
    assert problem.value.codes == ("TL0813",)


def test_an_exception_inside_names_the_call_and_the_rule() -> None:
    def double(x: int) -> int:
        raise KeyError(x)

    with pytest.raises(TidelogError) as problem:
        run(PROGRAM, functors={"double": double})
    assert "@double(1) failed: KeyError: 1" in str(problem.value)
    assert "out(x, @double(x)) :- n(x)." in str(problem.value)


def test_a_result_of_the_wrong_kind_is_refused() -> None:
    with pytest.raises(TidelogError, match="gave 'x', which is not a number"):
        run(PROGRAM, functors={"double": lambda x: "x"})


LISTS = """
.type List = [head: number, tail: List]
.functor push(x: number, l: List): List stateful
.functor total(l: List): number stateful
.functor unused(l: List): List stateful
.decl n(x: number) .decl list(l: List) .decl out(x: number)
n(1). n(2).
list(nil).
list(@push(x, l)) :- list(l), n(x), (l = nil ; l = [y, _], y < x).
out(@total(l)) :- list(l).
"""


def test_a_stateful_functor_takes_and_gives_records() -> None:
    def total(values: tuple | None) -> int:
        return 0 if values is None else values[0] + total(values[1])

    found = run(LISTS, functors={"push": lambda x, rest: (x, rest), "total": total})
    assert found["list"] == {("nil",), ("[1, nil]",), ("[2, nil]",), ("[2, [1, nil]]",)}
    assert found["out"] == {(0,), (1,), (2,), (3,)}


def test_branches_are_tuples_that_begin_with_their_name() -> None:
    text = """
    .type Tree = Leaf {} | Node {left: Tree, label: symbol, right: Tree}
    .functor mirror(t: Tree): Tree stateful
    .decl t(t: Tree) .decl o(t: Tree)
    t($Node($Leaf(), "a,b", $Node($Leaf(), "c", $Leaf()))).
    o(@mirror(t)) :- t(t).
    """

    def mirror(t: tuple) -> tuple:
        return t if t[0] == "$Leaf" else ("$Node", mirror(t[3]), t[2], mirror(t[1]))

    assert run(text, functors={"mirror": mirror})["o"] == {('$Node($Node($Leaf, c, $Leaf), "a,b", $Leaf)',)}


def test_a_result_that_is_no_such_record_is_refused() -> None:
    with pytest.raises(TidelogError, match="@push gave a value that is not a `List`: 3 values for the 2 fields"):
        run(LISTS, functors={"push": lambda x, rest: (x, rest, 1), "total": lambda values: 0})
