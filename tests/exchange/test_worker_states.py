"""State directories that workers write: read by one process, and by any number of workers, and after a kill."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from part_team import SeededTeam

from tidelog.analysis.check import check
from tidelog.exchange.part_worker import PartOrder
from tidelog.local import LocalSession, Settings
from tidelog.session import Session, checked_program

PROGRAM = """
.type Pair = [a: number, b: symbol]
.decl edge(a: number, b: number)
.decl path(a: number, b: number)
.decl same(a: number, b: number) eqrel
.decl name(a: number, t: symbol)
.decl pair(p: Pair)
.decl ends(b: number, n: number)
.decl best(a: number, b: number) choice-domain a
.input edge
.input best
.input name
.output path
path(x, y) :- edge(x, y).
path(x, z) :- path(x, y), path(y, z).
same(x, y) :- path(x, y), path(y, x).
name(x, cat("n", to_string(y))) :- path(x, y), x > y.
pair([x, t]) :- name(x, t), edge(x, _).
ends(y, n) :- edge(_, y), n = count : { path(_, y) }.
best(x, y) :- edge(x, y), x < 3.
"""
Facts = dict[str, set[tuple[Any, ...]]]


def opened(place: Path | None, size: int | None, seed: int = 0) -> LocalSession:
    """A session in this process, alone or with workers on the seeded transport."""

    def team(order: PartOrder, size: int, watch: object) -> SeededTeam:
        return SeededTeam(check(order.program), size, seed, order.said)

    return LocalSession(checked_program(PROGRAM), Settings(strategy="update", state=place, workers=size), team=team)


def contents(session: LocalSession) -> dict[str, list[Any]]:
    return {name: sorted(session.relation(name)) for name in session.checked.relations}


def test_a_state_goes_from_any_number_of_workers_to_any_other(tmp_path: Path) -> None:
    drawn = random.Random(3)
    edges = {(drawn.randrange(12), drawn.randrange(12)) for _ in range(14)}
    state, alone = tmp_path / "state", opened(None, None)
    facts = {"edge": sorted(edges), "name": [(3, "x"), (50, "y")], "best": [(1, 7), (9, 9)]}
    alone.bootstrap(facts)
    writer = opened(state, 3)
    writer.bootstrap(facts)
    assert contents(writer) == contents(alone)
    writer.close()
    for number, size in enumerate([None, 2, 1, None, 5, 3]):
        session = opened(state, size, number)
        assert session.epoch == number + 1
        assert contents(session) == contents(alone)
        delete, insert = drawn.sample(sorted(edges), 2), [(drawn.randrange(12), drawn.randrange(12))]
        edges = (edges - set(delete)) | set(insert)
        for each in (session, alone):
            each.update({"edge": insert}, {"edge": delete, "name": [(3, "x")]})
        assert contents(session) == contents(alone)
        if size is not None:  # one epoch more by the same process: indexes and plans are there
            session.close()
            session = opened(state, size, number + 100)
            assert contents(session) == contents(alone)
        session.close()
    alone.close()


def test_a_worker_that_is_killed_costs_no_epoch_of_the_state(tmp_path: Path) -> None:
    from test_worker_sessions import workforce

    state = str(tmp_path / "state")
    with Session(PROGRAM, workers=2, state=state) as session:
        session.bootstrap({"edge": [(1, 2), (2, 3)], "name": [], "best": []})
        os.kill(workforce(session).pids[0], signal.SIGKILL)
        session.update(insert={"edge": [(3, 1)]})
        assert session.epoch == 2
    with Session(PROGRAM, state=state) as session:
        assert session.epoch == 2
        assert (3, 3) in session["path"]
        assert (1, "n2") not in session["name"]
        assert (3, "n2") in session["name"]


WRITER = """
import sys
from test_worker_states import PROGRAM
from tidelog.session import Session

with Session(PROGRAM, workers=2, state=sys.argv[1]) as session:
    session.bootstrap({"edge": [], "name": [], "best": []})
    for n in range(1000):
        session.update(insert={"edge": [(n, n + 1)]})
        print(session.epoch, flush=True)
"""


@pytest.mark.parametrize("after", [3, 7])
def test_a_driver_that_is_killed_loses_no_epoch_that_was_acknowledged(tmp_path: Path, after: int) -> None:
    state = str(tmp_path / "state")
    here = Path(__file__).parent
    environment = {**os.environ, "PYTHONPATH": f"{here}{os.pathsep}{here.parent}"}
    command = [sys.executable, "-c", WRITER, state]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as writer:
        assert writer.stdout is not None
        for line in writer.stdout:
            if int(line) == after:
                break
        writer.send_signal(signal.SIGKILL)
    with Session(PROGRAM, state=state) as session:
        assert session.epoch >= after
        n = session.epoch - 1
        assert session.count("edge") == n
        assert session.count("path") == n * (n + 1) // 2
