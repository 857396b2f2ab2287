"""Schedulers: orders, nothing lost, deletions that wait."""

from __future__ import annotations

from collections import Counter

import pytest

from tidelog.errors import TidelogError
from tidelog.net import Configuration, Fact, Update, load, materialise, parse_updates, psn, scheduler
from tidelog.net.schedulers import Delayed

NAMES = ("fifo", "lifo", "random", "deletions-first", "insertions-first", "starve", "delays")


def updates(*texts: str) -> list[Update]:
    return [Update(1 if t[0] == "+" else -1, Fact(t[1:])) for t in texts]


def order(name: str, sent: list[tuple[str, object]], **options) -> list[str]:
    """The order in which a scheduler hands out updates that all may be picked; each is sent to a node."""
    made = scheduler(name, **options)
    for text, node in sent:
        made.add(updates(text)[0], "x", node)
    found = []
    while (update := made.next(lambda u: True)) is not None:
        found.append(str(update))
    return found


SENT = [("+a", 1), ("-b", 2), ("+c", 1), ("-d", 2)]


def test_orders() -> None:
    assert order("fifo", SENT) == ["+a", "-b", "+c", "-d"]
    assert order("lifo", SENT) == ["-d", "+c", "-b", "+a"]
    assert order("deletions-first", SENT) == ["-d", "-b", "+c", "+a"]
    assert order("insertions-first", SENT) == ["+a", "+c", "-b", "-d"]
    assert order("starve", SENT, node=2) == ["+c", "+a", "-d", "-b"]
    assert sorted(order("random", SENT, seed=7)) == sorted(t for t, _ in SENT)
    assert order("random", SENT, seed=7) == order("random", SENT, seed=7)


def test_delays_let_messages_overtake_each_other() -> None:
    slow = Delayed({(1, 2): 10.0, (3, 2): 1.0}, jitter=0.0)
    slow.add(updates("+late")[0], 1, 2)
    slow.add(updates("+early")[0], 3, 2)
    assert [str(slow.next(lambda u: True)) for _ in range(2)] == ["+early", "+late"]
    assert slow.now == 10.0


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_lost_and_refused_updates_come_again(name: str) -> None:
    made = scheduler(name, seed=3, node=1)
    sent = Counter(updates("+a", "+b", "-c", "-c", "+d"))
    for update in sent.elements():
        made.add(update, 0, 1)
    assert made.next(lambda u: False) is None
    assert len(made) == 5
    made.withdraw(updates("-c")[0])
    found = Counter[Update]()
    while (update := made.next(lambda u: True)) is not None:
        found[update] += 1
    assert found == sent - Counter(updates("-c"))
    assert len(made) == 0


@pytest.mark.parametrize("name", NAMES)
def test_a_deletion_that_overtakes_its_insertion_waits(name: str) -> None:
    program = load("p(@X) :- q(@X).")
    configuration = Configuration(program)
    psn(configuration, parse_updates("-q(@1)", program), scheduler(name))
    assert [str(u) for u in configuration.U] == ["-q(1)"]  # no insertion yet: it waits
    run = psn(configuration, parse_updates("+q(@1), +q(@2)", program), scheduler(name))
    assert sorted(map(str, configuration.facts())) == ["p(2)", "q(2)"]
    assert not run.waiting


def test_what_waits_for_ever_is_reported() -> None:
    program = load("p(@X) :- q(@X).")
    run = psn(materialise(program), parse_updates("-q(@1)", program))
    assert [str(u) for u in run.waiting] == ["-q(1)"]


def test_cancelling_complementary_pairs_saves_updates() -> None:
    program = load("r(@X) :- p(@X). p(@X) :- q(@X).")
    burst = parse_updates("+q(@1), -q(@1), +q(@2)", program)
    plain = psn(materialise(program), burst)
    saved = psn(materialise(program), burst, cancel=True)
    assert plain.configuration.view() == saved.configuration.view()
    assert (plain.updates, saved.updates, saved.cancelled) == (9, 3, 1)


def test_picking_all_updates_of_a_node_takes_fewer_iterations() -> None:
    program = load("p(@X,Y) :- q(@X,Y).")
    burst = [Update(1, Fact("q", (1, n))) for n in range(10)]
    one, everything = psn(materialise(program), burst), psn(materialise(program), burst, picking=None)
    assert one.configuration.view() == everything.configuration.view()
    assert (one.iterations, everything.iterations) == (20, 2)


def test_unknown_schedules_are_refused() -> None:
    with pytest.raises(TidelogError, match="TL1042"):
        scheduler("sometimes")
