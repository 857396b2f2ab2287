"""The checker: what it reports, that its reduction loses nothing, and that it judges aggregates and negation."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from net_cases import random_case

from tidelog.errors import TidelogError
from tidelog.net import (
    Derivations,
    Meter,
    check,
    check_bursts,
    compile_program,
    load,
    materialise,
    parse_facts,
    parse_updates,
)
from tidelog.net.checker import _Judge
from tidelog.net.dependence import dependence
from tidelog.net.ledger import Ledger
from tidelog.net.program import load_local
from tidelog.net.systems import CommandPsn, GroundPsn

CORPUS = Path(__file__).parents[1] / "corpus" / "ndlog"


def judge(name: str, facts: str, updates: str, algorithm: str = "psn", local: bool = True, **options):
    program = load((CORPUS / f"{name}.ndlog").read_text(), name, local)
    return check(program, parse_facts(facts, program), parse_updates(updates, program), algorithm, **options)


def test_a_verdict_says_how_many_runs_there_are() -> None:
    verdict = judge("four_nodes", "", "+r@2, -q@3, -u@4", reduce=False)
    assert str(verdict) == (
        "all 140 runs reach the state of evaluation from scratch, {r(2)} (32 configurations, 63 transitions)"
    )


def test_a_verdict_shows_a_shortest_wrong_run_step_by_step() -> None:
    verdict = judge("four_nodes", "", "+r@2, -q@3, -u@4", "original")
    assert str(verdict).splitlines() == [
        "a run of original does not reach the state of evaluation from scratch (50 configurations, 78 transitions)",
        "     {r(2), s(2), t(2)}",
        "  1. +r(2)  ⟶  {p(1), r(2), s(2), t(2)}",
        "  2. +p(1)  ⟶  {p(1), r(2), s(2), t(2)}",
        "  3. -q(3)  ⟶  {p(1), r(2), t(2)}",
        "  4. -u(4)  ⟶  {p(1), r(2)}",
        "  5. -s(2)  ⟶  {p(1), r(2)}",
        "  6. -t(2)  ⟶  {p(1), r(2)}",
        "evaluation from scratch:  {r(2)}",
    ]


def test_picking_several_updates_at_once_explores_every_choice() -> None:
    one, two, any_number = (judge("four_nodes", "", "+r@2, -q@3, -u@4", picking=n, reduce=False) for n in (1, 2, None))
    assert one.holds
    assert two.holds
    assert any_number.holds
    assert one.runs < two.runs < any_number.runs


@pytest.mark.parametrize(
    ("name", "facts", "updates", "algorithm"),
    [
        ("best_path", "link(@a,b,1). link(@b,c,1). link(@a,c,5).", "-link(@a,b,1)", "psn"),
        ("best_path", "link(@a,b,1). link(@b,a,1). link(@b,c,1). link(@a,c,5).", "-link(@b,c,1)", "psn"),
        ("distance_vector", "link(@a,b). link(@b,a). link(@b,c).", "-link(@b,c)", "psn"),
        ("aggregates", "link(@a,b,1). link(@a,c,2).", "+link(@a,d,0), -link(@a,b,1)", "psn"),
        ("negation", "link(@a,b). link(@b,c). node(@a). peer(@a,c).", "-link(@b,c), +link(@a,c)", "psn"),
        ("negation", "link(@a,b). link(@b,a). node(@a). peer(@a,a).", "-link(@b,a), +back(@a,b)", "annotated"),
        ("reachability", "", "-link(@b,c)", "annotated"),
        ("leader", "link(@a,b). id(@a,7). id(@b,3).", "-id(@a,7), +id(@b,9)", "annotated"),
    ],
)  # fmt: skip
def test_examples_hold_under_every_interleaving(name: str, facts: str, updates: str, algorithm: str) -> None:
    assert judge(name, facts, updates, algorithm).holds


@pytest.mark.parametrize("recursive", [False, True])
def test_random_programs_hold_under_every_interleaving_with_negation_and_aggregates(recursive: bool) -> None:
    checked = 0
    for seed in range(150):
        case = random_case(seed, recursive, constants=2)
        program = compile_program(case.program)
        try:
            verdict = check(program, case.facts, case.bursts[0], "annotated" if recursive else "psn", limit=1000)
        except TidelogError as problem:
            if problem.codes != ("TL1045",):
                raise
            continue
        checked += 1
        assert verdict.holds, f"{case}\n{verdict}"
    assert checked > 75


def outcomes(system, reduce: bool, most: int) -> set | None:
    """Every final state; None if there are more than `most` configurations."""
    first = system.initial()
    seen, pending, final = {first}, [first], set()
    while pending:
        state = pending.pop()
        moves = list(system.moves(state, reduce))
        if not moves:
            final.add(system.outcome(state))
        for _, then in moves:
            if then not in seen:
                if len(seen) > most:
                    return None
                seen.add(then)
                pending.append(then)
    return final


def start_of(seed: int, recursive: bool):
    case = random_case(seed, recursive, constants=2)
    start = materialise(compile_program(case.program), case.facts, Derivations() if recursive else None, Meter(100_000))
    start.insert(case.bursts[0])
    return case, start


@pytest.mark.parametrize("recursive", [False, True])
def test_the_commands_and_the_fast_system_reach_the_same_states(recursive: bool) -> None:
    compared = 0
    for seed in range(60):
        case, start = start_of(seed, recursive)
        fast = outcomes(GroundPsn(start), False, 150)
        if fast is None:
            continue
        compared += 1
        assert fast == outcomes(GroundPsn(start), True, 150), str(case)
        assert fast == outcomes(CommandPsn(start, 1), False, 150), str(case)
        assert len(fast) == 1, str(case)
    assert compared > 20


@pytest.mark.parametrize("recursive", [False, True])
def test_an_update_that_the_reduction_takes_alone_commutes_exactly_with_every_other(recursive: bool) -> None:
    """The diamond on which the reduction rests, in random configurations of random programs."""
    diamonds = 0
    for seed in range(300):
        case, start = start_of(seed, recursive)
        known = dependence(start.program, [*start.K.facts(), *(u.fact for u in start.U)])
        if known is None:
            continue
        rng, here = Random(seed), start
        for _ in range(8):
            ready = list(here.pickable())
            for u in ready:
                others = [known.key(w.fact, w.sign) for w in here.U if w != u]
                if not known.alone(known.key(u.fact, u.sign), others):
                    continue
                for w in ready:
                    if w != u:
                        one, other = here.copy(), here.copy()
                        one.iteration(u), one.iteration(w)
                        other.iteration(w), other.iteration(u)
                        assert one.view() == other.view(), f"{case}\n{u} {w}"
                        assert one.U == other.U, f"{case}\n{u} {w}"
                        diamonds += 1
            if not ready:
                break
            here.iteration(rng.choice(ready))
    assert diamonds > 500


def test_a_program_that_never_settles_is_reported() -> None:
    program = load("p@1 :- a@1. p@1 :- p@1.")
    with pytest.raises(TidelogError, match="TL1030"):
        check(program, (), parse_updates("+a@1", program), "psn", most_updates=1000)


def test_unknown_algorithms_are_refused() -> None:
    with pytest.raises(TidelogError, match="TL1044"):
        check(load("p :- q."), (), (), "magic")


def test_the_limit_is_an_error_that_says_what_to_do() -> None:
    with pytest.raises(TidelogError, match="TL1045"):
        judge("reachability", "", "-link(@b,c), +link(@a,c)", "annotated", limit=50, reduce=False)


def test_more_than_255_copies_are_counted_and_shown() -> None:
    program = load("p(@X) :- a(@X), b(@X).")
    facts = [f for f in parse_facts("a(@1). b(@1).", program) for _ in range(20)]
    verdict = check(program, facts, parse_updates("+a(@1), -b(@1)", program))
    assert verdict.holds
    assert verdict.expected == "{a(1) × 21, b(1) × 19, p(1) × 399}"


def test_a_deletion_that_waits_for_ever_is_a_wrong_outcome() -> None:
    program = load("p(@X) :- a(@X).")
    start = materialise(program)
    start.insert(parse_updates("-a(@1)", program))
    for system in (GroundPsn(start), CommandPsn(start, 1)):
        judge = _Judge(program, 1000)
        judge.expect(materialise(program), Ledger())
        assert list(system.moves(system.initial(), False)) == []
        assert judge.wrong(system, system.initial()) == ("SN", "{}")
        assert [str(u) for u, _ in system.waiting(system.initial())] == ["-a(1)"]


def test_the_checker_runs_what_run_would_run() -> None:
    """With `auto` the algorithm is that of a run, with its rewrites; a cut run is one that a user may ask for."""
    program = load_local("r1: reach(@S,D) :- link(@S,D). r2: reach(@S,D) :- link(@S,Z), reach(@Z,D).")
    facts, bursts = parse_facts("link(@a,b). link(@b,a).", program), ["-link(@b,a)", "+link(@b,a)"]
    updates = [parse_updates(b, program) for b in bursts]
    verdicts = {a: check_bursts(program, facts, updates, a) for a in ("auto", "supported", "cut", "annotated")}
    assert all(v.holds and v.bursts == 2 for v in verdicts.values())
    assert {a: v.algorithm for a, v in verdicts.items()} == {
        "auto": "supported", "supported": "supported", "cut": "cut", "annotated": "annotated"
    }  # fmt: skip


def test_what_sn_makes_is_bounded_as_well() -> None:
    program = load("p@1 :- a@1. p@1 :- p@1.")
    with pytest.raises(TidelogError, match="TL1030"):
        check(program, parse_facts("a@1.", program), parse_updates("-a@1", program), "psn", most_updates=100)
