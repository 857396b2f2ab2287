"""Random protocols whose recursion runs through min or max, on small networks where links and seeds come and go.

Floods, distance vectors with costs of zero, widest and best paths, with rules on top of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from random import Random

from net_cases import SCHEDULES, Case

from tidelog.lang import ndlog
from tidelog.net import Fact, Update

FLOOD = """
s1 val(@S,V) :- seed(@S,V).
s2 val(@S,V) :- w(@S,Z,C), best(@Z,V).
s3 best(@S,{op}<V>) :- val(@S,V).
"""
DEEP_FLOOD = """
s1 val(@S,V) :- seed(@S,V).
s2 val(@S,V) :- w(@S,Z,C), val(@Z,V).
s3 val(@S,V) :- w(@S,Z,C), best(@Z,V).
s4 best(@S,{op}<V>) :- val(@S,V).
"""
DISTANCE = """
d1 cost(@S,D,C) :- w(@S,D,C).
d2 cost(@S,D,C) :- w(@S,Z,C1), best(@Z,D,C2), C=C1+C2{bound}.
d3 best(@S,D,min<C>) :- cost(@S,D,C).
"""
LONGEST = """
d1 cost(@S,D,C) :- w(@S,D,C).
d2 cost(@S,D,C) :- w(@S,Z,C1), best(@Z,D,C2), C=C2-1, C > -4.
d3 best(@S,D,max<C>) :- cost(@S,D,C).
"""
WIDEST = """
w1 cap(@S,D,C) :- w(@S,D,C).
w2 cap(@S,D,C2) :- w(@S,Z,C1), best(@Z,D,C2), C2 <= C1.
w3 cap(@S,D,C1) :- w(@S,Z,C1), best(@Z,D,C2), C1 < C2.
w4 best(@S,D,max<C>) :- cap(@S,D,C).
"""
PATHS = """
p1 path(@S,D,P,C) :- w(@S,D,C), P=f_init(S,D).
p2 path(@S,D,P,C) :- w(@S,Z,C1), route(@Z,D,P2,C2), f_member(P2,S)=false, C=C1+C2, P=f_concatPath(S,P2).
p3 best(@S,D,min<C>) :- path(@S,D,P,C).
p4 route(@S,D,P,C) :- best(@S,D,C), path(@S,D,P,C).
"""
ON_TOP_OF_TWO = ("t1 many(@S,count<V>) :- best(@S,V).", "t1 none(@S,V) :- seed(@S,V), !best(@S,V).", "")
ON_TOP_OF_THREE = (
    "t1 many(@S,count<D>) :- best(@S,D,C).",
    "t1 lone(@S,D) :- w(@S,D,C), !best(@D,S,C).",
    "t1 hop(@S,D,Z) :- best(@S,D,C), w(@S,Z,C1), best(@Z,D,C2), C=C1+C2.",
    "",
)


_parsed = lru_cache(ndlog.parse)


def random_best(seed: int) -> Case:
    """The case of a seed: three to five nodes, costs from 0 or 1 to 3, one to three bursts."""
    rng = Random(seed)
    floods = rng.random() < 0.4
    if floods:
        text = rng.choice((FLOOD, DEEP_FLOOD)).replace("{op}", rng.choice(("min", "max"))) + rng.choice(ON_TOP_OF_TWO)
    else:
        bound = rng.choice(("", "", ", C < 5", ", S != D"))
        text = rng.choice((DISTANCE, DISTANCE, DISTANCE, LONGEST, WIDEST, PATHS)).replace("{bound}", bound)
        text += rng.choice(ON_TOP_OF_THREE)
    least = rng.choice((0, 0, 1))
    nodes = rng.randint(3, 4 if text.startswith(PATHS) else 5)
    facts = list(dict.fromkeys(_fact(rng, nodes, least, floods) for _ in range(rng.randint(nodes, 2 * nodes + 3))))
    bursts = come_and_go(rng, facts, lambda: _fact(rng, nodes, least, floods))
    schedule, picking = rng.choice(SCHEDULES), rng.choice((1, 1, 1, 2, None))
    rules = tuple(_parsed(text).rules)
    return Case(seed, rules, tuple(facts), bursts, schedule, picking, rng.random() < 0.3)


def come_and_go(rng: Random, facts: list[Fact], draw: Callable[[], Fact]) -> tuple[tuple[Update, ...], ...]:
    """One to three bursts that take away facts that are there and bring others; in a burst in any order."""
    present = Counter(facts)
    bursts = []
    for _ in range(rng.randint(1, 3)):
        updates = []
        for _ in range(rng.randint(1, 4)):
            known = [f for f, n in present.items() if n > 0]
            sign = -1 if known and rng.random() < 0.6 else 1
            fact = rng.choice(known) if sign < 0 else draw()
            present[fact] += sign
            updates.append(Update(sign, fact))
        rng.shuffle(updates)
        bursts.append(tuple(updates))
    return tuple(bursts)


def _fact(rng: Random, nodes: int, least: int, floods: bool) -> Fact:
    if floods and rng.random() < 0.3:
        return Fact("seed", (rng.randrange(nodes), rng.randint(1, 4)))
    a, b = rng.sample(range(nodes), 2)
    return Fact("w", (a, b, rng.randint(least, 3)))
