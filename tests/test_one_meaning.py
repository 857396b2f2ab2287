"""One meaning per name, and no function twice (`python -m tools.names` lists what there is)."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))
from tools.names import shared_class_names, twin_functions

TWINS = {"raw.py", "souffle.py", "expressions.py"}
"""Files with short functions that are alike: one for each instruction of the machine, for each word of a language."""


def test_a_class_name_stands_for_one_thing() -> None:
    assert shared_class_names() == {}


def test_no_other_function_exists_twice() -> None:
    twins = [places for places in twin_functions() if not any(file in places[0] for file in TWINS)]
    assert twins == []
