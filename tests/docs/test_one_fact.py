"""The page that follows one fact through the code names functions that are where it says."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2]))
from tools.one_fact import PAGE, STEP, files_of

STEPS = STEP.findall(PAGE.read_text(encoding="utf-8"))


@pytest.mark.parametrize(("number", "name", "file"), STEPS)
def test_the_function_of_a_step_is_in_its_file(number: str, name: str, file: str) -> None:
    assert file in files_of(name)


def test_there_are_at_most_eight_steps_each() -> None:
    assert [int(number) for number, _, _ in STEPS] == [*range(1, 9), *range(1, 9)]
