"""Nodes, transport and network: what a network ends with is what centralised evaluation gives."""

from __future__ import annotations

from random import Random

import pytest
from net_cases import SCHEDULES
from net_central import evaluate

from tidelog.errors import TidelogError
from tidelog.net import Derivations, Fact, Meter, Update, load, materialise, scheduler
from tidelog.net.delta import DeltaRules
from tidelog.net.program import load_local
from tidelog.net.runtime import InFlight, InProcess, Network, Node
from tidelog.net.runtime.dictionary import Receiver, Sender
from tidelog.net.runtime.inputs import split_bursts
from tidelog.net.runtime.topologies import topology
from tidelog.wire.codec import MalformedMessage, dumps, loads

HOP = "hop(@X,Y) :- link(@X,Z), link(@Z,Y)."
PATH_VECTOR = """
r1: path(@S,D,P,C) :- link(@S,D,C), P=f_init(S,D).
r2: path(@S,D,P,C) :- link(@S,Z,C1), path(@Z,D,P2,C2), f_size(P2) < 4, f_inPath(P2,S)=false, C=C1+C2, P=f_concat(S,P2).
"""
BEST_COST = """
r1: cost(@S,D,C) :- link(@S,D,C).
r2: cost(@S,D,C) :- link(@S,Z,C1), best(@Z,D,C2), S != D, C=C1+C2, C < 12.
r3: best(@S,D,min<C>) :- cost(@S,D,C).
"""
REACHABLE = "r1: reach(@S,D) :- link(@S,D). r2: reach(@S,D) :- link(@S,Z), reach(@Z,D)."
DEAF = "two(@S,D) :- link(@S,Z), link(@Z,D), !link(@S,D), S != D."


def random_bursts(rng: Random, links: list[Fact], count: int) -> list[list[Update]]:
    """Bursts that delete links and bring them back."""
    present, absent, bursts = list(links), list[Fact](), list[list[Update]]()
    for _ in range(count):
        gone = rng.sample(present, min(3, len(present)))
        back = rng.sample(absent, min(2, len(absent)))
        present = [f for f in present if f not in gone] + back
        absent = [f for f in absent if f not in back] + gone
        burst = [Update(-1, f) for f in gone] + [Update(1, f) for f in back]
        rng.shuffle(burst)
        bursts.append(burst)
    return bursts


@pytest.mark.parametrize("schedule", [s for s in SCHEDULES if s != "starve"])
@pytest.mark.parametrize("text", [HOP, DEAF, PATH_VECTOR, BEST_COST], ids=["hop", "negation", "path", "best"])
@pytest.mark.parametrize("where", ["ring:7", "grid:3x2", "random:8:0.3", "ba:7:2"])
def test_protocols_end_on_every_topology_and_schedule_as_centralised_evaluation_does(
    text: str, where: str, schedule: str
) -> None:
    program, original = load_local(text), load(text)
    links = topology(where, 3).facts(program)
    for batch, cancel in ((False, False), (True, True)):
        network = Network(program, InProcess(scheduler(schedule, 5)), batch=batch, cancel=cancel)
        state = set(links)
        for burst in ([Update(1, f) for f in links], *random_bursts(Random(where), links, 3)):
            network.burst(burst)
            for update in burst:
                (state.add if update.sign > 0 else state.discard)(update.fact)
            expected = evaluate(original.tree, {(f.name, f.args) for f in state})
            assert {(f.name, f.args) for f in network.facts() if f.name in original.arity} == expected


def test_messages_are_the_updates_that_a_node_makes_for_another() -> None:
    network = Network(load_local(HOP), InProcess(scheduler("fifo")))
    cost = network.burst([Update(1, Fact("link", pair)) for pair in (("a", "b"), ("b", "c"))])
    # co_link(@b,a), co_link(@c,b), aux(@a,b,c) travel; hop(@a,c) is made at home
    assert (cost.updates, cost.messages, cost.rounds) == (6, 3, 2)
    sizes = [b'[1,"co_link",["b","a"]]', b'[1,"co_link",["c","b"]]', b'[1,"aux",["a","b","c"]]']
    assert cost.bytes == sum(map(len, sizes))
    assert network.burst([]).updates == 0


