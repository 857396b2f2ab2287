"""Random protocols with keys of derived relations, on small networks where facts are replaced, come and go.

Which fact of a key is chosen is written out for each protocol: the key, and the column that a recursion moves on, with
the way it moves. The choice of the oracle (`chosen`) is made from that alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from net_cases import SCHEDULES
from net_central import Facts

from tidelog.net import Fact, Update


@dataclass(frozen=True)
class Key:
    """The key columns of a relation, and the column that decides first: for a lesser, a greater or a shorter value."""

    columns: tuple[int, ...]
    first: int | None = None
    prefers: str = "lesser"


@dataclass(frozen=True)
class Protocol:
    text: str
    keys: dict[str, Key]
    algorithm: str = "psn"


PROTOCOLS = {
    "routes": Protocol(
        """
        r1 route(@S,D,D,C) :- w(@S,D,C).
        r2 route(@S,D,Z,C) :- w(@S,Z,C1), route(@Z,D,_,C2), C = C1 + C2, C < 12, S != D.
        """,
        {"route": Key((0, 1), 3)},
    ),
    "best paths": Protocol(
        """
        r1 path(@S,D,P,C) :- w(@S,D,C), P = f_init(S,D).
        r2 path(@S,D,P,C) :- w(@S,Z,C1), route(@Z,D,P2,C2), f_member(P2,S) = false, C = C1 + C2, P = f_concatPath(S,P2).
        r3 best(@S,D,min<C>) :- path(@S,D,P,C).
        r4 route(@S,D,P,C) :- best(@S,D,C), path(@S,D,P,C).
        """,
        {"route": Key((0, 1), 3), "path": Key((0, 1, 2), 3)},
    ),
    "shortest paths": Protocol(
        """
        r1 route(@S,D,P) :- w(@S,D,C), P = f_init(S,D).
        r2 route(@S,D,P) :- w(@S,Z,C), route(@Z,D,P2), f_member(P2,S) = false, P = f_concatPath(S,P2).
        """,
        {"route": Key((0, 1), 2, "shorter")},
    ),
    "time to live": Protocol(
        """
        r1 route(@S,D,T) :- w(@S,D,T).
        r2 route(@S,D,T) :- w(@S,Z,C), route(@Z,D,T2), T = T2 - 1, T > -3.
        """,
        {"route": Key((0,), 2, "greater")},
    ),
    "names that fall": Protocol(
        """
        r1 route(@S,S) :- w(@S,D,C).
        r2 route(@S,D) :- w(@S,Z,C), route(@Z,D2), w(@S,D,C2), D < D2.
        """,
        {"route": Key((0,), 1, "greater")},
    ),
    "two that choose for each other": Protocol(
        """
        r1 route(@S,Z,C) :- w(@S,Z,C).
        r2 told(@Z,S,C) :- route(@S,Z,C).
        r3 route(@S,Z,C) :- told(@S,Z,C2), w(@S,Z2,C1), C = C2 + C1, C < 9.
        """,
        {"route": Key((0,), 2), "told": Key((0,), 2)},
    ),
    "a choice over reachability": Protocol(
        """
        r1 reach(@S,D) :- w(@S,D,C).
        r2 reach(@S,D) :- w(@S,Z,C), reach(@Z,D).
        r3 route(@S,D,C,Z) :- w(@S,Z,C), reach(@Z,D).
        """,
        {"route": Key((0, 1))},
        "supported",
    ),
    "reachability over a choice": Protocol(
        """
        r1 route(@S,C,Z) :- w(@S,Z,C).
        r2 reach(@S,D) :- route(@S,C,D).
        r3 reach(@S,D) :- route(@S,C,Z), reach(@Z,D).
        """,
        {"route": Key((0,))},
        "supported",
    ),
    "a choice of a choice": Protocol(
        """
        r1 told(@D,S,C) :- w(@S,D,C).
        r2 route(@S,C,Z) :- told(@S,Z,C).
        r3 route(@Z,C,S) :- told(@S,Z,C).
        """,
        {"route": Key((0,)), "told": Key((0, 2))},
    ),
}  # fmt: skip
ON_TOP = (
    "",
    "t1 many(@S,count<D>) :- w(@S,D,C), {route}.",
    "t1 many(@S,count<*>) :- {route}.",
    "t1 lone(@S,D) :- w(@S,D,C), !known(@S). t2 known(@S) :- {route}.",
)
ROUTE = {2: "route(@S,A)", 3: "route(@S,A,B)", 4: "route(@S,A,B,E)"}


@dataclass(frozen=True)
class KeyedCase:
    seed: int
    name: str
    text: str
    facts: tuple[Fact, ...]
    bursts: tuple[tuple[Update, ...], ...]
    final: tuple[Fact, ...]
    schedule: str
    batch: bool
    cancel: bool

    @property
    def protocol(self) -> Protocol:
        return PROTOCOLS[self.name]

    def __str__(self) -> str:
        bursts = "\n".join("burst: " + ", ".join(map(str, b)) for b in self.bursts)
        facts = ", ".join(map(str, self.facts))
        how = f"seed {self.seed}, {self.schedule}, batch {self.batch}, cancel {self.cancel}"
        return f"{self.name}\n{self.text}\nfacts: {facts}\n{bursts}\n{how}"


def random_keyed(seed: int, most_nodes: int = 5) -> KeyedCase:
    """The case of a seed. Links have a key too: half of the updates put another cost in the place of a link's."""
    rng = Random(seed)
    name = rng.choice(list(PROTOCOLS))
    nodes = "abcde"[: rng.randint(2, most_nodes)]
    pairs = [(x, y) for x in nodes for y in nodes if x != y]
    links = {p: rng.randint(1, 3) for p in rng.sample(pairs, rng.randint(1, min(len(pairs), 8)))}
    facts = tuple(_link(*item) for item in links.items())
    bursts = []
    for _ in range(rng.randint(1, 3)):
        updates: list[Update] = []
        for pair in rng.sample(pairs, rng.randint(1, min(len(pairs), 4))):
            before = links.pop(pair, None)
            after = None if before and rng.random() < 0.4 else rng.choice([c for c in (1, 2, 3) if c != before])
            if before and (after is None or rng.random() < 0.7):  # else the key alone says that the other one goes
                updates.append(Update(-1, _link(pair, before)))
            if after:
                links[pair] = after
                updates.append(Update(1, _link(pair, after)))
        rng.shuffle(updates)
        bursts.append(tuple(updates))
    final = tuple(_link(*item) for item in links.items())
    schedule = rng.choice(SCHEDULES)
    return KeyedCase(seed, name, _text(rng, name), facts, tuple(bursts), final, schedule, *_coins(rng))


