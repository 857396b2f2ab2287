"""Topologies: files (edge list, JSON, GraphML) and generators (ring, grid, random, Barabási–Albert, fat tree).

A topology is nodes and links with costs. Links go both ways unless it is directed. Generated nodes are `n0`, `n1`, …,
so that an updates file can speak of them; in a fat tree they are named after what they are. The same text and the same
seed give the same topology.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from random import Random

from tidelog.errors import error
from tidelog.net.program import NetProgram
from tidelog.net.values import Fact, Value
from tidelog.plain import dataclass

Link = tuple[Value, Value, "int | float"]
MOST = 5_000_000
"""Nodes, and links, of a network that a generator makes."""
GENERATORS = "ring:N, grid:WxH, random:N:P, ba:N:M, fattree:K"


@dataclass(frozen=True)
class Topology:
    nodes: tuple[Value, ...]
    links: tuple[Link, ...]
    directed: bool = False

    def both_ways(self) -> Iterator[Link]:
        """Every link in each direction in which it can be used."""
        for a, b, cost in self.links:
            yield a, b, cost
            if not self.directed and a != b:
                yield b, a, cost

    def facts(self, program: NetProgram, relation: str = "link") -> list[Fact]:
        """The links as facts of a base relation: `link(@a,b)`, or `link(@a,b,cost)` if it has three arguments."""
        arity = program.arity.get(relation)
        if arity is None or relation in program.derived:
            raise error(
                "TL1052", f"the program has no base relation `{relation}` to hold the links of the topology",
                help="name it with --link, or give the facts with --facts instead of a topology",
            )  # fmt: skip
        if arity not in (2, 3):
            raise error(
                "TL1052", f"`{relation}` has {arity} arguments; links of a topology have two nodes and perhaps a cost",
                help="give the facts with --facts instead of a topology",
            )  # fmt: skip
        return [Fact(relation, link[:arity]) for link in dict.fromkeys(self.both_ways())]


def topology(text: str, seed: int = 0) -> Topology:
    """What the text names: a generator with its numbers, or else a file."""
    kind, _, rest = text.partition(":")
    if kind in _MAKERS and rest and not Path(text).exists():
        try:
            return _MAKERS[kind](rest, Random(seed))
        except ValueError:
            raise error(
                "TL1050", f"`{text}` is no topology: {_WANTED[kind]}", help=f"generators are {GENERATORS}"
            ) from None  # fmt: skip
    from tidelog.net.runtime.topology_files import read

    path = Path(text)
    if not path.is_file():
        raise error(
            "TL1050", f"there is no topology `{text}`: no such file", help=f"generators are {GENERATORS}"
        )  # fmt: skip
    return read(path)


def ring(n: int) -> Topology:
    links = [(i, (i + 1) % n) for i in range(n)] if n > 2 else [(0, 1)][: n - 1]
    return _numbered(n, links)


def grid(width: int, height: int) -> Topology:
    cells = [(x, y) for y in range(height) for x in range(width)]
    right = [(y * width + x, y * width + x + 1) for x, y in cells if x + 1 < width]
    down = [(y * width + x, (y + 1) * width + x) for x, y in cells if y + 1 < height]
    return _numbered(width * height, right + down)


def erdos_renyi(n: int, probability: float, rng: Random) -> Topology:
    """Each pair is linked with the probability; the gaps between links are drawn, so sparse networks cost little."""
    from math import log

    if probability >= 1:
        return _numbered(n, list(combinations(range(n), 2)))
    links: list[tuple[int, int]] = []
    if probability > 0:
        a, b, skip = 1, -1, log(1 - probability)
        while a < n:
            b += 1 + int(log(1 - rng.random()) / skip)
            while b >= a and a < n:
                b -= a
                a += 1
            if a < n:
                links.append((b, a))
    return _numbered(n, links)


def barabasi_albert(n: int, m: int, rng: Random) -> Topology:
    """Each new node links to m others, the more likely the more links they have (Barabási and Albert, 1999)."""
    links: list[tuple[int, int]] = []
    ends: list[int] = []
    chosen = list(range(m))
    for new in range(m, n):
        links += [(old, new) for old in chosen]
        ends += [*chosen, *[new] * m]
        found: dict[int, None] = {}
        while len(found) < m:
            found[rng.choice(ends)] = None
        chosen = list(found)
    return _numbered(n, links)


def fat_tree(k: int) -> Topology:
    """k pods of k/2 edge and k/2 aggregation switches, (k/2)² core switches, k/2 hosts per edge switch."""
    half = k // 2
    links: list[tuple[str, str]] = []
    for pod in range(k):
        for e in range(half):
            links += [(f"h{pod}_{e}_{h}", f"e{pod}_{e}") for h in range(half)]
            links += [(f"e{pod}_{e}", f"a{pod}_{a}") for a in range(half)]
        links += [(f"a{pod}_{a}", f"c{a}_{c}") for a in range(half) for c in range(half)]
    names = dict.fromkeys(name for link in links for name in link)
    return Topology(tuple(names), tuple((a, b, 1) for a, b in links))


def _numbered(n: int, links: list[tuple[int, int]]) -> Topology:
    return Topology(tuple(f"n{i}" for i in range(n)), tuple((f"n{a}", f"n{b}", 1) for a, b in links))


def _ring(text: str, _: Random) -> Topology:
    nodes = _at_least(1, text)
    _refuse_too_many(nodes, nodes)
    return ring(nodes)


def _grid(text: str, _: Random) -> Topology:
    width, height = (_at_least(1, side) for side in text.split("x"))
    _refuse_too_many(width * height, 2 * width * height)
    return grid(width, height)


def _random(text: str, rng: Random) -> Topology:
    n, probability = text.split(":")
    if not 0 <= float(probability) <= 1:
        raise ValueError
    nodes = _at_least(1, n)
    _refuse_too_many(nodes, float(probability) * nodes * (nodes - 1) / 2)
    return erdos_renyi(nodes, float(probability), rng)


def _ba(text: str, rng: Random) -> Topology:
    n, m = text.split(":")
    links = _at_least(1, m)
    nodes = _at_least(links + 1, n)
    _refuse_too_many(nodes, nodes * links)
    return barabasi_albert(nodes, links, rng)


def _fat_tree(text: str, _: Random) -> Topology:
    k = _at_least(2, text)
    if k % 2:
        raise ValueError
    _refuse_too_many(k**3 // 4, 3 * k**3 // 4)
    return fat_tree(k)


def _refuse_too_many(nodes: int, links: float) -> None:
    """An error before memory is filled with a network that no run could finish."""
    if nodes > MOST or links > MOST:
        raise error("TL1050", f"a network of {nodes:,} nodes and about {links:,.0f} links is too large to be simulated",
                    help=f"at most {MOST:,} of each are made")  # fmt: skip


def _at_least(least: int, text: str) -> int:
    number = int(text)
    if number < least:
        raise ValueError
    return number


_MAKERS: dict[str, Callable[[str, Random], Topology]] = {
    "ring": _ring, "grid": _grid, "random": _random, "ba": _ba, "fattree": _fat_tree
}  # fmt: skip
_WANTED = {
    "ring": "a ring is ring:N, N at least 1",
    "grid": "a grid is grid:WxH, both at least 1",
    "random": "a random network is random:N:P, N at least 1 and P between 0 and 1",
    "ba": "a Barabási–Albert network is ba:N:M, M at least 1 and N larger",
    "fattree": "a fat tree is fattree:K, K even and at least 2",
}