def test_the_bytes_of_annotated_updates_are_those_that_are_sent() -> None:
    program, derivations = load_local(REACHABLE), Derivations()
    network = Network(program, InProcess(scheduler("random", 3)), derivations)
    sent = []
    send = network.transport.send
    network.transport.send = lambda message: (sent.append(message), send(message))[1]  # type: ignore[method-assign]
    cost = network.burst([Update(1, f) for f in topology("ring:5").facts(program)])
    ends: dict[tuple, tuple[Sender, Receiver]] = {}
    size = 0
    for message in (m for m in sent if m.travels):
        sender, receiver = ends.setdefault(
            (message.source, message.destination), (Sender(derivations), Receiver(derivations))
        )
        packed = dumps(sender.pack(message.update, message.copies))
        size += len(packed)
        assert receiver.unpack(loads(packed)) == (message.update, message.copies)
    assert cost.bytes == size


@pytest.mark.parametrize(
    "packed",
    [None, [], [0, "p", []], [True, "p", []], [1, "p", [], 1], [1, "p", [], [0]], [1, "p", [], -1], [1, "p", [{}], 0],
     [1, "p", [], 0, 0, 1, 2], [1, "p", []]],
)  # fmt: skip
def test_what_no_node_sends_is_refused(packed: object) -> None:
    with pytest.raises(MalformedMessage):
        Receiver(Derivations()).unpack(packed)


def test_a_node_knows_only_its_own_facts() -> None:
    network = Network(load_local(HOP), InProcess(scheduler("random", 1)))
    network.burst([Update(1, Fact("link", pair)) for pair in (("a", "b"), ("b", "c"))])
    assert {str(f) for f in network.nodes["b"].facts()} == {"link(b,c)", "co_link(b,a)"}
    assert all(network.program.node(f) == place for place, node in network.nodes.items() for f in node.facts())


def test_a_deletion_that_overtakes_its_insertion_waits_at_the_node() -> None:
    program = load_local("p(@X) :- q(@X).")
    node = Node("a", program, DeltaRules(program))
    deletion, insertion = Update(-1, Fact("q", ("a",))), Update(1, Fact("q", ("a",)))
    assert node.receive([(deletion, 1)]).picked == []
    assert list(node.waiting) == [(deletion, 1)]
    assert node.receive([(insertion, 1)]).picked == [(insertion, 1), (deletion, 1)]
    assert list(node.waiting) == []
    assert not node.facts()


def test_a_deletion_that_waits_and_its_insertion_vanish_when_pairs_are_cancelled() -> None:
    program = load_local("p(@X) :- q(@X).")
    node = Node("a", program, DeltaRules(program), cancel=True)
    deletion, insertion = Update(-1, Fact("q", ("a",))), Update(1, Fact("q", ("a",)))
    node.receive([(deletion, 2)])
    reaction = node.receive([(insertion, 1), (insertion, 2)])
    assert (reaction.picked, reaction.cancelled) == ([(insertion, 1)], 2)
    assert not list(node.waiting)
    assert reaction.made == [(Update(1, Fact("p", ("a",))), 1)]


def test_a_deletion_of_what_is_not_there_is_left_out_and_told_and_swallows_no_later_insertion() -> None:
    network = Network(load_local(HOP), InProcess(scheduler("fifo")))
    link = Fact("link", ("a", "b"))
    cost = network.burst([Update(-1, link), Update(1, link), Update(-1, link)])
    assert ([str(u) for u in cost.left_out], cost.waiting) == (["-link(a,b)"], [])
    assert not network.facts()
    assert not network.burst([Update(1, link)]).left_out
    assert link in network.facts()


