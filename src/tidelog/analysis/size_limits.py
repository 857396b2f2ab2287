"""`.limitsize r(n=1000)`: the first iteration that ends with so many tuples in r is the last one of its stratum.

All that it means is here. Whoever iterates asks `reached` at the end of each iteration. A stratum with such a relation
depends on the order in which tuples are found, and is therefore evaluated as a whole (`plan/whole.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tidelog.lang import tree


class SizeLimits:
    """The limits of a program's relations."""

    def __init__(self, directives: Iterable[tree.Directive]) -> None:
        self._most = {d.relation: int(d.param("n") or 0) for d in directives if d.kind == "limitsize"}
        self.relations = frozenset(self._most)  # those that have one

    def reached(self, relations: Iterable[str], count: Callable[[str], int]) -> bool:
        """Whether one of a stratum's relations has come to its limit, by what they count."""
        return any(count(name) >= self._most[name] for name in self.relations.intersection(relations))
