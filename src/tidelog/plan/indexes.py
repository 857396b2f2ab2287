"""Which indexes the plans need, reduced to the fewest.

A probe has a *signature*: the set of columns it looks up. All columns bound is answered by the identity table and
none by a scan; neither needs an index. An index whose columns are ordered serves every signature that is a prefix of
it, so signatures that contain each other share one. The fewest indexes are a minimum chain cover of the
signatures under inclusion (Subotić et al., "Automatic index selection for large-scale Datalog computation"), found by
bipartite matching.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tidelog.plan import steps


@dataclass(frozen=True, slots=True)
class Index:
    """An index over the columns of `order`; it serves each signature of `serves`, a prefix of the order."""

    relation: str
    order: tuple[int, ...]
    serves: tuple[frozenset[int], ...]


def matches_of(plan_steps: Iterable[steps.Step]) -> Iterator[steps.Match]:
    """Every look-up of a plan, those inside aggregates too."""
    for step in plan_steps:
        if isinstance(step, (steps.Scan, steps.Probe, steps.Exists, steps.Absent)):
            yield step.match
        elif isinstance(step, steps.Aggregate):
            yield from matches_of(step.body)


def signatures(plans: Iterable[steps.Plan], arities: dict[str, int]) -> dict[str, set[frozenset[int]]]:
    """For each relation, the column sets that some plan looks up."""
    needed: dict[str, set[frozenset[int]]] = {}
    for plan in plans:
        for match in matches_of(plan.steps):
            columns = frozenset(column for column, _ in match.key)
            if 0 < len(columns) < arities[match.relation]:
                needed.setdefault(match.relation, set()).add(columns)
    return needed


def fewest_indexes(relation: str, needed: Iterable[frozenset[int]]) -> list[Index]:
    """A minimum chain cover of the signatures."""
    nodes = sorted(set(needed), key=lambda s: (len(s), sorted(s)))
    above = {a: [b for b in nodes if a < b] for a in nodes}
    follower: dict[frozenset[int], frozenset[int]] = {}  # larger signature -> the smaller one before it

    def augment(small: frozenset[int], tried: set[frozenset[int]]) -> bool:
        for large in above[small]:
            if large in tried:
                continue
            tried.add(large)
            if large not in follower or augment(follower[large], tried):
                follower[large] = small
                return True
        return False

    for node in nodes:
        augment(node, set())
    after = {small: large for large, small in follower.items()}
    starts = [n for n in nodes if n not in follower]
    return [_chain(relation, start, after) for start in starts]


def _chain(relation: str, start: frozenset[int], after: dict[frozenset[int], frozenset[int]]) -> Index:
    serves = [start]
    while serves[-1] in after:
        serves.append(after[serves[-1]])
    order: list[int] = []
    for signature in serves:
        order += sorted(signature - set(order))
    return Index(relation, tuple(order), tuple(serves))
