"""What happens between a Bootstrap and the first update: nothing, and then what the change reaches."""

from __future__ import annotations

import gc
import threading
import time
from pathlib import Path

import tidelog

MANY = 100
PROGRAM = (
    ".decl e(x: number, y: number)\n.input e\n.decl f(x: number, y: number)\n.input f\n"
    + "".join(
        f".decl p{i}(x: number, y: number)\n"
        f"p{i}(x, y) :- {'e' if i == 0 else f'p{i - 1}'}(x, z), f(z, y).\np{i}(x, y) :- p{i}(x, z), f(z, y), x < {i}.\n"
        for i in range(MANY)
    )
    + ".decl q(x: number)\nq(x) :- e(x, _), x > 5.\n.decl g(x: number)\n.input g\n.decl h(x: number)\nh(x) :- g(x).\n"
)


def session() -> tidelog.Session:
    made = tidelog.Session(PROGRAM)
    made.bootstrap({"e": [(n, n + 1) for n in range(10)], "f": [], "g": [(1,)]})
    return made


def test_no_thread_works_behind_the_callers_back() -> None:
    before = set(threading.enumerate())
    with session() as opened:
        assert not set(threading.enumerate()) - before  # those of tests before this one may end meanwhile
        opened.update(insert={"g": [(2,)]})
        assert not set(threading.enumerate()) - before


def test_only_what_a_change_reaches_is_prepared() -> None:
    with session() as opened:
        opened.update(insert={"g": [(2,)]})
        store = opened._backend.engine._held  # type: ignore[attr-defined]
        assert list(store.updates) == [("h",)]
        opened.update(insert={"e": [(20, 21)]})
        assert ("q",) in store.updates
        assert set(opened["q"]) == {(6,), (7,), (8,), (9,), (20,)}


def test_a_report_tells_how_long_the_caller_has_waited() -> None:
    with session() as opened:
        for insert in ({"f": [(1, 1), (2, 2)]}, {"f": [(3, 3)]}):
            start = time.perf_counter()
            epoch = opened.update(insert=insert)
            waited = time.perf_counter() - start
            assert 0.5 * waited <= epoch.seconds <= waited


def resident() -> int:
    """The process's memory in MB."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 >> 20


def test_sessions_that_are_closed_leave_no_memory_behind() -> None:
    def once() -> None:
        with session() as opened:
            opened.update(insert={"f": [(1, 1), (2, 2)]})

    once()
    once()
    before = resident()
    for _ in range(4):
        once()
    assert resident() - before < 60
