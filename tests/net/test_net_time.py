"""Programs about time: tables with lifetimes, events, the clock, what replaces what, faults."""

from __future__ import annotations

from pathlib import Path

import pytest
from net_central import evaluate

from tidelog.errors import TidelogError
from tidelog.lang import tree
from tidelog.net import load as load_untimed
from tidelog.net import parse_facts, parse_updates
from tidelog.net.program import is_timed
from tidelog.net.properties import parse_property
from tidelog.net.timed import Crash, Simulation, SimulationFaults, load
from tidelog.net.timed.runs import Scenario, check_runs, watch
from tidelog.net.values import order_key

EXAMPLES = Path(__file__).parents[2] / "examples" / "net"
HEARTBEATS = """
materialize(link, infinity, infinity, keys(1,2)).
materialize(neighbour, 3, infinity, keys(1,2)).
materialize(reach, infinity, infinity, keys(1,2)).
h1: heartbeat(@D,S) :- periodic(@S,_,1), link(@S,D).
h2: neighbour(@D,S) :- heartbeat(@D,S).
r1: reach(@D,S) :- neighbour(@D,S).
"""


def simulate(text: str, updates: dict[float, str], nodes: str = "ab", **options) -> Simulation:
    program = load(text)
    simulation = Simulation(program, nodes, **options)
    for time, burst in updates.items():
        simulation.at(time, parse_updates(burst, program.views))
    return simulation


def at(simulation: Simulation, time: float, *names: str) -> list[str]:
    simulation.finish(time)
    return sorted(str(f) for f in simulation.facts() if f.name in names)


def test_a_fact_is_there_for_its_lifetime_and_longer_if_it_comes_again() -> None:
    text = "materialize(t, 5, infinity, keys(1,2)). materialize(v, infinity, infinity, keys(1,2)). v(@X,Y) :- t(@X,Y)."
    simulation = simulate(text, {1: "+t(@a,1)", 4: "+t(@a,1)", 4.5: "+t(@a,2)"})
    assert at(simulation, 0.9, "t", "v") == []
    assert at(simulation, 8.9, "t", "v") == ["t(a,1)", "t(a,2)", "v(a,1)", "v(a,2)"]
    assert at(simulation, 9.1, "t", "v") == ["t(a,2)", "v(a,2)"]
    assert at(simulation, 9.6, "t", "v") == []


def test_what_comes_last_replaces_the_fact_with_its_key() -> None:
    text = "materialize(t, 9, infinity, keys(1)). materialize(v, infinity, infinity, keys(1,2)). v(@X,Y) :- t(@X,Y)."
    simulation = simulate(text, {1: "+t(@a,7)", 2: "+t(@a,3)", 3: "-t(@a,7)"})
    assert at(simulation, 1.5, "t", "v") == ["t(a,7)", "v(a,7)"]
    assert at(simulation, 3.5, "t", "v") == ["t(a,3)", "v(a,3)"]


def test_of_what_comes_at_the_same_time_the_order_of_values_decides() -> None:
    text = "materialize(t, 9, infinity, keys(1))."
    text += " t(@X,Y) :- e(@X,Y). e(@Y,X) :- s(@X,Y)."
    for burst in ("+s(@a,c), +s(@b,c)", "+s(@b,c), +s(@a,c)"):
        simulation = simulate(text, {1: burst}, latency=1.0, jitter=0.0)
        assert at(simulation, 3, "t") == ["t(c,b)"]


def test_a_table_that_is_full_forgets_what_came_first() -> None:
    simulation = simulate("materialize(t, 9, 2, keys(1,2)). t(@X,Y) :- e(@X,Y).", {1: "+e(@a,1)", 2: "+e(@a,2)"})
    assert at(simulation, 2.5, "t") == ["t(a,1)", "t(a,2)"]
    simulation.at(3, parse_updates("+e(@a,1)", simulation.program.views))
    simulation.at(4, parse_updates("+e(@a,3)", simulation.program.views))
    assert at(simulation, 4.5, "t") == ["t(a,1)", "t(a,3)"]


def test_an_event_is_not_stored_and_fires_with_the_tables_of_its_instant() -> None:
    text = """materialize(t, infinity, infinity, keys(1,2)). materialize(saw, infinity, infinity, keys(1,2)).
    materialize(x, 1, infinity, keys(1)).
    saw(@X,Y) :- e(@X), t(@X,Y)."""
    simulation = simulate(text, {1: "+e(@a)", 2: "+t(@a,1)", 3: "+e(@a)", 4: "+t(@a,2), -t(@a,1)"})
    assert at(simulation, 2.5, "saw", "e") == []
    assert at(simulation, 9, "saw", "t", "e") == ["saw(a,1)", "t(a,2)"]


