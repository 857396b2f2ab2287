"""How many random examples a test runs, and from which seed.

`TIDELOG_FUZZ=100000` sets the total over all parts of a test; `TIDELOG_SEED=7` repeats a run. A failure prints the
seed of its part and hypothesis' blob for `@reproduce_failure`.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, currently_in_test_context, note, seed, settings

SEED = int(os.environ.get("TIDELOG_SEED") or random.SystemRandom().randrange(2**31))
TOTAL = int(os.environ.get("TIDELOG_FUZZ") or 0)


def examples(in_ci: int, parts: int = 1, part: int = 0) -> Callable[[Any], Any]:
    """One of several parts of a test of `in_ci` examples in all."""
    share = -(-(TOTAL or in_ci) // parts)
    quiet = settings(
        max_examples=share, deadline=None, database=None, print_blob=True, suppress_health_check=list(HealthCheck)
    )

    def decorate(test: Any) -> Any:
        return seed(SEED + part)(quiet(test))

    return decorate


def note_seed(*shown: object) -> None:
    """Shown with a failing example; nothing outside of hypothesis."""
    if not currently_in_test_context():
        return
    note(f"TIDELOG_SEED={SEED}")
    for thing in shown:
        note(str(thing))
