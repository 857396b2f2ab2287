"""Random programs, networks, bursts and schedules end in the state of a centralised evaluation.

`TIDELOG_FUZZ` sets how many. Derivations of a recursive program can be exponentially many; a case whose annotated run
makes more than MOST_UPDATES updates is left out, and few may be.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from random import Random

import pytest
from net_cases import Case, final_base, random_case, random_network, shrink
from net_central import evaluate

from tidelog.errors import TidelogError
from tidelog.net import Derivations, Fact, Meter, Update, compile_program, materialise, psn, scheduler, sn
from tidelog.net.exhibits import EXHIBITS
from tidelog.net.exhibits.dred import Dred
from tidelog.plan.rewrites.localise import is_local, localise
from tidelog.plan.rewrites.rewrite import rewritten

CASES = int(os.environ.get("TIDELOG_FUZZ", "5000"))
PARTS = 10
EXHIBIT_TRIES = 400
MOST_UPDATES = 100_000


def central(case: Case) -> set[tuple]:
    return evaluate(case.program, {(f.name, f.args) for f in final_base(case)})


def maintained(case: Case, derivations: Derivations | None = None) -> set[tuple]:
    """The state after all bursts, each maintained by PSN under the case's schedule."""
    configuration = materialise(compile_program(case.program), case.facts, derivations, Meter(MOST_UPDATES))
    for number, burst in enumerate(case.bursts):
        run = psn(configuration, burst, scheduler(case.schedule, case.seed + number, 0), case.picking, case.cancel)
        assert not run.waiting
    assert configuration.finished
    return {(f.name, f.args) for f in configuration.facts()}


def compare(case: Case, run) -> None:
    if run(case) != central(case):
        small = shrink(case, lambda c: run(c) != central(c))
        pytest.fail(f"{small}\ngives {sorted(run(small))}\nnot   {sorted(central(small))}")


@pytest.mark.parametrize("part", range(PARTS))
def test_random_nonrecursive_programs_end_as_centralised_evaluation_does(part: int) -> None:
    for seed in range(part, CASES // 2, PARTS):
        compare(random_case(seed, recursive=False), maintained)


@pytest.mark.parametrize("part", range(PARTS))
def test_random_recursive_programs_end_as_centralised_evaluation_does(part: int) -> None:
    seeds, too_many = range(part, CASES // 2, PARTS), 0
    for seed in seeds:
        case = random_case(seed, recursive=True, constants=2)
        try:
            compare(case, lambda c, cut=(seed // PARTS) % 2 == 1: maintained(c, Derivations(cut=cut)))
        except TidelogError as problem:
            if problem.codes != ("TL1030",):
                raise
            too_many += 1
    assert too_many <= 1 + len(seeds) // 1000


def test_random_multiplicities_are_those_of_the_synchronous_algorithm() -> None:
    """Not only the set: every copy, with its annotation, is the one that SN has from scratch (Definition 1)."""
    seeds, too_many = range(CASES // 10), 0
    for seed in seeds:
        recursive = seed % 2 == 1
        case = random_case(seed, recursive, constants=2 if recursive else 3)
        derivations = Derivations() if recursive else None
        program = compile_program(case.program)
        try:
            configuration = materialise(program, case.facts, derivations, Meter(MOST_UPDATES))
            for number, burst in enumerate(case.bursts):
                psn(configuration, burst, scheduler(case.schedule, seed + number, 0), case.picking, case.cancel)
            scratch = materialise(program, final_base(case).elements(), derivations, Meter(MOST_UPDATES))
        except TidelogError as problem:
            if problem.codes != ("TL1030",):
                raise
            too_many += 1
            continue
        assert configuration.view() == scratch.view(), str(case)
    assert too_many <= 1 + len(seeds) // 1000


def test_random_programs_give_the_same_facts_when_localised() -> None:
    tried = 0
    for seed in range(CASES // 5):
        case = random_case(seed, recursive=False)
        try:
            local = rewritten(case.program, localise)
        except TidelogError:
            continue
        assert all(map(is_local, local.rules))
        tried += local != case.program
        names = {a.name for r in case.rules for a in r.heads} | {"e", "f", "g"}
        given = {(f.name, f.args) for f in final_base(case)}
        there = {f for f in evaluate(local, given) if f[0] in names}
        assert there == evaluate(case.program, given), str(case)
        configuration = materialise(compile_program(local), case.facts)
        for number, burst in enumerate(case.bursts):
            psn(configuration, burst, scheduler(case.schedule, seed + number, 0))
        assert {(f.name, f.args) for f in configuration.facts() if f.name in names} == there, str(case)
    assert tried > CASES // 40


def test_random_programs_end_alike_under_dred_whose_fault_is_only_what_it_sends() -> None:
    for seed in range(CASES // 10):
        case = random_case(seed, seed % 2 == 1, negation=False, aggregates=False, constants=2)
        facts = list(dict.fromkeys(case.facts))
        dred = Dred(compile_program(case.program), facts)
        base = set(facts)
        for burst in case.bursts:
            dred.update(burst)
            for update in burst:
                (base.add if update.sign > 0 else base.discard)(update.fact)
        expected = evaluate(case.program, {(f.name, f.args) for f in base})
        assert {(f.name, f.args) for f in dred.facts} == expected, str(case)


def walk(system, rng: Random):
    """A random run of a transition system; its outcome."""
    state = system.initial()
    while moves := [then for _, then in system.moves(state)]:
        state = rng.choice(moves)
    return system.outcome(state)


def on_constants(seed: int, recursive: bool) -> Case:
    return random_case(seed, recursive, negation=False, aggregates=False, constants=2)


def on_networks(seed: int, recursive: bool) -> Case:
    return random_network(seed, recursive, negation=False, aggregates=False)


@pytest.mark.parametrize("draw", [on_constants, on_networks])
@pytest.mark.parametrize(("name", "recursive"), [("original", False), ("counting", True), ("base-facts", False)])
def test_the_same_random_test_finds_the_fault_of_each_exhibit(
    name: str, recursive: bool, draw: Callable[[int, bool], Case]
) -> None:
    for seed in range(EXHIBIT_TRIES):
        case = draw(seed, recursive)
        program, facts = compile_program(case.program), list(dict.fromkeys(case.facts))
        burst: list[Update] = []
        present = Counter(facts)
        for update in case.bursts[0]:  # sets of base facts: a fact is inserted only if absent, deleted only if present
            if present[update.fact] == (update.sign < 0):
                present[update.fact] += update.sign
                burst.append(update)
        start = materialise(program, facts, Derivations())
        system = EXHIBITS[name](program, start.counts(), burst, Meter(20_000))
        start.insert(burst)
        sn(start)
        try:
            outcome = walk(system, Random(seed))
        except TidelogError:
            return  # it diverges: a fault as well
        reached = {f[0] if isinstance(f[0], Fact) else f for f in outcome}  # type: ignore[union-attr]
        if reached != start.facts():
            return
    pytest.fail(f"{EXHIBIT_TRIES} tries found nothing wrong with {name}")
