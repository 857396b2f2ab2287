"""Workers that are real processes: they exchange arrays, fail together, are lost together, and never stay behind."""

from __future__ import annotations

import _thread
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import summing
from summing import KINDS, Act, Deal, Summing, Total

from tidelog.errors import InternalError, TidelogError
from tidelog.exchange.processes import process_workers
from tidelog.exchange.workforce import Workforce
from tidelog.wire.rendezvous import WorkerLost

SIZE = 3
FEW = np.arange(10, dtype=np.uint32)


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(summing.__file__).parent))


@pytest.fixture
def workers() -> Iterator[Workforce]:
    made = process_workers(SIZE, Summing, None, KINDS)
    yield made
    made.close()
    assert not any(map(runs, made.pids))


def test_arrays_go_from_all_to_all_question_after_question(workers: Workforce) -> None:
    for _ in range(3):
        answers = workers.ask([Deal(FEW), Deal(FEW + 10), Deal(FEW + 20)])
        # 0..29 by their remainders: 0+3+…+27, 1+4+…+28, 2+5+…+29
        assert answers == [Total(135), Total(145), Total(155)]


def test_many_large_messages_arrive_through_bounded_windows(workers: Workforce) -> None:
    numbers = np.arange(15_000_000, dtype=np.uint32)  # 60 MB: windows of 16 MiB fill
    none = np.empty(0, np.uint32)
    answers = workers.ask([Deal(numbers, 12), Deal(none), Deal(none)])
    assert [answer.total for answer in answers if isinstance(answer, Total)] == [
        int(numbers[peer::SIZE].sum(dtype=np.int64)) for peer in range(SIZE)
    ]


def test_what_a_peer_sends_before_we_are_asked_waits(workers: Workforce) -> None:
    assert workers.ask([Deal(FEW), Act("be late"), Deal(FEW)]) == [Total(54), Total(36), Total(45)]


def test_an_error_of_one_stops_all_and_they_go_on_with_the_next_question(workers: Workforce) -> None:
    with pytest.raises(TidelogError) as caught:
        workers.ask([Deal(FEW), Act("fail"), Act("wait")])
    assert [d.code for d in caught.value.diagnostics] == ["TL0805"]
    assert "on worker 1 of 3" in str(caught.value)
    assert workers.ask([Deal(FEW)] * SIZE) == [Total(54), Total(36), Total(45)]
    with pytest.raises(TidelogError, match="on workers 0, 2 of 3"):
        workers.ask([Act("fail"), Act("wait"), Act("fail")])
    with pytest.raises(InternalError, match="worker 2 of 3 failed: ZeroDivisionError: ours"):
        workers.ask([Act("wait"), Act("wait"), Act("break")])
    assert workers.ask([Deal(FEW)] * SIZE) == [Total(54), Total(36), Total(45)]


def test_a_worker_that_dies_ends_all(workers: Workforce) -> None:
    start, pids = time.monotonic(), workers.pids
    with pytest.raises(WorkerLost, match=f"worker 1 of 3: process {pids[1]} was ended by SIGKILL"):
        workers.ask([Deal(FEW), Act("die"), Act("wait")])
    assert time.monotonic() - start < 5
    assert not any(map(runs, pids))
    with pytest.raises(WorkerLost, match="the workers are gone"):
        workers.ask([Deal(FEW)] * SIZE)


def test_a_worker_that_hangs_is_noticed_by_its_silence(workers: Workforce) -> None:
    workers._rendezvous._silence = 1.0
    with pytest.raises(WorkerLost, match=r"worker 2 of 3: process .* has been silent for 1 s"):
        workers.ask([Deal(FEW), Act("wait"), Act("hang")])


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_stops_the_workers_and_they_go_on(workers: Workforce) -> None:
    workers.ask([Deal(FEW)] * SIZE)
    timer = threading.Timer(0.3, _thread.interrupt_main)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        workers.ask([Act("wait")] * SIZE)
    timer.join()
    assert workers.ask([Deal(FEW)] * SIZE) == [Total(54), Total(36), Total(45)]


def test_workers_that_cannot_begin_say_why() -> None:
    with pytest.raises(TidelogError, match="worker 0 cannot open its state"):
        process_workers(2, Summing, "refuse", KINDS)


def test_what_other_processes_cannot_be_handed_is_a_users_error() -> None:
    with pytest.raises(TidelogError, match="TL1271"):
        process_workers(2, Summing, threading.Lock(), KINDS)


PARENT = """
import time
from summing import KINDS, Summing
from tidelog.exchange.processes import process_workers

workers = process_workers(2, Summing, None, KINDS)
print(*workers.pids, flush=True)
time.sleep(600)
"""


def test_workers_end_with_the_process_that_asks_them() -> None:
    with subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pids = [int(pid) for pid in parent.stdout.readline().split()]
        assert len(pids) == 2
        parent.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 20
    while any(map(runs, pids)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(runs, pids))


def runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False
