"""Dynamic data exchange: random programs on 1 to 5 workers, in random orders, against the oracle and under watch."""

from __future__ import annotations

import pytest
from dynamic_subject import WatchedRun
from hypothesis import given
from hypothesis.strategies import integers, sampled_from

import oracle
from state_oracle import Patient
from strategies.budget import examples, note_seed
from strategies.engine import checked_program
from strategies.programs import Example, Features, programs
from tidelog.errors import TidelogError

KINDS = {
    "joins": Features(types=("number", "symbol"), aggregates=False, special=False, derived_inputs=True),
    "records": Features(types=("Pair", "Shape", "Colour", "List"), aggregates=False, derived_inputs=True),
    "everything": Features(derived_inputs=True),
}
PARTS = 4


def compare(example: Example, size: int, seed: int) -> None:
    note_seed(example)
    try:
        checked = checked_program(example.text)
        plain = checked_program(example.text.replace(" inline", "")) if example.inlined else checked
        run = WatchedRun(checked, size, seed)
    except TidelogError:
        return
    wanted = oracle.evaluate(plain, example.facts, Patient)
    run.materialise(example.facts)
    for name, rows in wanted.items():
        if name not in example.inlined:
            found = run.contents(name)
            assert found == rows, f"{name}: too many {found - rows}, missing {rows - found}"


@pytest.mark.parametrize("number", range(PARTS))
@pytest.mark.parametrize("kind", KINDS)
def test_workers_without_rounds_find_what_the_oracle_finds(kind: str, number: int) -> None:
    @examples(240, PARTS * len(KINDS), number * len(KINDS) + list(KINDS).index(kind))
    @given(programs(KINDS[kind]), sampled_from([1, 2, 3, 5]), integers(0, 10**6))
    def agrees(example: Example, size: int, seed: int) -> None:
        compare(example, size, seed)

    agrees()
