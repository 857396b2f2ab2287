"""Join orders that follow what the relations hold when a stratum begins."""

from __future__ import annotations

import numpy as np
import pytest

from tidelog.analysis.check import check
from tidelog.errors import Report
from tidelog.evaluate import statistics
from tidelog.evaluate.batch import BatchRun, Options
from tidelog.lang.load import parse_program

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
    report = Report()
    batch = BatchRun(check(parse_program(MARKED, report), report), Options())
    pairs = np.random.default_rng(1).integers(0, 1000, (20_000, 2))
    for name, rows in (("pair", pairs), ("marked", np.arange(0, 1000, 10).reshape(-1, 1))):
        batch.database[name].insert(rows)
        batch.database[name].settle()
    batch.evaluate()
    assert bool(batch.database["pair"].indexes) == (large > 0)
    expected = {(x, y) for x, y in pairs.tolist() if x % 10 == 0 and y % 10 == 0}
    assert set(map(tuple, batch.database["both"].rows().tolist())) == expected
