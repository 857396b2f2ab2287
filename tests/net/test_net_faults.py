"""Properties of all runs of a small network, with messages lost and doubled and nodes that crash."""

from __future__ import annotations

import random

import pytest
from net_central import evaluate

from tidelog.errors import TidelogError
from tidelog.net import check, load, materialise, parse_facts, parse_updates
from tidelog.net.faulty import Allowed, FaultyNetwork
from tidelog.net.properties import parse_property
from tidelog.net.property_checker import check_properties
from tidelog.net.runtime.counterexample import records

HOPS = "hop(@X,Y) :- link(@X,Z), link(@Z,Y). violation(@X) :- hop(@X,X)."


def asked(text: str, *properties: str):
    program = load(text, local=True)
    assert program.original is not None
    return program, [parse_property(*p.split(" ", 1), program.original.arity) for p in properties]


def verdict(text: str, facts: str, bursts: list[str], *properties: str, **allowed):
    program, wanted = asked(text, *properties)
    return check_properties(
        program, parse_facts(facts, program), [parse_updates(b, program) for b in bursts], wanted, Allowed(**allowed)
    )


def test_without_faults_every_run_ends_in_the_facts_of_evaluation_from_scratch() -> None:
    found = verdict(HOPS, "link(@a,b). link(@b,c).", ["-link(@a,b), +link(@a,c)", "+link(@c,a)"])
    assert found.holds
    assert str(found).startswith("in all runs: finally the facts of evaluation from scratch (")


def test_a_property_of_every_state_is_broken_by_the_shortest_run() -> None:
    found = verdict(HOPS, "link(@a,b). link(@b,c).", ["-link(@a,b), +link(@b,a)"], "always !violation(@X)")
    assert found.broken == "always !violation(@X)"
    assert [str(m) for m in found.moves] == [
        "the next burst", "+link(b,a)", "+aux(a,b,a) from b to a", "+hop(a,a)", "+violation(a)"
    ]  # fmt: skip
    assert verdict(HOPS, "link(@a,b). link(@b,c).", ["-link(@a,b)"], "always !violation(@X)").holds


def test_eventually_is_about_some_state_and_finally_about_the_last() -> None:
    facts, burst = "link(@a,b). link(@b,c).", ["-link(@a,b)"]
    assert verdict(HOPS, facts, burst, "eventually hop(@a,c)").holds
    assert verdict(HOPS, facts, burst, "finally !hop(@a,_)").holds
    assert verdict(HOPS, facts, burst, "finally hop(@a,c)").broken == "finally hop(@a,c)"
    assert verdict(HOPS, facts, burst, "eventually hop(@b,_)").broken == "eventually hop(@b,_)"
    assert verdict(HOPS, facts, burst, "eventually link(@X,Y), Y != c, X != a").broken is not None


def test_a_lost_insertion_leaves_a_fact_out() -> None:
    found = verdict(HOPS, "link(@a,b).", ["+link(@b,c)"], lose=1)
    assert found.broken == "finally the facts of evaluation from scratch"
    assert "+aux(a,b,c) from b to a is lost" in [str(m) for m in found.moves]
    assert len(found.moves) == 4  # the burst, +link(b,c), what is lost, and c hears who listens
    assert found.expected == "{hop(a,c), link(a,b), link(b,c)}"


def test_a_doubled_insertion_outlives_its_cause() -> None:
    found = verdict("p(@Y) :- e(@X,Y).", "", ["+e(@a,b)", "-e(@a,b)"], duplicate=1)
    assert not found.holds
    assert [str(m) for m in found.moves][-1] == "-p(b) from a to b"
    assert "+p(b) from a to b is duplicated" in [str(m) for m in found.moves]


def test_a_crash_without_the_store_loses_what_others_said() -> None:
    text = "p(@Y) :- e(@X,Y)."
    found = verdict(text, "e(@a,b).", ["+e(@c,c)"], crash=1)
    assert [str(m) for m in found.moves if m.kind in ("crash", "return")] == ["b crashes", "b is back"]
    assert verdict(text, "e(@a,b).", ["+e(@c,c)"], crash=1, keeps=True).holds


def test_what_is_sent_to_a_node_that_is_down_is_lost() -> None:
    found = verdict("p(@Y) :- e(@X,Y).", "e(@b,a).", ["+e(@a,b)"], crash=1, keeps=True)
    assert not found.holds
    assert [m.kind for m in found.moves] == ["burst", "receive", "crash", "lose", "return"]


def test_the_counterexample_replays_on_the_page_from_what_nodes_held_to_what_broke() -> None:
    found = verdict("p(@Y) :- e(@X,Y).", "e(@b,a).", ["+e(@a,b)"], lose=1)
    made = records(found, program="…")
    assert [r["kind"] for r in made] == ["network", "step", "step", "burst", "step", "fault", "fault"]
    assert made[1]["picked"] == ["+p(a)"]
    assert made[4]["sent"] == [[2, "a", "b", "+p(b)"]]
    assert made[5]["lost"] == [2]
    assert made[6]["what"] == "broken: finally the facts of evaluation from scratch"


def test_random_programs_end_alike_in_both_checkers_and_in_centralised_evaluation() -> None:
    programs = [HOPS, "p(@Y,X) :- e(@X,Y). q(@X) :- p(@X,Y), !r(@X,Y). r(@X,Y) :- e(@X,Y), e(@X,Y)."]
    for seed in range(12):
        rng = random.Random(seed)
        text = programs[seed % 2]
        name = "link" if seed % 2 == 0 else "e"
        pairs = [f"{name}(@{x},{y})" for x in "abc" for y in "abc"]
        facts = rng.sample(pairs, 3)
        burst = [f"-{f}" for f in rng.sample(facts, 1)] + [f"+{f}" for f in rng.sample(pairs, 1) if f not in facts]
        program = load(text, local=True)
        given, updates = (
            parse_facts(" ".join(f + "." for f in facts), program),
            parse_updates(", ".join(burst), program),
        )
        assert check_properties(program, given, [updates]).holds == check(program, given, updates).holds is True
        system = FaultyNetwork(materialise(program, given), [updates], Allowed(), 10**6)
        state = system.first
        while due := system.due(state):
            state = rng.choice(sorted(due, key=lambda d: str(d[0])))[1]
        base = {(f.name, f.args) for f in given} - {(u.fact.name, u.fact.args) for u in updates if u.sign < 0}
        base |= {(u.fact.name, u.fact.args) for u in updates if u.sign > 0}
        assert {(f.name, f.args) for f in system.facts(state)} == evaluate(program.tree, base), f"seed {seed}"


def test_properties_name_relations_of_the_program() -> None:
    program, _ = asked(HOPS)
    assert program.original is not None
    for text, code in (
        ("hup(@a,b)", "TL1040"),
        ("hop(@a)", "TL1001"),
        ("hop(@a,X), f_no(X) = 1", "TL1004"),
        ("X < 3", "TL1003"),
    ):
        with pytest.raises(TidelogError, match=code):
            parse_property("always", text, program.original.arity)
