"""After any sequence of epochs the state is that of the definition: same tuples, same iterations, same counts.

The oracle (`oracle.py` for tuples, `interpreter.py` for their iterations and counts) knows nothing of updates. 2,000
histories in all by default, shared by the strategies; `TIDELOG_FUZZ=50000 pytest -n 2 tests/evaluate/test_elastic.py`
for the long run.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis.strategies import sampled_from

from evaluate.recomputation import compare
from strategies.budget import examples
from strategies.epochs import History, histories
from strategies.programs import Features
from strategies.subject import SWITCHES
from tidelog.plan.orders.paper_terms import Switches

HISTORIES = 2000
PIECES = {"update": 18, "elastic": 6, "update-paper": 8, "counting": 6, "batch": 2}  # of HISTORIES, of equal size
JOINS = Features(types=("number", "symbol"), aggregates=False, special=False, derived_inputs=True)
FLOATS = Features(types=("float",), special=False, derived_inputs=True)
KINDS = {"everything": Features(derived_inputs=True), "joins": JOINS, "floats": FLOATS}


@pytest.mark.parametrize(("number", "strategy"), list(enumerate(s for s, n in PIECES.items() for _ in range(n))))
def test_an_update_is_a_recomputation(number: int, strategy: str) -> None:
    kind = list(KINDS)[number % len(KINDS)]

    @examples(HISTORIES, sum(PIECES.values()), number)
    @given(histories(KINDS[kind]), sampled_from(SWITCHES))
    def agrees(history: History, switches: Switches) -> None:
        compare(history, strategy, paper=switches)

    agrees()