def test_an_alarm_fires_when_its_body_comes_to_hold() -> None:
    text = """materialize(t, 3, infinity, keys(1,2)). materialize(n, infinity, infinity, keys(1)).
    materialize(rang, infinity, infinity, keys(1,2)).
    alarm(@X,Y) :- t(@X,Y), t(@X,Z), Y < Z.
    rang(@X,Y) :- alarm(@X,Y)."""
    simulation = simulate(text, {1: "+t(@a,1)", 2: "+t(@a,2)"})
    assert at(simulation, 1.5, "rang") == []
    assert at(simulation, 9, "rang", "t") == ["rang(a,1)"]


def test_a_counter_counts_the_ticks() -> None:
    text = """materialize(count, infinity, infinity, keys(1)).
    count(@N,Y) :- periodic(@N,_,2), count(@N,X), Y = X + 1."""
    simulation = simulate(text, {0: "+count(@a,0)"})
    assert at(simulation, 20, "count") == ["count(a,10)"]


def test_an_aggregate_of_an_event_is_over_what_fires_together() -> None:
    text = """materialize(t, infinity, infinity, keys(1,2)). materialize(least, 90, infinity, keys(1,2)).
    least(@X,K,min<Y>) :- ask(@X,K), t(@X,Y), Y > K."""
    simulation = simulate(text, {0: "+t(@a,3), +t(@a,5), +t(@a,8)", 1: "+ask(@a,1)", 2: "+ask(@a,4)"})
    assert at(simulation, 9, "least") == ["least(a,1,3)", "least(a,4,5)"]


def test_a_neighbour_that_is_not_heard_of_is_forgotten_and_found_again() -> None:
    given = {0: "+link(@a,b), +link(@b,a)"}
    simulation = simulate(HEARTBEATS, given, faults=SimulationFaults(crashes=(Crash("b", 5, 15),)))
    assert at(simulation, 4, "reach") == ["reach(a,b)", "reach(b,a)"]
    assert at(simulation, 10, "reach") == []
    assert at(simulation, 20, "reach") == ["reach(a,b)", "reach(b,a)"]


def test_lost_and_doubled_messages_are_counted_and_a_seed_repeats_a_run() -> None:
    def run(seed: int):
        simulation = simulate(
            HEARTBEATS, {0: "+link(@a,b), +link(@b,a)"}, seed=seed, faults=SimulationFaults(lose=0.3, duplicate=0.2)
        )
        return simulation.finish(50)

    assert run(3) == run(3)
    assert run(3).lost > 10
    assert run(3).duplicated > 5
    assert run(3) != run(4)


@pytest.mark.parametrize(
    ("rules", "code"),
    [
        ("p(@X) :- periodic(@X,_,1), e(@X).", "TL1063"),
        ("p(@X) :- t(@X,Y), periodic(@X,_,1), !e(@X).", "TL1063"),
        ("p(@X) :- periodic(@X,_,0).", "TL1062"),
        ("p(@X) :- periodic(@X,_,T), t(@X,T).", "TL1062"),
        ("periodic(@X,1,2) :- t(@X,_).", "TL1062"),
        ("p(@X) :- periodic(@X,_,1), t(@X,Y), t(@Y,X).", "TL1064"),
        ("t(@X,Y) :- u(@X,Y).", "TL1065"),
        ("p(@X,min<Y>) :- t(@X,Y).", "TL1065"),
        ("u(@X,Y) :- t(@X,Y). u(@X,Y) :- e(@X,Y).", "TL1066"),
    ],
)
def test_what_has_no_meaning_in_time_is_refused(rules: str, code: str) -> None:
    declared = "materialize(t, 5, infinity, keys(1,2)). materialize(u, infinity, infinity, keys(1,2)). "
    with pytest.raises(TidelogError, match=code):
        load(declared + rules)


def test_a_program_about_time_is_not_loaded_as_one_that_is_not() -> None:
    with pytest.raises(TidelogError, match=r"TL1012(.|\n)*timed.load"):
        load_untimed(HEARTBEATS)


def scenario(stem: str, updates: bool = True) -> tuple:
    from tidelog.net.runtime.inputs import load_timed_bursts

    program = load((EXAMPLES / f"{stem}.ndlog").read_text())
    facts = parse_facts((EXAMPLES / f"{stem}.facts").read_text(), program.views)
    bursts = load_timed_bursts(EXAMPLES / f"{stem}.updates", program.views) if updates else []
    return program, Scenario((), tuple(facts), tuple(bursts))


TIMED = sorted(p.stem for p in EXAMPLES.glob("*.ndlog") if "periodic" in p.read_text())


