"""One meaning per name, and no function twice (`python -m tools.names` lists what there is)."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))
from tools.names import shared_class_names, twin_functions

KNOWN = {"Literal", "Node", "Relation", "Stratum", "Update"}
"""Names that still stand for several things. Take one out when it does no longer; add none."""
TWINS = {"raw.py", "souffle.py", "expressions.py"}
"""Files with short functions that are alike: one for each instruction of the machine, for each word of a language."""


def test_no_other_class_name_stands_for_several_things() -> None:
    assert set(shared_class_names()) - KNOWN == set()


def test_no_other_function_exists_twice() -> None:
    twins = [places for places in twin_functions() if not any(file in places[0] for file in TWINS)]
    assert twins == []
