"""A made road network: streets of a town with a river, bridges over it, and ring roads; always the same."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

Road = tuple[int, int, int]


@dataclass
class Town:
    """`side` by `side` crossings; `roads` are one-way, with minutes, and `bridges` are among them."""

    side: int
    roads: list[Road] = field(default_factory=list)
    bridges: list[Road] = field(default_factory=list)

    def place(self, node: int) -> tuple[float, float]:
        """Where a crossing is drawn."""
        moved = random.Random(node)
        return node % self.side + moved.uniform(-0.25, 0.25), node // self.side + moved.uniform(-0.25, 0.25)


def made_town(side: int = 40, seed: int = 1) -> Town:
    rnd, town, river = random.Random(seed), Town(side), side // 2
    crossings = set(range(2, side, 6))
    for node in range(side * side):
        x, y = node % side, node // side
        for other, inside in ((node + 1, x + 1 < side), (node + side, y + 1 < side)):
            crosses = other == node + side and y + 1 == river
            if not inside or (crosses and x not in crossings) or (not crosses and rnd.random() < 0.12):
                continue
            minutes = rnd.randint(2, 9) if x not in (0, side - 1) else 1
            both = [(node, other, minutes), (other, node, minutes)]
            town.roads += both
            town.bridges += both if crosses else []
    return town


def depots(town: Town, number: int = 10) -> list[int]:
    rnd = random.Random(5)
    return sorted(rnd.sample(sorted({road[0] for road in town.roads}), number))