def _text(rng: Random, name: str) -> str:
    protocol = PROTOCOLS[name]
    keys = {"w": (0, 1), **{relation: key.columns for relation, key in protocol.keys.items()}}
    declared = [
        f"materialize({relation}, infinity, infinity, keys({','.join(str(i + 1) for i in columns)}))."
        for relation, columns in keys.items()
    ]
    columns = protocol.text.split("route(@S", 1)[1].split(")", 1)[0].count(",") + 1
    return "\n".join([*declared, protocol.text, rng.choice(ON_TOP).replace("{route}", ROUTE[columns])])


def _coins(rng: Random) -> tuple[bool, bool]:
    return rng.random() < 0.3, rng.random() < 0.3


def _link(pair: tuple[str, str], cost: int) -> Fact:
    return Fact("w", (*pair, cost))


def chosen(facts: Facts, keys: dict[str, Key]) -> Facts:
    """Of each key of these relations the fact that stays, by the order of the values alone."""
    best: dict[tuple, tuple[str, tuple]] = {}
    for name, args in sorted(facts, key=lambda f: (f[0], *_order(f[1], keys.get(f[0])))):
        kept = tuple(args[i] for i in keys[name].columns) if name in keys else args
        best.setdefault((name, kept), (name, args))
    return set(best.values())


def _order(args: tuple, key: Key | None) -> tuple:
    plain = tuple(map(_rank, args))
    if key is None or key.first is None:
        return (0, *plain)
    value = args[key.first]
    if key.prefers == "shorter":
        return (len(value), *plain)
    if key.prefers == "greater":
        return (-value if isinstance(value, int) else tuple(-ord(c) for c in value), *plain)
    return (value, *plain)


def _rank(value: object) -> tuple:
    kinds = (int, str, tuple)
    kind = next(i for i, k in enumerate(kinds) if isinstance(value, k))
    return kind, tuple(map(_rank, value)) if isinstance(value, tuple) else value