def least_of_each_key(program):
    """Keeps, of the facts of a view with one key, the least."""
    keys = {
        a.head: [i for i, op in enumerate(a.operators) if op is None]
        for a in program.views.aggregations.values() if a.chooses
    }  # fmt: skip

    def choose(facts: set) -> set:
        chosen: dict = {}
        for name, args in sorted(facts, key=lambda f: (f[0], tuple(map(order_key, f[1])))):
            chosen.setdefault((name, tuple(args[i] for i in keys.get(name, range(len(args))))), (name, args))
        return set(chosen.values())

    return choose


@pytest.mark.parametrize("stem", TIMED)
def test_views_are_at_every_moment_what_centralised_evaluation_of_the_tables_gives(stem: str) -> None:
    program, given = scenario(stem)
    assert is_timed(program.tree)
    views = program.views.derived
    rules = [r for r in program.views.tree.rules if r.body is not None]
    choose = least_of_each_key(program)
    for seed in range(3):
        simulation = Simulation(program, seed=seed, faults=SimulationFaults(lose=0.1, duplicate=0.05, delay=1.0))
        watching = watch(simulation, given, 0, ())
        assert watching is None
        for step, _ in enumerate(simulation.run(60)):
            if step % 40 == 0:
                held = {(f.name, f.args) for f in simulation.facts()}
                tables = {f for f in held if f[0] not in views}
                assert held == evaluate(tree.Program(tuple(rules), "ndlog"), tables, choose), (
                    f"seed {seed}, step {step}"
                )


def holds(stem: str, until: float, text: str, runs: int, **options):
    program, given = scenario(stem)
    asked = [parse_property("finally", t, program.views.arity) for t in text.split(";")]
    return check_runs(program, given, until, asked, runs, **options)


def test_a_chord_ring_forms_although_messages_are_lost_and_a_node_leaves() -> None:
    ring = [3, 11, 24, 39, 52, 60]
    whole = ", ".join(f"bestSucc(@n{a},n{b},_)" for a, b in zip(ring, ring[1:] + ring[:1], strict=True))
    assert holds("chord_ring", 90, whole, 3, allowed=(5, 5, 0, False)).broken is None
    program, given = scenario("chord_ring")
    simulation = Simulation(program, seed=7, faults=SimulationFaults(crashes=(Crash("n24", 80, 1000),)))
    left = [n for n in ring if n != 24]
    healed = ", ".join(f"bestSucc(@n{a},n{b},_)" for a, b in zip(left, left[1:] + left[:1], strict=True))
    assert watch(simulation, given, 150, [parse_property("finally", healed, program.views.arity)]) is None
    answers = sorted(str(f) for f in simulation.facts() if f.name == "answer")
    assert answers == [
        "answer(n3,12,q5,n39)", "answer(n3,20,q3,n24)", "answer(n3,20,q4,n39)", "answer(n3,5,q2,n11)",
        "answer(n3,50,q1,n52)",
    ]  # fmt: skip


def test_link_state_computes_the_cheapest_ways_whatever_five_messages_are_lost() -> None:
    after = "best(@a,b,6), best(@a,c,5), best(@a,d,7), best(@b,a,6), best(@d,a,7), best(@d,b,3)"
    assert holds("link_state", 60, after, 5, allowed=(5, 2, 0, False)).broken is None


def test_soft_distance_vectors_converge_under_loss() -> None:
    after = "best(@a,d,3), best(@d,a,3), best(@a,c,2), best(@b,d,2), nextHop(@a,d,b)"
    program, given = scenario("soft_distance_vector")
    asked = [parse_property("finally", after, program.views.arity)]
    for seed in range(5):
        simulation = Simulation(program, seed=seed, faults=SimulationFaults(lose=0.2))
        assert watch(simulation, given, 70, asked) is None


def test_a_multicast_tree_mends_itself() -> None:
    assert holds("multicast_tree", 75, "got(@e,again), got(@f,again), got(@e,hello); child(@b,c)", 5).broken is None


def test_properties_are_seen_when_they_break() -> None:
    program = load(HEARTBEATS)
    given = Scenario((), tuple(parse_facts("link(@a,b). link(@b,a).", program.views)))
    asked = [parse_property("always", "!reach(@a,b)", program.views.arity)]
    found = check_runs(program, given, 10, asked, 5)
    assert found.breaking == 5
    assert found.broken is not None
    assert 0 < found.broken.time < 1.1
    assert "5 of 5 runs" in str(found)
    eventually = [parse_property("eventually", "reach(@a,b), reach(@b,a)", program.views.arity)]
    assert str(check_runs(program, given, 10, eventually, 5)) == (
        "in all of 5 runs: eventually reach(@a,b), reach(@b,a)"
    )
    never = [parse_property("eventually", "reach(@a,a)", program.views.arity)]
    assert (
        str(check_runs(program, given, 10, never, 2).broken)
        == "broken: eventually reach(@a,a) has not held until 10.00"
    )
