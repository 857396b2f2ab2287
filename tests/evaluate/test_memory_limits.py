"""The limit on memory: where its default comes from, that it is kept, and that a session survives it."""

from __future__ import annotations

import pickle
import random
import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import tidelog
from tidelog import room
from tidelog.errors import TidelogError
from tidelog.evaluate.limits import Limits, default_memory
from tidelog.room import MemoryLimit, resident_bytes
from tidelog.store import Database
from tidelog.store.memory import zeros

GIB, MIB = 2**30, 2**20
CLOSURE = """
.decl e(x: number, y: number) .input e
.decl p(x: number, y: number) .output p
p(x, y) :- e(x, y).
p(x, z) :- p(x, y), e(y, z).
"""


def dense(nodes: int) -> list[tuple[int, int]]:
    rng = random.Random(nodes)
    return [(rng.randrange(nodes), rng.randrange(nodes)) for _ in range(3 * nodes)]


def beyond_now(mebibytes: int) -> int:
    """A limit: the size of this process, without what earlier tests have left, and so much more."""
    for give_back in room.relief:
        give_back()
    return resident_bytes() + mebibytes * MIB


# ---- the default


class Machine:
    """The files of a system that say how much memory it has."""

    def __init__(self, root: Path, total: int = 64 * GIB, available: int | None = None) -> None:
        self.root = root
        shown = total if available is None else available
        self.write("proc/meminfo", f"MemTotal: {total >> 10} kB\nMemAvailable: {shown >> 10} kB\n")

    def write(self, path: str, text: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def group(self, folder: str, most: int | str, used: int = 0, files: int = 0) -> None:
        self.write(f"sys/fs/cgroup/{folder}/memory.max", f"{most}\n")
        self.write(f"sys/fs/cgroup/{folder}/memory.current", f"{used}\n")
        self.write(f"sys/fs/cgroup/{folder}/memory.stat", f"anon {used - files}\ninactive_file {files}\n")

    def limit(self, own: int = 0, share: float = 1.0) -> int | None:
        return default_memory(share, self.root, own)


def test_without_a_container_nine_tenths_of_the_machine_are_the_limit(tmp_path: Path) -> None:
    assert Machine(tmp_path, 10 * GIB).limit() == 9 * GIB


def test_what_others_use_is_not_ours_and_what_we_have_is(tmp_path: Path) -> None:
    machine = Machine(tmp_path, 10 * GIB, available=5 * GIB)
    assert machine.limit(own=2 * GIB) == 2 * GIB + 4 * GIB


def test_on_a_crowded_machine_half_of_what_is_free_may_be_taken(tmp_path: Path) -> None:
    assert Machine(tmp_path, 10 * GIB, available=GIB).limit(own=GIB) == GIB + GIB // 2


def test_the_least_limit_among_all_groups_above_the_process_counts(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.write("proc/self/cgroup", "0::/kubepods/pod7/box\n")
    machine.group("kubepods", 40 * GIB)
    machine.group("kubepods/pod7", 10 * GIB)
    machine.group("kubepods/pod7/box", "max")
    assert machine.limit() == 9 * GIB


def test_inside_of_a_container_its_own_group_is_at_the_root(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.write("proc/self/cgroup", "0::/docker/of/the/host\n")
    machine.group(".", 10 * GIB)
    assert machine.limit() == 9 * GIB


def test_files_in_memory_count_as_free_because_the_system_can_drop_them(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.write("proc/self/cgroup", "0::/\n")
    machine.group(".", 10 * GIB, used=9 * GIB, files=8 * GIB)
    assert machine.limit(own=GIB) == GIB + 8 * GIB


def test_groups_of_version_1_are_known_too(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.write("proc/self/cgroup", "9:cpu:/a\n4:memory:/a/b\n0::/\n")
    machine.write("sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "9223372036854771712\n")
    machine.write("sys/fs/cgroup/memory/a/memory.limit_in_bytes", f"{10 * GIB}\n")
    machine.write("sys/fs/cgroup/memory/a/memory.usage_in_bytes", "0\n")
    assert machine.limit() == 9 * GIB


def test_several_processes_on_a_host_each_have_a_share(tmp_path: Path) -> None:
    assert Machine(tmp_path, 10 * GIB).limit(own=MIB, share=1 / 3) == MIB + 3 * GIB


def test_where_nothing_is_known_there_is_no_limit(tmp_path: Path) -> None:
    assert default_memory(root=tmp_path) is None


def test_this_machine_has_a_default_and_it_is_less_than_all_of_its_memory() -> None:
    limit = Limits().memory()
    assert limit is not None
    assert resident_bytes() < limit
    assert limit < int(Path("/proc/meminfo").read_text().split()[1]) * 1024


def test_the_default_is_that_of_the_process_which_evaluates() -> None:
    """It travels to a worker as "default"."""
    limits = Limits(timeout=5, share=0.5)
    limits.memory()
    sent = pickle.loads(pickle.dumps(limits))
    assert (sent.max_memory, sent.share, sent.timeout) == ("default", 0.5, 5)
    assert sent._memory is None


@pytest.mark.parametrize(
    ("given", "meant"),
    [(None, None), (0, None), ("none", None), ("0", None), ("4G", 4 * GIB), ("1.5m", 3 * MIB // 2), (77, 77)],
)
def test_a_limit_is_given_in_bytes_or_as_text(given: int | str | None, meant: int | None) -> None:
    assert Limits(max_memory=given).memory() == meant


@pytest.mark.parametrize("given", ["lots", "4X", "-3", -3])
def test_what_is_no_amount_of_memory_is_refused(given: int | str) -> None:
    with pytest.raises(TidelogError, match="TL0911"):
        Limits(max_memory=given)


# ---- before memory is taken


def test_a_table_is_refused_before_it_is_made() -> None:
    limit = beyond_now(32)
    with room.limited(limit), pytest.raises(MemoryLimit) as refused:
        zeros(64 * MIB // 8)
    assert refused.value.wanted == 64 * MIB
    assert resident_bytes() < limit


@pytest.mark.parametrize("stateful", [False, True])
@pytest.mark.parametrize("spread", [1, 1_000_003], ids=["close together", "far apart"])
@pytest.mark.parametrize("late", [0, 20], ids=["narrow", "widened"])
def test_a_relation_that_was_refused_memory_is_as_it_was_and_can_go_on(stateful: bool, spread: int, late: int) -> None:
    """Whatever did not fit: rows, states, the table, blocks, or the wider rows of a large number."""
    database = Database()
    relation = database.create("r", 2, stateful=stateful)
    refused, given = 0, 0
    limit = beyond_now(8)
    for step in range(25):
        numbers = np.arange(step * 80_000, (step + 1) * 80_000)
        rows = np.column_stack((numbers * spread % 2**31, numbers % 1000 + (step == late > 0) * 2**40))
        while True:
            try:
                with room.limited(limit):
                    relation.insert(rows)
                break
            except MemoryLimit:
                refused += 1
                known = relation.rows().astype(np.int64)
                assert relation.contains(known).all()
                assert not relation.contains(known + np.array([0, 5000])).any()
                limit = max(limit, resident_bytes()) + 24 * MIB
        given += len(rows)
        assert relation.count == given
    assert refused > 1


# ---- evaluation


@pytest.mark.parametrize("strategy", ["elastic", "update", "batch"])
def test_a_session_at_its_limit_says_so_and_stays_at_the_last_epoch(strategy: str) -> None:
    limits = Limits()
    with tidelog.Session(CLOSURE, strategy=strategy, limits=limits) as session:
        session.bootstrap({"e": [(1, 2)]})
        limits.max_memory = beyond_now(48)
        with pytest.raises(TidelogError, match="TL0903") as problem:
            session.update(insert={"e": dense(5000)})
        assert re.search(r"(of|evaluating) p\b.*\bMiB in use.*\n.*max_memory", str(problem.value))
        assert (session.epoch, set(session["e"]), set(session["p"])) == (1, {(1, 2)}, {(1, 2)})
        limits.max_memory = None
        session.update(insert={"e": [(2, 3)]})
        assert set(session["p"]) == {(1, 2), (2, 3), (1, 3)}
        session.update(delete={"e": [(1, 2)]})
        assert set(session["p"]) == {(2, 3)}


def test_an_update_that_ran_out_of_memory_leaves_relations_that_later_updates_can_use() -> None:
    limits = Limits()
    edges = dense(900)
    with tidelog.Session(CLOSURE, strategy="update", limits=limits) as session:
        session.bootstrap({"e": edges[:1200]})
        for extra in (1, 6, 12, 24):
            limits.max_memory = beyond_now(extra)
            with pytest.raises(TidelogError, match="TL0903"):
                session.update(insert={"e": edges[1200:] + [(a + 1000, b + 1000) for a, b in dense(2000)]})
        limits.max_memory = None
        session.update(insert={"e": edges[1200:]})
        session.update(delete={"e": edges[:300]})
        found = set(session["p"])
    with tidelog.Session(CLOSURE, strategy="batch") as fresh:
        fresh.bootstrap({"e": edges[300:]})
        removed = set(edges[:300])
        fresh.bootstrap({"e": [e for e in edges if e not in removed]})
        assert found == set(fresh["p"])


PEAK = """
import sys, tidelog
from tidelog.errors import TidelogError
from tidelog.evaluate.limits import Limits
sys.path.insert(0, {tests!r})
from test_memory_limits import CLOSURE, dense
with tidelog.Session(CLOSURE, strategy={strategy!r}, limits=Limits(max_memory="400M")) as session:
    try:
        session.bootstrap({{"e": dense(7000)}})
    except TidelogError as problem:
        print(problem.codes[0])
with open("/proc/self/status") as status:
    print([line.split()[1] for line in status if line.startswith("VmHWM")][0])
"""


@pytest.mark.parametrize("strategy", ["elastic", "batch"])
def test_a_process_is_hardly_ever_larger_than_its_limit(strategy: str) -> None:
    script = PEAK.format(tests=str(Path(__file__).parent), strategy=strategy)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    code, peak = done.stdout.split()
    assert code == "TL0903"
    assert int(peak) * 1024 < 400 * MIB + 200 * MIB  # besides, the libraries that are mapped into it


def test_memory_that_the_system_does_not_have_is_a_plain_error() -> None:
    def greedy(x: int) -> int:
        return int(np.zeros(2**52)[x])

    limits = Limits(max_memory=None)
    with pytest.raises(TidelogError, match="TL0910"), limits.epoch():
        greedy(1)


def test_a_session_that_is_older_than_its_timeout_goes_on() -> None:
    with tidelog.Session(CLOSURE, limits=Limits(timeout=0.5)) as session:
        session.bootstrap({"e": [(1, 2)]})
        time.sleep(0.6)
        session.update(insert={"e": dense(30)})
        session.update(delete={"e": [(1, 2)]})
