"""Random programs with recursive min and max, hardly two of them the same, by every algorithm that may be asked for.

There are a tenth as many as `TIDELOG_FUZZ` says; `TIDELOG_FUZZ_FROM` is the first seed.
"""

from __future__ import annotations

import os
from collections import Counter

import pytest
from net_cases import Case, final_base, shrink
from net_wide import perfect, random_wide

from tidelog.errors import TidelogError
from tidelog.lang.ndlog_printer import print_program
from tidelog.net import Meter, Update, choose, compile_program, scheduler, scratch
from tidelog.net.algorithms import START_OVER
from tidelog.net.program import NetProgram, load_local
from tidelog.net.runtime import InProcess, Network

CASES, FIRST = (int(os.environ.get(name, n)) for name, n in (("TIDELOG_FUZZ", "5000"), ("TIDELOG_FUZZ_FROM", "0")))
PARTS = 10
MOST_UPDATES = {"auto": 50_000, "supported": 50_000, "psn": 2_000, "annotated": 2_000, "cut": 2_000}
REFUSED = {"auto": set(), "supported": set(), "psn": {"TL1047", "TL1048", "TL1030"}}
"""Counting may be refused, and need not end; so may and need the algorithms that keep all derivations."""


def settled(case: Case, algorithm: str, program: NetProgram | None = None) -> set[tuple]:
    program = program or load_local(print_program(case.program))
    known = [*case.facts, *(u.fact for burst in case.bursts for u in burst)]
    running, derivations = choose(algorithm, program, known).start(program)
    network = Network(
        running, InProcess(scheduler(case.schedule, case.seed, 0)), derivations, Meter(MOST_UPDATES[algorithm]),
        case.picking is None, case.cancel, start_over=START_OVER if case.seed % 4 == 0 else None,
    )  # fmt: skip
    for burst in ([Update(1, f) for f in case.facts], *case.bursts):
        assert not network.burst(burst).waiting
    return {(f.name, f.args) for f in network.facts() if f.name in (program.original or program).arity}


def expected(case: Case) -> set[tuple]:
    return perfect(case.program, {(f.name, f.args) for f in final_base(case)})


def from_scratch(case: Case) -> set[tuple]:
    return {(f.name, f.args) for f in scratch.evaluate(compile_program(case.program), final_base(case))}


def same(case: Case, found: set[tuple], wanted: set[tuple]) -> bool:
    """Facts of base relations that the program does not mention are nobody's."""
    arity = {n for n, _ in found} | {a.name for r in case.rules for a in r.walk() if hasattr(a, "name")}
    return found == {f for f in wanted if f[0] in arity}


def compare(case: Case, counts: Counter[str]) -> None:
    wanted = expected(case)
    program = load_local(print_program(case.program))
    others = ("supported", "psn", "annotated", "cut")
    for algorithm in ("auto", others[case.seed % len(others)]):
        try:
            found = settled(case, algorithm, program)
        except TidelogError as problem:
            if not set(problem.codes) <= REFUSED.get(algorithm, REFUSED["psn"]):
                raise AssertionError(f"{case}\n{algorithm}: {problem}") from problem
            counts[f"{algorithm} {problem.codes[0]}"] += 1
            continue
        counts[algorithm] += 1
        if not same(case, found, wanted):
            small = shrink(case, lambda c, a=algorithm: not same(c, settled(c, a), expected(c)))
            pytest.fail(
                f"{small}\n{algorithm} gives {sorted(settled(small, algorithm))}\nnot {sorted(expected(small))}"
            )
    assert same(case, from_scratch(case), wanted), f"{case}\nfrom scratch"
    counts["programs"] += 1


@pytest.mark.parametrize("part", range(PARTS))
def test_random_programs_end_as_settling_the_best_values_first_does(part: int) -> None:
    counts: Counter[str] = Counter()
    for seed in range(FIRST + part, FIRST + CASES // 10, PARTS):
        compare(random_wide(seed), counts)
    assert counts["auto"] == counts["programs"]


def test_the_programs_differ() -> None:
    texts = {print_program(random_wide(seed).program) for seed in range(200)}
    assert len(texts) > 190