def test_a_program_that_never_settles_ends_with_an_error_that_names_the_rule() -> None:
    network = Network(load_local("r1: n(@X,C) :- n(@X,B), C=B+1.\nr0: n(@X,0) :- s(@X)."), InProcess(scheduler("fifo")),
                      meter=Meter(100))  # fmt: skip
    with pytest.raises(TidelogError, match="rule `r1`"):
        network.burst([Update(1, Fact("s", ("a",)))])


def test_every_message_is_delivered_once() -> None:
    update = Update(1, Fact("p", ("b",)))
    for name in SCHEDULES:
        transport = InProcess(scheduler(name, 3, "b"))
        sent = [InFlight(update, f"s{i % 3}", "b", number=i) for i in range(20)]
        for message in sent:
            transport.send(message)
        arrived = []
        while batch := transport.deliver(batch=False):
            arrived += batch
        assert sorted(m.number for m in arrived) == list(range(20))


def test_conditions_are_decided_before_anything_is_sent() -> None:
    sent = {}
    for program in (load(PATH_VECTOR, local=True), load_local(PATH_VECTOR)):
        network = Network(program, InProcess(scheduler("fifo")))
        links = topology("grid:3x3").facts(program)
        sent[network.burst([Update(1, f) for f in links]).messages] = {f for f in network.facts() if f.name == "path"}
    assert len(sent) == 2
    assert len({frozenset(paths) for paths in sent.values()}) == 1


def test_blank_lines_separate_bursts_and_lines_keep_their_numbers() -> None:
    text = "+a(@x)\n-b(@x)\n\n// only a comment\n\n\n+c(@x)\n"
    assert list(split_bursts(text)) == ["+a(@x)\n-b(@x)\n", "\n\n\n\n\n\n+c(@x)\n"]


HOPS = """
a h1(@X,Y) :- e(@X,Z), e(@Z,Y).
b h2(@X,Y) :- h1(@X,Z), h1(@Z,Y).
c h3(@X,Y) :- h2(@X,Z), h2(@Z,Y).
"""


@pytest.mark.parametrize("schedule", ["fifo", "lifo", "random", "deletions-first"])
def test_copies_travel_as_one_message_and_localisation_does_not_multiply_them(schedule: str) -> None:
    """Without weights, and with a copy of h1 at its listeners for each derivation, this took 6,910,296 updates."""
    program = load_local(HOPS)
    network = Network(program, InProcess(scheduler(schedule, 3)), meter=Meter(20_000))
    links = topology("random:4:1").facts(program, "e")
    assert network.burst([Update(1, f) for f in links]).updates < 5_000
    assert {f for f in network.facts() if f.name == "h3"} == {
        Fact("h3", (a, b)) for a in topology("ring:4").nodes for b in topology("ring:4").nodes
    }
    network.burst([Update(-1, f) for f in links])
    assert not network.facts()


def test_a_localised_program_has_the_multiplicities_of_the_original() -> None:
    original, local = load(HOPS), load_local(HOPS)
    links = topology("random:4:1").facts(original, "e")
    counts = [materialise(program, links).counts() for program in (original, local)]
    assert {f: n for f, n in counts[1].items() if f.name in original.arity} == counts[0]
    assert counts[0][Fact("h3", ("n0", "n1"))] == 1640


def test_a_node_splits_a_deletion_of_more_copies_than_it_has() -> None:
    program = load_local("p(@X) :- q(@X).")
    node = Node("a", program, DeltaRules(program))
    deletion, insertion = Update(-1, Fact("q", ("a",))), Update(1, Fact("q", ("a",)))
    node.receive([(insertion, 3)])
    assert node.receive([(deletion, 5)]).picked == [(deletion, 3)]
    assert list(node.waiting) == [(deletion, 2)]
    assert node.receive([(insertion, 4)]).picked == [(insertion, 4), (deletion, 2)]
    assert node.core.counts() == {Fact("q", ("a",)): 2}
