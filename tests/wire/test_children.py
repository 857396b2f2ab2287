"""A child and the rendezvous that it comes to: answers, silence, and ends that leave nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import wire_child
from wire_child import MESSAGES, Do, Order, Where

import tidelog
from tidelog.errors import InternalError, TidelogError
from tidelog.net.runtime.pool import Pool
from tidelog.wire import children
from tidelog.wire.children import Child
from tidelog.wire.codec import dumps
from tidelog.wire.keys import Keys
from tidelog.wire.messages import Done
from tidelog.wire.rendezvous import News, Rendezvous, WorkerLost


@pytest.fixture(params=[True, False], ids=["a thread listens", "who waits listens"])
def started(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[SimpleNamespace]:
    """A child that has joined."""
    monkeypatch.setenv("PYTHONPATH", str(Path(wire_child.__file__).parent))
    keys = Keys.new()
    meeting = Rendezvous("127.0.0.1", keys, MESSAGES, silence=60.0, always_listen=request.param)
    child = Child("wire_child")
    child.employ(dumps(Order(meeting.address, keys, 1000.0)))
    member = meeting.joined(0, 0, child.alive, 60.0)
    yield SimpleNamespace(meeting=meeting, child=child, member=member)
    child.end(0.0)
    meeting.close()


def ask(started: SimpleNamespace, what: str, kind: type[Any] = Done) -> Any:
    return started.meeting.ask(started.member, Do(what), kind, started.child.alive)[0]


def test_questions_are_answered_and_the_rest_is_news(started: SimpleNamespace) -> None:
    assert started.member.pid == started.child.pid
    assert ask(started, "say something") == Done()
    assert started.meeting.news() == News(0, Done())
    started.meeting.sign_of_life(started.member, started.child.alive)
    assert started.member.memory == 7


def test_an_answer_of_another_kind_is_our_mistake(started: SimpleNamespace) -> None:
    with pytest.raises(InternalError, match="answers Where instead of Done"):
        ask(started, "answer nonsense")


def test_who_waits_for_a_worker_that_gives_up_gets_its_error(started: SimpleNamespace) -> None:
    with pytest.raises(TidelogError, match="cannot go on"):
        ask(started, "give up")


def test_a_child_that_dies_is_noticed_at_once(started: SimpleNamespace) -> None:
    with pytest.raises(WorkerLost, match=f"process {started.child.pid} was ended by SIGKILL"):
        ask(started, "die")


def test_a_child_that_hangs_is_noticed_by_its_silence(started: SimpleNamespace) -> None:
    started.meeting._silence = 1.0
    with pytest.raises(WorkerLost, match="has been silent for 1 s"):
        ask(started, "hang")


def test_a_child_that_is_busy_is_not_silent(started: SimpleNamespace) -> None:
    question = started.meeting.asked(started.member, Do("be busy"))
    for _ in range(3):
        started.meeting.sign_of_life(started.member, started.child.alive)
    assert started.meeting._answers[question.number] is None


def test_nobody_is_silent_while_we_do_not_listen(started: SimpleNamespace) -> None:
    os.kill(started.child.pid, signal.SIGSTOP)
    meeting, member = started.meeting, started.member
    for _ in range(2):
        paused = time.monotonic() - 100.0
        member.heard, meeting._listened = paused, paused  # as if our thread had been stopped for so long
        while meeting._listened == paused:
            assert meeting.news() is None
        meeting.check(member, started.child.alive)


def test_a_child_imports_nothing_from_the_working_folder(
    started: SimpleNamespace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = ask(started, "say where", Where)
    assert "" not in found.path
    assert str(Path.cwd()) not in found.path
    monkeypatch.chdir(tmp_path)
    (tmp_path / "zmq.py").write_text("raise SystemExit('not this one')")
    child = Child("wire_child")
    meeting = started.meeting
    child.employ(dumps(Order(meeting.address, meeting._sockets._keys, 1000.0)))
    del meeting.members[0, 0]
    assert meeting.joined(0, 0, child.alive, 60.0).pid == child.pid
    child.end(0.0)


@pytest.mark.parametrize("flag", ["-I", "-E", "-s"])
def test_a_child_is_started_with_the_flags_of_its_parent(flag: str) -> None:
    shown = "from tidelog.wire import children; print(*children._flags())"
    output = subprocess.run([sys.executable, flag, "-c", shown], capture_output=True, text=True, check=True).stdout
    assert {"-P", flag} <= set(output.split())
    assert children._flags() == ["-P"]


PARENT = """
import os, sys, time
from tidelog.wire.children import Child
from tidelog.wire.codec import dumps
from tidelog.wire.keys import Keys
from tidelog.wire.rendezvous import Rendezvous
from wire_child import MESSAGES, Do, Order

keys = Keys.new()
meeting = Rendezvous("127.0.0.1", keys, MESSAGES)
idle, busy = Child("wire_child"), Child("wire_child")
for child in (idle, busy):
    child.employ(dumps(Order(meeting.address, keys, 1000.0)))
    member = meeting.joined(0, 0, child.alive, 60.0)
    if child is idle:
        del meeting.members[0, 0]
meeting.say(member, Do("be busy"))
waiting = Child("wire_child")
forked = os.fork() if sys.argv[1] == "forked" else -1
if forked == 0:
    time.sleep(60)  # holds the pipes of the children, too
print(idle.pid, busy.pid, waiting.pid, forked, flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize("kind", ["plain", "forked"])
def test_children_end_when_their_parent_is_killed(kind: str) -> None:
    environment = os.environ | {"PYTHONPATH": str(Path(wire_child.__file__).parent)}
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, kind], stdout=subprocess.PIPE, text=True, env=environment
    ) as p:
        assert p.stdout is not None
        *pids, forked = map(int, p.stdout.readline().split())
        assert all(map(alive, pids))
        p.kill()
    try:
        deadline = time.monotonic() + 20
        while any(map(alive, pids)) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not [pid for pid in pids if alive(pid)]
    finally:
        if forked > 0:
            os.kill(forked, signal.SIGKILL)


def alive(pid: int) -> bool:
    """Whether the process runs; one that has ended and that nobody has asked about does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_more_processes_than_a_machine_can_run_are_refused() -> None:
    with pytest.raises(TidelogError, match="100,000 processes are more than this machine can run"):
        Pool(100_000)
    with pytest.raises(TidelogError, match="TL1277"):
        tidelog.Session(".decl p(x: number)", workers=100_000).bootstrap()
