"""Random programs: the engine finds what the oracle finds.

2,000 programs by default; `TIDELOG_FUZZ=100000 pytest -n 2 tests/test_random_programs.py` for the long run.
"""

from __future__ import annotations

import pytest
from hypothesis import given

import oracle
from strategies.budget import examples, note_seed
from strategies.engine import checked_program, evaluate
from strategies.programs import Example, Features, programs
from tidelog.errors import TidelogError

PARTS = 8
KINDS = {
    "everything": Features(),
    "joins": Features(types=("number", "symbol"), aggregates=False, special=False),
    "numbers": Features(types=("number", "unsigned", "float")),
    "records": Features(types=("Pair", "Shape", "Colour", "List"), aggregates=False),
}


def expected(example: Example) -> oracle.Relations | None:
    """What the oracle finds; inline relations are ordinary ones to it. None for a program that is refused."""
    try:
        checked = checked_program(example.text.replace(" inline", ""))
        checked_program(example.text)
    except TidelogError:
        return None
    return oracle.evaluate(checked, example.facts)


def compare(example: Example, threads: int = 1) -> None:
    note_seed(example)
    wanted = expected(example)
    if wanted is None:
        return
    found = evaluate(example, threads)
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
