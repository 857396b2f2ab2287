"""Join orders that follow what the relations hold when a stratum begins."""

from __future__ import annotations

import numpy as np
import pytest

from evaluate.running import evaluated
from tidelog.analysis.check import check
from tidelog.errors import Report
from tidelog.evaluate import statistics
from tidelog.lang.load import parse_program
from tidelog.plan.orders.update_plans import update_plans
from tidelog.plan.stateful import stateful_program
from tidelog.plan.steps import Probe, Scan, View

MARKED = """
.decl pair(x: number, y: number)
.decl marked(x: number)
.decl both(x: number, y: number)
both(x, y) :- marked(x), pair(x, y), marked(y).
"""


@pytest.mark.parametrize("large", [1 << 20, 0])
def test_a_large_relation_is_scanned_once_rather_than_indexed_for_one_use(
    monkeypatch: pytest.MonkeyPatch, large: int
) -> None:
    monkeypatch.setattr(statistics, "LARGE", large)
    pairs = np.random.default_rng(1).integers(0, 1000, (20_000, 2))
    engine = evaluated(MARKED, {"pair": pairs, "marked": np.arange(0, 1000, 10).reshape(-1, 1)}).ready()
    assert bool(engine.query_database()["pair"].indexes) == (large > 0)
    expected = {(x, y) for x, y in pairs.tolist() if x % 10 == 0 and y % 10 == 0}
    assert set(map(tuple, engine.rows("both").tolist())) == expected


THROUGH_A_HUB = """
.decl a(x: number, y: number)
.decl b(y: number, z: number)
.decl c(z: number, w: number)
.decl d(x: number, w: number)
.input a
.input b
.input c
d(x, w) :- a(x, y), b(y, z), c(z, w).
"""


class EveryKeyIsFrequent:
    """An estimate by which it would be cheaper to look at all of c than to go on from b."""

    def size(self, relation: str, view: View) -> float:
        return 1000.0

    def fanout(self, relation: str, view: View, columns: tuple[int, ...]) -> float:
        return 1.0 if len(columns) == 2 else 100_000.0

    def index_work(self, relation: str, columns: tuple[int, ...]) -> float:
        return 0.0


def test_an_update_does_not_look_at_all_of_a_relation_where_it_can_follow_the_change() -> None:
    report = Report()
    program = stateful_program(check(parse_program(THROUGH_A_HUB, report), report))
    (stratum,) = (s for s in program.strata if "d" in s.relations)
    (rule,) = stratum.rules
    for plan in update_plans(rule, stratum.relations, EveryKeyIsFrequent()):
        change, *probes = [step for step in plan.steps if isinstance(step, Scan | Probe)]
        assert isinstance(change, Scan)
        assert all(probe.match.key for probe in probes), plan


def test_repetitions_are_counted_row_by_row() -> None:
    rows = np.random.default_rng(3).zipf(1.4, (5000, 3)).astype(np.int32) % 50
    for columns in ([0], [2, 0], [0, 1, 2]):
        _, expected = np.unique(rows[:, columns], axis=0, return_counts=True)
        assert sorted(statistics.repetitions(rows[:, columns])) == sorted(expected)
