"""Sessions whose relations are with processes: what users see of them, and what becomes of them when one is lost."""

from __future__ import annotations

import _thread
import contextlib
import os
import random
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tidelog
from tidelog.errors import TidelogError
from tidelog.exchange.workers_engine import WorkersEngine
from tidelog.exchange.workforce import Workforce
from tidelog.local import LocalSession
from tidelog.session import Session

PROGRAM = """
.decl edge(a: number, b: number)
.decl path(a: number, b: number)
.decl back(a: number, b: number)
.decl ends(b: number, n: number)
.input edge
.output path
path(x, y) :- edge(x, y).
path(x, z) :- path(x, y), path(y, z).
back(x, y) :- path(x, y), !path(y, x).
ends(y, n) :- edge(_, y), n = count : { path(_, y) }.
"""
CHAIN = [(n, n + 1) for n in range(60)]


def workforce(session: Session) -> Workforce:
    backend = session._backend
    assert isinstance(backend, LocalSession)
    engine = backend.engine
    assert isinstance(engine, WorkersEngine)
    workers = engine.many.workers
    assert isinstance(workers, Workforce)
    return workers


def contents(session: Session) -> dict[str, list[Any]]:
    return {name: sorted(session[name]) for name in session.relations}


@pytest.fixture(scope="module")
def team() -> Iterator[Session]:
    with Session(PROGRAM, workers=2) as session:
        yield session


def test_a_session_with_workers_is_like_any_other(team: Session) -> None:
    with Session(PROGRAM) as alone:
        for step in ("bootstrap", "update", "again"):
            epochs = []
            for session in (team, alone):
                if step == "bootstrap":
                    epochs.append(session.bootstrap({"edge": CHAIN}))
                elif step == "update":
                    epochs.append(session.update(delete={"edge": [(30, 31)]}, insert={"edge": [(59, 3), (1, 2)]}))
                else:
                    epochs.append(session.update(insert={"edge": [(30, 31)]}, clear="edge"))
            many, one = epochs
            assert (many.number, many.ignored_inserts) == (one.number, one.ignored_inserts)
            for name in alone.relations:
                assert sorted(many.inserted[name].to_pylist(), key=str) == sorted(
                    one.inserted[name].to_pylist(), key=str
                )
                assert many.deleted.count(name) == one.deleted.count(name)
                assert team.count(name) == alone.count(name)
            assert contents(team) == contents(alone)
            for query in ("path(30, X)", "path(X, Y), !edge(X, Y)", "X = count : { path(_, _) }, X > 0"):
                assert sorted(team.query(query).to_pylist(), key=str) == sorted(alone.query(query).to_pylist(), key=str)
            assert (30, 31) in team["edge"] or step == "update"


def test_an_error_leaves_the_workers_at_the_epoch_before(team: Session) -> None:
    team.bootstrap({"edge": CHAIN[:10]})
    before = contents(team)
    with pytest.raises(TidelogError, match=r"TL1104|no input"):
        team.update(insert={"path": [(1, 2)]})
    assert contents(team) == before
    team.update(insert={"edge": [(10, 11)]})
    assert (0, 11) in team["path"]


def test_a_worker_that_is_killed_between_epochs_is_replaced(team: Session) -> None:
    team.bootstrap({"edge": CHAIN[:10]})
    team.update(insert={"edge": [(10, 11)]})
    os.kill(workforce(team).pids[1], signal.SIGKILL)
    team.update(delete={"edge": [(5, 6)]})
    assert ((0, 5) in team["path"], (0, 6) in team["path"], (6, 11) in team["path"]) == (True, False, True)
    os.kill(workforce(team).pids[0], signal.SIGKILL)
    assert team.count("edge") == 10


def test_workers_that_are_killed_at_any_moment_lose_no_epoch() -> None:
    drawn = random.Random(5)
    edges = set(CHAIN)
    with Session(PROGRAM, workers=2) as session, Session(PROGRAM) as alone:
        for each in (session, alone):
            each.bootstrap({"edge": sorted(edges)})
        for _ in range(6):
            delete = drawn.sample(sorted(edges), 2)
            insert = [(drawn.randrange(60), drawn.randrange(60)) for _ in range(2)]
            edges = (edges - set(delete)) | set(insert)
            pid = workforce(session).pids[drawn.randrange(2)]
            timer = threading.Timer(drawn.random() * 0.2, kill, (pid,))
            timer.start()
            session.update(delete={"edge": delete}, insert={"edge": insert})
            timer.join()
            alone.update(delete={"edge": delete}, insert={"edge": insert})
            assert contents(session) == contents(alone)


def kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_leaves_the_epoch_before(team: Session) -> None:
    team.bootstrap({"edge": CHAIN[:10]})
    before, epoch = contents(team), team.epoch
    timer = threading.Timer(0.3, _thread.interrupt_main)
    many = [(n, (7 * n + k) % 1500) for n in range(1500) for k in range(1, 3)]
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        team.update(insert={"edge": many})
    timer.join()
    assert team.epoch == epoch
    assert contents(team) == before
    team.update(insert={"edge": [(10, 11)]})
    assert (0, 11) in team["path"]


def test_a_limit_is_an_error_that_names_the_relation_and_the_worker() -> None:
    program = ".decl n(x: number)\n.output n\nn(0).\nn(x + 1) :- n(x).\n"
    with Session(program, workers=2, limits=tidelog.Limits(max_iterations=50)) as session:  # noqa: SIM117
        with pytest.raises(TidelogError, match=r"(?s)TL0901.*iteration 51 of n\b.*on workers? .* of 2"):
            session.bootstrap({})
    square = ".decl n(x: number)\n.decl p(x: number, y: number)\n.input n\n.output p\np(x, y) :- n(x), n(y).\n"
    with Session(square, workers=2, limits=tidelog.Limits(max_memory="300M")) as session:  # noqa: SIM117
        with pytest.raises(TidelogError, match=r"(?s)TL0903.*\bp\b.*on workers? .* of 2"):
            session.bootstrap({"n": [(n,) for n in range(9000)]})


def test_functors_come_from_a_file_and_may_make_texts(tmp_path: Path) -> None:
    (tmp_path / "functors.py").write_text("def shout(text):\n    return text.upper() + '!'\n")
    program = (
        ".functor shout(text: symbol): symbol\n.decl word(w: symbol)\n.decl loud(w: symbol)\n.input word\n"
        ".output loud\nloud(@shout(w)) :- word(w).\nloud(w) :- loud(w), word(w).\n"
    )
    with Session(program, workers=2, functors=tmp_path / "functors.py") as session:
        session.bootstrap({"word": [("a",), ("b",)]})
        session.update(insert={"word": [("c",), ("A!",)]})
        assert sorted(session["loud"]) == [("A!",), ("A!!",), ("B!",), ("C!",)]


def test_functors_of_a_script_travel_whole() -> None:
    program = (
        ".functor twice(x: number): number\n.decl n(x: number)\n.decl d(x: number)\n.input n\n.output d\n"
        "d(@twice(x)) :- n(x).\n"
    )
    factor = 2
    with Session(program, workers=2, functors={"twice": lambda x: factor * x}) as session:
        session.bootstrap({"n": [(n,) for n in range(5)]})
        assert sorted(session["d"]) == [(0,), (2,), (4,), (6,), (8,)]


def test_relations_are_where_the_user_says() -> None:
    program = PROGRAM.replace("edge(a: number, b: number)", "edge(a: number, b: number) replicate")
    with Session(program, workers=2, placement={"path": "b", "back": ("b", "a")}) as session:
        session.bootstrap({"edge": CHAIN[:10]})
        assert session.count("path") == 55
        backend = session._backend
        assert isinstance(backend, LocalSession)
        engine = backend.engine
        assert isinstance(engine, WorkersEngine)
        assert {name: str(engine.many.placed[name]) for name in ("edge", "path", "back")} == {
            "edge": "everywhere",
            "path": "by column 2",
            "back": "by column 2 and by column 1",
        }


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"workers": 0}, "TL1106"),
        ({"placement": {"edge": "a"}}, "TL1106"),
        ({"workers": 2, "strategy": "counting"}, "TL1274"),
        ({"workers": 2, "budget": "seconds"}, "TL1274"),
        ({"workers": 2, "placement": {"edge": "c"}}, "TL1275"),
        ({"workers": 2, "placement": {"edges": "a"}}, "TL1103"),
        ({"workers": 2, "functors": {"f": threading.Lock().acquire}}, "TL1271"),
    ],
)
def test_what_workers_cannot_do_is_refused(given: dict[str, Any], code: str) -> None:
    with pytest.raises(TidelogError, match=code):
        Session(PROGRAM, **given)
