"""A count of derivations that would not fit is an error, and the epoch is not begun; it never wraps around."""

from __future__ import annotations

import numpy as np
import pytest

from strategies.subject import Subject
from tidelog.errors import TidelogError
from tidelog.evaluate.bootstrap import refuse_overflow
from tidelog.evaluate.updates.level_counts import LevelCounts
from tidelog.store import MOST_DERIVATIONS, Database
from tidelog.store.codes import GROW_WAITING
from tidelog.store.pending import MOST_WAITING, Pending
from tidelog.store.relation import MOST_ROWS

TEXT = """
.decl e(x: number, y: number)
.input e
.decl p(x: number)
p(x) :- e(x, y), y > 0.
"""


@pytest.mark.parametrize("strategy", ["elastic", "update", "update-paper"])
def test_one_derivation_too_many_is_an_error_and_changes_nothing(strategy: str) -> None:
    subject = Subject(TEXT, strategy)
    subject.bootstrap({"e": {(1, 1), (2, 1)}})
    relation = subject.database["p"]
    row = relation.find(np.array([[1]]))
    relation.set_derived(row, MOST_DERIVATIONS - 1)
    subject.update({}, {"e": {(1, 2)}})
    assert relation.derived(row).tolist() == [MOST_DERIVATIONS]
    with pytest.raises(TidelogError, match=r"TL0904.*a tuple of p has more derivations"):
        subject.update({}, {"e": {(1, 3), (2, 3)}})
    assert relation.derived(row).tolist() == [MOST_DERIVATIONS]
    assert set(subject.state()["e"]) == {(1, 1), (2, 1), (1, 2)}
    subject.update({"e": {(1, 1)}}, {"e": {(2, 4)}})
    assert [entry.count for entry in subject.state()["p"].values()] == [MOST_DERIVATIONS - 1, 2]


def test_the_counts_of_all_iterations_are_wide_enough_to_be_compared_with_the_limit() -> None:
    subject = Subject(TEXT, "counting")
    subject.bootstrap({"e": {(1, 1)}})
    row = subject.database["p"].find(np.array([[1]]))
    subject.store.state.counts["p"].add(row, 1, np.array([MOST_DERIVATIONS - 1]))
    subject.store.state.counts["p"].commit()
    with pytest.raises(TidelogError, match="TL0904"):
        subject.update({}, {"e": {(1, 2)}})
    assert subject.store.state.counts["p"].get(row, 1).tolist() == [MOST_DERIVATIONS]


def test_counts_by_iteration_do_not_wrap_around() -> None:
    counts, row = LevelCounts(), np.array([0])
    for _ in range(3):
        counts.add(row, 1, np.array([MOST_DERIVATIONS]))
        counts.commit()
    assert counts.get(row, 1).tolist() == [3 * MOST_DERIVATIONS]


def test_a_bootstrap_stops_counting_at_the_limit_and_says_so() -> None:
    relation = Database().create("p", 1, stateful=True)
    relation.iteration = 1
    relation.insert([[5]])
    relation.set_derived([0], MOST_DERIVATIONS - 1)
    relation.insert([[5]])
    refuse_overflow(relation)
    relation.insert([[5]])
    assert relation.derived([0]).tolist() == [MOST_DERIVATIONS]
    with pytest.raises(TidelogError, match="TL0904"):
        refuse_overflow(relation)


def test_a_relation_with_too_many_rows_and_an_update_with_too_many_events_are_errors() -> None:
    relation = Database().create("p", 1)
    with pytest.raises(TidelogError, match="TL0861"):
        relation.grow_rows(MOST_ROWS + 1)
    pending = Pending([])
    pending.block.need = MOST_WAITING
    with pytest.raises(TidelogError, match="TL0862"):
        pending.grow(GROW_WAITING)
