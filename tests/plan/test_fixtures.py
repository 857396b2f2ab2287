"""Plans as text: each program of `fixtures/` has the plans written beside it.

`TIDELOG_REWRITE=1 pytest tests/plan/test_fixtures.py` writes them anew; read the difference before you keep it.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from strategies.engine import checked_program
from tidelog.local import plans

FIXTURES = sorted((Path(__file__).parent / "fixtures").glob("*.dl"))


@pytest.mark.parametrize("path", FIXTURES, ids=lambda p: p.stem)
def test_the_plans_are_as_written(path: Path) -> None:
    shown = plans.show(plans.guessed_plans(checked_program(path.read_text(encoding="utf-8"))))
    expected = path.with_suffix(".plan")
    if os.environ.get("TIDELOG_REWRITE"):
        expected.write_text(shown, encoding="utf-8")
    assert shown == expected.read_text(encoding="utf-8")


def test_there_are_at_least_twenty() -> None:
    assert len(FIXTURES) >= 20
