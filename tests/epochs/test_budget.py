"""When an update is given up whose iterations have a price: early, or not at all."""

from __future__ import annotations

import time

import pytest

from tidelog.epochs.budget import Allowance, CostAnew
from tidelog.store.update import UNLIMITED, OverBudget


def given_up(spent: float, done: int, work: int = 0, derivations: int = 100, seconds: float | None = 10.0) -> bool:
    """Whether an update of a stratum with ten iterations, which takes so many seconds from scratch, is given up."""
    cost = CostAnew(derivations / 0.2, seconds, iterations=10)
    allowance = Allowance(derivations, 0.2, cost, started=time.perf_counter() - spent)
    try:
        allowance.look(done, work)
    except OverBudget:
        return True
    return False


@pytest.mark.parametrize(
    ("spent", "done", "expected"),
    [
        (0.5, 1, False),  # five seconds in all
        (1.5, 1, True),  # fifteen, and little is lost
        (1.9, 2, False),
        (3.0, 3, False),  # beyond its share: ten in all
        (6.0, 5, False),  # twelve in all, but starting over would take longer than what is left
        (5.5, 3, True),  # what is left would take longer than starting over
    ],
)
def test_an_update_that_will_take_longer_than_starting_over_is_given_up_early(
    spent: float, done: int, expected: bool
) -> None:
    assert given_up(spent, done) is expected


def test_too_many_derivations_are_a_reason_while_little_was_spent_or_if_nobody_knows_the_time() -> None:
    assert given_up(0.5, 1, work=101)
    assert not given_up(3.0, 5, work=101)
    assert given_up(3.0, 5, work=101, seconds=None)


def test_without_a_budget_no_update_is_given_up() -> None:
    assert not given_up(100.0, 1, work=10**9, derivations=UNLIMITED)
