"""Bootstrap on several threads leaves the state that one thread leaves: same tuples, same iterations, same counts."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis.strategies import sampled_from

from evaluate.recomputation import compare
from strategies.budget import examples
from strategies.engine import checked_program
from strategies.epochs import History, histories
from strategies.programs import Features
from strategies.subject import Subject, store_of
from tidelog.epochs.engine import EngineOptions, make_engine
from tidelog.store.database import Database

CLOSURES = """
.decl edge(a: number, b: number)
.input edge
.decl path(a: number, b: number)
path(a, b) :- edge(a, b).
path(a, c) :- path(a, b), path(b, c).
.decl far(a: number, b: number)
far(a, b) :- path(a, c), path(c, b), a != b, !edge(a, b).
.decl wide(a: number, b: number, c: number)
wide(a * 1000003, b * 999983, c * 99991) :- path(a, b), path(b, c).
wide(a, b, a) :- wide(a, b, _), path(a, _).
.output far
"""


def eager(monkeypatch: pytest.MonkeyPatch, **settings: int) -> None:
    """All threads take part in everything, chunk by little chunk."""
    monkeypatch.setattr("tidelog.evaluate.state.Database", partial(Database, **settings))


@pytest.mark.parametrize("threads", [2, 3, 4])
def test_random_programs_have_the_state_of_the_definition(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    eager(monkeypatch, parallel_from=1, chunk=4, bitmaps_from=8)

    @examples(240, 3, threads - 2)
    @given(histories(Features(derived_inputs=True)), sampled_from(["elastic", "update", "counting"]))
    def agrees(history: History, strategy: str) -> None:
        compare(history, strategy, threads=threads)

    agrees()


def state_of(edges: np.ndarray, threads: int) -> dict[str, Any]:
    """Every row with its iteration and count, in the order of the rows."""
    engine = make_engine(checked_program(CLOSURES), EngineOptions(threads=threads), "elastic")
    engine.bootstrap({"edge": edges})
    found = {}
    for name in ("edge", "path", "far", "wide"):
        relation = store_of(engine).state.database[name]
        entries = np.column_stack((relation.rows(), relation.now(), relation.derived()))
        found[name] = entries[np.lexsort(entries.T[::-1])]
    return found


@pytest.mark.parametrize("bitmaps_from", [1 << 10, 1 << 40], ids=["blocked", "numbered"])
@pytest.mark.parametrize("seed", range(4))
def test_every_entry_is_that_of_one_thread(bitmaps_from: int, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(seed)
    edges = np.unique(rng.integers(0, 60, (130 + 20 * seed, 2)), axis=0)
    eager(monkeypatch, parallel_from=32, chunk=32, bitmaps_from=bitmaps_from)
    wanted = state_of(edges, 1)
    assert wanted["path"][:, -1].max() > 10
    for threads in (2, 3, 4):
        found = state_of(edges, threads)
        for name, entries in wanted.items():
            assert np.array_equal(found[name], entries), (name, threads)


def test_a_session_takes_threads() -> None:
    subject = Subject(CLOSURES, "elastic", threads=2)
    assert subject.store.state.database.threads == 2
