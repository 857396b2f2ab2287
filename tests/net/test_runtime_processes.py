"""Nodes spread over processes: the same facts as in one process; strangers get nothing; a dead process is noticed.

`TIDELOG_FUZZ_PROCESSES` sets how many random cases run across processes, one after the other on the same ones.
"""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from net_cases import Case, final_base, random_network
from net_central import evaluate

from tidelog.errors import InternalError, TidelogError
from tidelog.lang.ndlog_printer import print_program
from tidelog.net import Update
from tidelog.net.runtime import inputs
from tidelog.net.runtime.launch import OneProcess, Setting
from tidelog.net.runtime.merge import merge
from tidelog.net.runtime.topologies import topology
from tidelog.net.runtime.trace import Trace

pytest.importorskip("zmq")

from tidelog.net.runtime.pool import Pool
from tidelog.net.runtime.processes import ManyProcesses

CASES = int(os.environ.get("TIDELOG_FUZZ_PROCESSES", "60"))
EXAMPLES = Path(__file__).parents[2] / "examples" / "net"


@contextmanager
def started(setting: Setting) -> Iterator[ManyProcesses]:
    with Pool(setting.processes) as pool:
        yield ManyProcesses(setting, pool)


def bursts_of(setting: Setting, stem: str) -> list[list[Update]]:
    facts = inputs.load_facts(EXAMPLES / f"{stem}.facts", setting.program)
    return [[Update(1, f) for f in facts], *inputs.load_bursts(EXAMPLES / f"{stem}.updates", setting.program)]


@pytest.mark.parametrize("stem", ["reachability", "best_path", "chord_lookup"])
def test_processes_end_as_one_process_does(stem: str) -> None:
    one = OneProcess(Setting.load(EXAMPLES / f"{stem}.ndlog", schedule="random", seed=3))
    setting = Setting.load(EXAMPLES / f"{stem}.ndlog", schedule="random", seed=3, processes=2)
    with started(setting) as many:
        for burst in bursts_of(setting, stem):
            one.burst(burst)
            many.burst(burst)
            assert many.facts() == one.facts()
        assert many.size == one.size


def test_costs_that_no_order_can_change_are_those_of_one_process() -> None:
    setting = Setting.load(EXAMPLES / "path_vector.ndlog", processes=3)
    links = [Update(1, f) for f in topology("ring:12").facts(setting.program)]
    one = OneProcess(setting).burst(links)
    with started(setting) as many:
        cost = many.burst(links)
        gone = many.burst([Update(-1, u.fact) for u in links])
        assert not many.facts()
        assert many.burst([Update(-1, links[0].fact)]).left_out == [Update(-1, links[0].fact)]
    assert (cost.updates, cost.messages, cost.bytes) == (one.updates, one.messages, one.bytes)
    assert gone.messages == cost.messages


def test_a_killed_process_is_noticed() -> None:
    setting = Setting.load(EXAMPLES / "path_vector.ndlog", processes=2)
    with started(setting) as many:
        links = [Update(1, f) for f in topology("ring:8").facts(setting.program)]
        many.burst(links)
        os.kill(many.pool.workers[1].pid, signal.SIGKILL)
        with pytest.raises(TidelogError, match=r"TL1057.*process 1 of 2 is lost: process \d+ was ended by SIGKILL"):
            many.burst([Update(-1, u.fact) for u in links])


def test_a_process_that_hangs_is_noticed_by_its_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tidelog.net.runtime.pool._SILENCE", 2.0)
    setting = Setting.load(EXAMPLES / "path_vector.ndlog", processes=2)
    with started(setting) as many:
        links = [Update(1, f) for f in topology("ring:8").facts(setting.program)]
        os.kill(many.pool.workers[0].pid, signal.SIGSTOP)
        with pytest.raises(TidelogError, match=r"TL1057.*process 0 of 2 is lost: process \d+ has been silent for 2 s"):
            many.burst(links)
        many.pool.workers[0].end(0.0)


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    with Pool(3) as started:
        yield started


