"""Whatever the text: it is read, or refused with a TidelogError, and soon.

10,000 inputs by default, over all tests of this file; `TIDELOG_FUZZ=1000000` for a long run.
"""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies import inputs
from strategies.budget import examples, note_seed
from tidelog.analysis.check import check
from tidelog.errors import Report, TidelogError
from tidelog.lang.load import parse_program
from tidelog.plan.program import plan_program

SECONDS = 3.0  # the aim is one second; this allows for a machine that has other work

DEPTHS = (10, 100, 1_000, 10_000, 100_000)
LENGTHS = (10, 100, 1_000)


def read(text: str, dialect: str = "souffle", plan: bool = True) -> None:
    """Parse, check and plan; nothing but a TidelogError may come out."""
    start = time.thread_time()
    try:
        report = Report()
        program = parse_program(text, report, dialect=dialect)
        if dialect == "souffle":
            checked = check(program, report)
            if plan:
                plan_program(checked)
    except TidelogError as problem:
        str(problem)
    assert time.thread_time() - start < SECONDS


@examples(1000)
@given(st.text(max_size=300))
def test_any_text(text: str) -> None:
    read(text)


@pytest.mark.parametrize("part", range(2))
@pytest.mark.parametrize(("dialect", "number"), [("souffle", 2000), ("ndlog", 500), ("rules", 500)])
def test_any_soup_of_tokens(dialect: str, number: int, part: int) -> None:
    @examples(number, 2, part)
    @given(inputs.soup(dialect))
    def survives(text: str) -> None:
        note_seed(text)
        read(text, dialect)

    survives()


@pytest.mark.parametrize("part", range(4))
@pytest.mark.parametrize(("suffix", "number"), [(".dl", 4000), (".ndlog", 900), (".rules", 900)])
def test_any_mutation_of_the_corpus(suffix: str, number: int, part: int) -> None:
    @examples(number, 4, part)
    @given(inputs.mutations(suffix))
    def survives(text: str) -> None:
        note_seed(text)
        read(text, inputs.DIALECTS[suffix])

    survives()


@pytest.mark.parametrize("name", inputs.NESTED)
def test_nesting_of_any_depth(name: str) -> None:
    for depth in DEPTHS:
        read(inputs.nested(name, depth))


@pytest.mark.parametrize("name", inputs.LONG)
def test_long_rows(name: str) -> None:
    for length in LENGTHS:
        read(inputs.LONG[name](length), plan=length <= 100)


DEEP_ELSEWHERE = [
    ("ndlog", "p(@X) :- q(@X, ", "(", "1", ")", ")."),
    ("ndlog", "p(@X) :- q(@X), X = ", "[", "1", "]", "."),
    ("ndlog", "p(@X) :- q(@X), X = ", "f_init(", "1", ")", "."),
    ("rules", "[?x, :p, ?y] :- [?x, :q, ?y], FILTER", "(", "?x > 1", ")", " ."),
    ("rules", "[?x, :p, ?y] :- [?x, :q, ?y]", ", NOT (", "[?x, :r, ?y]", ")", " ."),
    ("rules", "[?x, :p, ?y] :- [?x, :q, ?y], BIND", "(-", "1", ")", " AS ?z ."),
]


@pytest.mark.parametrize(("dialect", "before", "opening", "middle", "closing", "after"), DEEP_ELSEWHERE)
def test_nesting_in_the_other_dialects(
    dialect: str, before: str, opening: str, middle: str, closing: str, after: str
) -> None:
    for depth in DEPTHS:
        read(before + opening * depth + middle + closing * depth + after, dialect)
