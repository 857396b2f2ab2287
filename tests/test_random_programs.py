"""Random programs: the engine finds what the oracle finds.

2,000 programs by default; `TIDELOG_FUZZ=100000 pytest -n 2 tests/test_random_programs.py` for the long run.
"""

from __future__ import annotations

import pytest
from hypothesis import given

import oracle
from state_oracle import Patient
from strategies.budget import examples, note_seed
from strategies.engine import checked_program, evaluate
from strategies.programs import Example, Features, programs
from tidelog.errors import TidelogError

PARTS = 8
KINDS = {
    "everything": Features(),
    "joins": Features(types=("number", "symbol"), aggregates=False, special=False),
    "numbers": Features(types=("number", "unsigned", "float")),
    "floats": Features(types=("float",), special=False),
    "equivalences": Features(types=("number", "symbol"), equivalences=8),
    "records": Features(types=("Pair", "Shape", "Colour", "List"), aggregates=False),
}


def compare(example: Example, threads: int = 1) -> None:
    """The relations of a program that passes the checks are what the oracle finds."""
    note_seed(example)
    try:
        checked = checked_program(example.text)
        plain = checked_program(example.text.replace(" inline", "")) if example.inlined else checked
    except TidelogError:
        return
    wanted = oracle.evaluate(plain, example.facts, Patient)  # to the oracle, inline relations are ordinary ones
    found = evaluate(example, checked, threads)
    for name, rows in wanted.items():
        if name not in example.inlined:
            assert found[name] == rows, f"{name}: too many {found[name] - rows}, missing {rows - found[name]}"


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("kind", KINDS)
def test_the_engine_agrees_with_the_oracle(kind: str, part: int) -> None:
    @examples(1900, PARTS * len(KINDS), part * len(KINDS) + list(KINDS).index(kind))
    @given(programs(KINDS[kind]))
    def agrees(example: Example) -> None:
        compare(example)

    agrees()


@examples(100)
@given(programs())
def test_two_threads_find_the_same(example: Example) -> None:
    compare(example, threads=2)


def test_nearly_all_random_programs_pass_the_checks() -> None:
    refused: list[str] = []

    @examples(300)
    @given(programs())
    def count(example: Example) -> None:
        try:
            checked_program(example.text)
        except TidelogError as problem:
            refused.append(f"{example.text}\n{problem}")

    count()
    assert len(refused) < 15, refused[0]


FOUND = {
    "an index that two probes of one pipeline read in different columns": Example(
        ".decl e(a: number, b: number)\n.decl f(a: number, b: number, c: number)\n.decl p(a: number, b: number) eqrel\n"
        "p(x, x) :- f(_, 0, y), f(x, z, _), e(z, y).\n",
        {"e": {(0, 5)}, "f": {(0, 0, 5), (0, 1, 5)}},
    ),
    "an equation inside an aggregate that must not hold outside": Example(
        ".decl e(a: number, b: number)\n.decl p(a: number, n: number)\n"
        "p(x, n) :- e(x, y), n = count : { e(z, _), x = y, z = 1 }.\n"
        "p(x, n) :- e(x, _), n = count : { e(_, _), x = 1 }.\n",
        {"e": {(1, 2), (2, 3), (3, 3)}},
    ),
    "a record taken apart that is nil": Example(
        ".type P = [a: number, b: number]\n.decl e(a: number)\n.decl p(a: number)\n"
        "p(x) :- e(_), l = as(nil, P), l = [x, _].\np(n) :- e(_), n = count : { e(x), l = as(nil, P), l = [x, _] }.\n",
        {"e": {(1,)}},
    ),
    "a branch with the same variable twice": Example(
        ".type S = Dot {} | Box {w: number, h: number}\n.decl e(s: S)\n.decl p(x: number)\n"
        "p(x) :- e(s), s = $Box(x, x).\n",
        {"e": {(("Box", 1, 2),), (("Box", 3, 3),), (("Dot",),)}},
    ),
    "two ranges that are written alike": Example(
        ".decl p(a: number, b: number)\np(x, y) :- x = range(0, 2), y = range(0, 2).\n", {}
    ),
}


@pytest.mark.parametrize("name", FOUND)
def test_what_was_found_before(name: str) -> None:
    compare(FOUND[name])
