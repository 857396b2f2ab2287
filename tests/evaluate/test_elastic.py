"""After any sequence of epochs the state is that of the definition: same tuples, same iterations, same counts.

The oracle (`oracle.py` for tuples, `interpreter.py` for their iterations and counts) knows nothing of updates. 2,000
histories in all by default, shared by the strategies; `TIDELOG_FUZZ=50000 pytest -n 2 tests/evaluate/test_elastic.py`
for the long run.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis.strategies import sampled_from

import interpreter
from strategies.budget import examples, note_seed
from strategies.epochs import Facts, History, histories
from strategies.programs import Features
from strategies.subject import SWITCHES, Subject
from tidelog.errors import TidelogError
from tidelog.plan.orders.paper_terms import Switches

HISTORIES = 2000
PIECES = {"update": 18, "elastic": 6, "update-paper": 8, "counting": 6, "batch": 2}  # of HISTORIES, of equal size
JOINS = Features(types=("number", "symbol"), aggregates=False, special=False, derived_inputs=True)
FLOATS = Features(types=("float",), special=False, derived_inputs=True)
KINDS = {"everything": Features(derived_inputs=True), "joins": JOINS, "floats": FLOATS}


def net(before: Facts, after: Facts) -> tuple[Facts, Facts]:
    return {n: before[n] - after[n] for n in before}, {n: after[n] - before[n] for n in before}


def compare(history: History, strategy: str, **options: Any) -> None:
    note_seed(history)
    try:
        subject = Subject(history.example.text, strategy, **options)
    except TidelogError:
        return
    before: Facts = {}
    known: dict[str, set[Any]] = {name: set() for name in subject.checked.relations}
    for facts in history.facts():
        wanted = interpreter.state(subject.checked, facts, by_classes=True)  # first: it gives up where it is much
        report = subject.update(*net(before, facts)) if before else subject.bootstrap(facts)
        found = subject.state()
        for name, rows in wanted.items():
            if name in subject.whole():
                assert set(found[name]) == set(rows), name
            else:
                assert found[name] == rows, name
            inserted = set(subject.values(name, report.inserted.get(name, np.empty((0, 0), np.int64))))
            deleted = set(subject.values(name, report.deleted.get(name, np.empty((0, 0), np.int64))))
            assert (inserted, deleted) == (set(rows) - known[name], known[name] - set(rows)), f"change of {name}"
            known[name] = set(rows)
        before = facts


@pytest.mark.parametrize(("number", "strategy"), list(enumerate(s for s, n in PIECES.items() for _ in range(n))))
def test_an_update_is_a_recomputation(number: int, strategy: str) -> None:
    kind = list(KINDS)[number % len(KINDS)]

    @examples(HISTORIES, sum(PIECES.values()), number)
    @given(histories(KINDS[kind]), sampled_from(SWITCHES))
    def agrees(history: History, switches: Switches) -> None:
        compare(history, strategy, paper=switches)

    agrees()
