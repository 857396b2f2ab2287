"""Strata none of whose rules can fire cost no plans."""

from __future__ import annotations

from typing import Any

import pytest

from evaluate.running import run
from tidelog.evaluate import fixpoint

TEXT = """
.decl none(x: number, y: number) .input none
.decl some(x: number) .input some
.decl a(x: number, y: number) a(x, z) :- none(x, y), a(y, z). a(x, y) :- none(x, y), some(x).
.decl b(x: number) b(x) :- some(x), a(x, _).
.decl c(x: number) c(x) :- some(x), !b(x).
.decl d(x: number) d(n) :- n = count : { b(_) }.
.decl e(x: number, y: number) eqrel e(1, 2). e(x, y) :- none(x, y).
"""


def test_what_cannot_fire_is_not_planned(monkeypatch: pytest.MonkeyPatch) -> None:
    planned: list[str] = []
    plan = fixpoint.plan_stratum

    def noted(stratum: Any, *others: Any, **more: Any) -> Any:
        planned.extend(stratum.relations)
        return plan(stratum, *others, **more)

    monkeypatch.setattr(fixpoint, "plan_stratum", noted)
    found = run(TEXT, {"some": [(1,), (2,)], "none": []})
    assert set(planned) == {"c", "d", "e"}
    assert (found["a"], found["b"], found["c"], found["d"]) == (set(), set(), {(1,), (2,)}, {(0,)})
    assert found["e"] == {(1, 1), (1, 2), (2, 1), (2, 2)}


def test_it_is_planned_as_soon_as_there_is_something() -> None:
    found = run(TEXT, {"some": [(1,), (2,)], "none": [(1, 2), (2, 3)]})
    assert found["a"] == {(1, 2), (2, 3), (1, 3)}
    assert found["b"] == {(1,), (2,)}
