"""Random programs, networks, bursts and schedules: nodes end with what a centralised evaluation gives.

`TIDELOG_FUZZ` sets how many. A case is left out if a negation needs a value that its node cannot learn (TL1021), or if
its annotated run makes more than MOST_UPDATES updates; few may be.
"""

from __future__ import annotations

import os

import pytest
from net_cases import Case, final_base, random_network, shrink
from net_central import evaluate

from tidelog.errors import TidelogError
from tidelog.net import Derivations, Meter, Update, compile_program, scheduler
from tidelog.net.runtime import InProcess, Network
from tidelog.plan.rewrites import NETWORK
from tidelog.plan.rewrites.rewrite import rewritten

CASES = int(os.environ.get("TIDELOG_FUZZ", "5000"))
PARTS = 10
MOST_UPDATES = 10_000
LEFT_OUT = {"TL1021", "TL1030"}


def settled(case: Case, annotated: bool) -> set[tuple]:
    """What a network of the localised program holds after all bursts, of the relations of the case."""
    program = compile_program(rewritten(case.program, *NETWORK))
    derivations = Derivations(cut=case.seed % 3 == 0) if annotated else None
    transport = InProcess(scheduler(case.schedule, case.seed, 0))
    network = Network(program, transport, derivations, Meter(MOST_UPDATES), case.picking is None, case.cancel)
    for burst in ([Update(1, f) for f in case.facts], *case.bursts):
        assert not network.burst(burst).waiting
    names = {a.name for r in case.rules for a in r.heads} | {"e", "f", "g"}
    return {(f.name, f.args) for f in network.facts() if f.name in names}


def central(case: Case) -> set[tuple]:
    return evaluate(case.program, {(f.name, f.args) for f in final_base(case)})


def compare(case: Case, annotated: bool) -> bool:
    """Fails with a small case if the two differ; False if the case is left out."""
    try:
        if settled(case, annotated) != central(case):
            pytest.fail(str(shrink(case, lambda c: settled(c, annotated) != central(c))))
    except TidelogError as problem:
        if not set(problem.codes) <= LEFT_OUT:
            raise
        return False
    return True


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("annotated", [False, True], ids=["plain", "annotated"])
def test_random_networks_end_as_centralised_evaluation_does(annotated: bool, part: int) -> None:
    seeds = range(part, CASES // 2, PARTS)
    ran = sum(compare(random_network(seed, recursive=annotated), annotated) for seed in seeds)
    assert ran >= 0.97 * len(seeds)
