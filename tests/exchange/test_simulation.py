"""The simulation of many workers: real evaluation, and a model's time."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2]))
from benchmarks.distributed.extrapolate import power, rows
from benchmarks.distributed.growing_data import WORKLOADS
from benchmarks.distributed.network_model import Costs
from benchmarks.distributed.simulate import run

import tidelog


@pytest.mark.parametrize("name", ["closure", "lubm"])
@pytest.mark.parametrize("partition", ["hash", "graph"])
def test_simulated_workers_derive_what_one_process_derives(name: str, partition: str) -> None:
    workload = WORKLOADS[name]
    found = run(name, workload, 4, partition, Costs(), "ring")
    facts = workload.facts(4, 1)
    with tidelog.Session(workload.program, strategy="batch") as one:
        one.bootstrap({relation: [tuple(row) for row in facts_of.tolist()] for relation, facts_of in facts.items()})
        total = sum(one[relation].to_arrow().num_rows for relation in one.checked.relations)
    assert found.facts + found.derived == total
    assert found.messages > 0
    assert 0 < found.busy <= found.seconds


def test_a_simulation_repeats_itself() -> None:
    one, other = (run("closure", WORKLOADS["closure"], 3, "hash", Costs(), "tree") for _ in range(2))
    assert (one.messages, one.megabytes, one.seconds) == (other.messages, other.megabytes, other.seconds)


def test_a_power_is_found_and_carried_on() -> None:
    runs = [
        {"workload": "w", "partition": "hash", "workers": n, "messages": 3 * n**2, "seconds": 0.01 * n}
        for n in (8, 16, 32, 64, 128)
    ]
    assert power(runs, "messages") == pytest.approx((3.0, 2.0))
    lines = rows(runs)
    assert lines[0] == "| w | hash | 128 | 49,152 | 1,280 | 49,152 | 1,280 | 2.0 |"
    assert lines[-1].startswith("| w | hash | 1,024 | 3,145,728 | 10,240 |")