@pytest.mark.parametrize("annotated", [False, True], ids=["plain", "annotated"])
def test_random_networks_end_across_processes_as_centralised_evaluation_does(
    annotated: bool, pool: Pool, tmp_path: Path
) -> None:
    ran = 0
    for seed in range(CASES // 2):
        case = random_network(seed, recursive=annotated)
        bursts = [[Update(1, f) for f in case.facts], *case.bursts]
        setting = as_setting(case, annotated, pool.size, tmp_path / "case.ndlog")
        if setting is None or too_long(setting, bursts):
            continue
        network = ManyProcesses(setting, pool)
        for burst in bursts:
            assert not network.burst(burst).waiting
        names = {a.name for r in case.rules for a in r.heads} | {"e", "f", "g"}
        found = {(f.name, f.args) for f in network.facts() if f.name in names}
        assert found == evaluate(case.program, {(f.name, f.args) for f in final_base(case)}), str(case)
        ran += 1
    assert ran > 0.4 * CASES


def as_setting(case: Case, annotated: bool, processes: int, file: Path) -> Setting | None:
    """The case as a program file and a setting; None if it cannot be localised."""
    file.write_text(print_program(case.program))
    try:
        return Setting.load(
            file, schedule=case.schedule, seed=case.seed, starve="0" if case.schedule == "starve" else None,
            algorithm="annotated" if annotated else "psn", batch=case.picking is None, cancel=case.cancel,
            limit=10_000, processes=processes,
        )  # fmt: skip
    except TidelogError as problem:
        if problem.codes == ("TL1021",):  # a negation needs what its node cannot learn
            return None
        raise


def too_long(setting: Setting, bursts: list[list[Update]]) -> bool:
    """Whether the rare case has too many derivations: in one process, where that ends nothing but the case."""
    alone = OneProcess(setting)
    try:
        return sum(alone.burst(burst).updates for burst in bursts) > setting.limit // 4
    except TidelogError:
        return True


def test_a_process_without_work_keeps_nobody_waiting(pool: Pool) -> None:
    setting = Setting.load(EXAMPLES / "path_vector.ndlog", processes=pool.size)
    link = Update(1, topology("ring:3").facts(setting.program)[0])
    for _ in range(20):
        network = ManyProcesses(setting, pool)
        assert network.burst([link]).updates == 3  # the link, the path along it, and who listens
        assert network.size < pool.size


def test_the_traces_of_processes_merge_into_one_in_which_everything_is_sent_before_it_is_received(pool: Pool) -> None:
    setting = Setting.load(EXAMPLES / "path_vector.ndlog", schedule="random", seed=5, processes=pool.size)
    out = io.StringIO()
    network = ManyProcesses(setting, pool, Trace(out))
    links = [Update(1, f) for f in topology("ring:9").facts(setting.program)]
    for burst in (links, [Update(-1, links[0].fact)]):
        cost = network.burst(burst)
    records = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [r["kind"] for r in records if r["kind"] != "step"] == ["burst", "converged", "burst", "converged"]
    assert [r["step"] for r in records if r["kind"] == "step"] == list(
        range(1, sum(r["kind"] == "step" for r in records) + 1)
    )
    in_flight: set[int] = set()
    state: Counter[str] = Counter()
    for record in records:
        assert in_flight.issuperset(record.get("received", ()))
        in_flight.difference_update(record.get("received", ()))
        in_flight.update(m[0] for m in record.get("sent", ()))
        for update in record.get("picked", ()):
            text, _, copies = update[1:].partition(" × ")
            state[text] += int(copies or 1) if update[0] == "+" else -int(copies or 1)
    assert not in_flight
    assert {fact for fact, n in state.items() if n} == set(map(str, network.facts()))
    assert records[-1]["messages"] == cost.messages


def test_traces_without_a_causal_order_are_an_error() -> None:
    with pytest.raises(InternalError, match="nobody sent"):
        list(merge([[{"kind": "step", "received": [7]}]]))


ENDLESS = "r0: n(@X,Y,0) :- link(@X,Y).\nr1: n(@Y,X,C) :- n(@X,Y,B), C=(B+1)%1000.\n"


@pytest.mark.parametrize("busy", [False, True], ids=["idle", "busy"])
def test_the_processes_end_when_their_coordinator_is_killed(busy: bool, tmp_path: Path) -> None:
    program = tmp_path / "endless.ndlog"
    program.write_text(ENDLESS)
    script = tmp_path / "coordinator.py"
    script.write_text(COORDINATOR.format(program=str(program), busy=busy))
    coordinator = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True)
    assert coordinator.stdout is not None
    workers = [int(word) for word in coordinator.stdout.readline().split()]
    assert len(workers) == 2
    assert all(map(alive, workers))
    coordinator.send_signal(signal.SIGKILL)
    coordinator.wait()
    deadline = time.monotonic() + 20
    while any(map(alive, workers)) and time.monotonic() < deadline:
        time.sleep(0.05)
    left = [pid for pid in workers if alive(pid)]
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert not left


COORDINATOR = """
import time
from pathlib import Path
from tidelog.net import Update
from tidelog.net.runtime.launch import Setting
from tidelog.net.runtime.pool import Pool
from tidelog.net.runtime.processes import ManyProcesses
from tidelog.net.runtime.topologies import topology

setting = Setting.load(Path({program!r}), limit=10**9, processes=2, algorithm="psn")
with Pool(2) as pool:
    network = ManyProcesses(setting, pool)
    print(*(worker.pid for worker in pool.workers), flush=True)
    if {busy}:
        network.burst([Update(1, f) for f in topology("ring:6").facts(setting.program)])
    time.sleep(600)
"""


def alive(pid: int) -> bool:
    """Whether the process runs; one that has ended and that nobody has asked about does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_a_run_that_never_settles_ends_in_every_process_with_the_rule(tmp_path: Path) -> None:
    program = tmp_path / "endless.ndlog"
    program.write_text("r0: n(@X,Y,0) :- link(@X,Y).\nr1: n(@Y,X,C) :- n(@X,Y,B), C=B+1.\n")
    setting = Setting.load(program, limit=500, processes=2)
    with started(setting) as many, pytest.raises(TidelogError, match="rule `r1`") as caught:
        many.burst([Update(1, f) for f in topology("ring:4").facts(setting.program)])
    assert caught.value.codes == ("TL1030",)
    assert "endless.ndlog:2" in str(caught.value)
