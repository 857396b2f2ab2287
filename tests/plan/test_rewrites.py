"""Every rewrite of a rule: before and after, the example in its documentation, and that it is done once.

The cases of a rewrite are in `rewrites/` under its name: a text, `---`, what becomes of it, an empty line.
`TIDELOG_REWRITE=1 pytest tests/plan/test_rewrites.py` writes the second halves anew.
"""

from __future__ import annotations

import doctest
import importlib
import os
from pathlib import Path

import pytest

from tidelog.plan import rewrites
from tidelog.plan.rewrites.example import example
from tidelog.plan.rewrites.rewrite import ProgramRewrite, Rewrite

FOLDER = Path(__file__).parent / "rewrites"
OF_RULES = {rewrite.__name__: rewrite for rewrite in (*rewrites.BATCH, *rewrites.STATEFUL)}
ALL: dict[str, Rewrite | ProgramRewrite] = OF_RULES | {rewrite.__name__: rewrite for rewrite in rewrites.NETWORK}


@pytest.mark.parametrize("name", OF_RULES)
def test_the_rules_after_the_rewrite_are_as_written(name: str) -> None:
    path = FOLDER / f"{name}.txt"
    cases = [case.split("---\n") for case in path.read_text(encoding="utf-8").split("\n\n")]
    found = [[before.rstrip("\n") + "\n", example(before, OF_RULES[name]) + "\n"] for before, *_ in cases]
    if os.environ.get("TIDELOG_REWRITE"):
        path.write_text("\n".join("---\n".join(case) for case in found), encoding="utf-8")
    assert path.read_text(encoding="utf-8") == "\n".join("---\n".join(case) for case in found)
    assert len(cases) >= 3


@pytest.mark.parametrize("name", ALL)
def test_the_example_in_the_documentation_of_a_rewrite_is_true(name: str) -> None:
    module = importlib.import_module(f"tidelog.plan.rewrites.{name}")
    result = doctest.testmod(module)
    assert result.attempted > 1
    assert result.failed == 0


def test_the_example_of_examples_is_true() -> None:
    assert doctest.testmod(importlib.import_module("tidelog.plan.rewrites.example")).failed == 0


@pytest.mark.parametrize("name", OF_RULES)
def test_a_rewrite_finds_nothing_to_do_in_what_it_has_done(name: str) -> None:
    rewrite = OF_RULES[name]
    for case in (FOLDER / f"{name}.txt").read_text(encoding="utf-8").split("\n\n"):
        before = case.split("---\n")[0]
        assert example(before, rewrite) == example(before, rewrite, rewrite)


def test_every_file_of_cases_is_of_a_rewrite() -> None:
    assert {path.stem for path in FOLDER.glob("*.txt")} == set(OF_RULES)
