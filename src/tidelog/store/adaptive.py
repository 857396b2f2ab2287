"""Cyclic joins: per binding, begin with whichever of two atoms has fewer tuples.

Where a plan probes X and then Y, and Y's key needs both a value that X binds and one known before (a triangle), one
order can be thousands of times worse than the other, and which one may differ from binding to binding: a hub on one
side is ordinary on the other. Such a plan is split into two alternatives; each binding of the steps before X goes
through exactly one of them. What is always true: the alternatives together derive what the plan derives, as often as
it does. Cost: the steps before X run twice, with two lookups each; the join costs the smaller side of each binding,
as in a worst-case optimal join.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tidelog.plain import dataclass
from tidelog.plan.steps import Exists, Match, Probe, Scan, Slot, Step


@dataclass(frozen=True, slots=True)
class Fewer:
    """Keep the bindings for which `left` has fewer tuples than `right`; not `strict`: or as many."""

    left: Match
    right: Match
    strict: bool


def alternatives(steps: Sequence[Step], arity: Callable[[str], int]) -> list[tuple[Step | Fewer, ...]]:
    """The plan itself, or the two alternatives of its first cyclic pair of probes."""
    known: set[int] = set()
    for i, step in enumerate(steps):
        if i and isinstance(step, Probe) and i + 1 < len(steps):
            follower = steps[i + 1]
            if isinstance(follower, Probe | Exists):
                turned = _turn(step.match, follower, known, arity)
                if turned is not None:
                    first, second = turned
                    left = Fewer(step.match, first, strict=False)
                    right = Fewer(first, step.match, strict=True)
                    return [
                        (*steps[:i], left, *steps[i:]),
                        (*steps[:i], right, Probe(first), Probe(second), *steps[i + 2 :]),
                    ]
        if isinstance(step, Scan | Probe):
            known |= {s for _, s in step.match.outputs}
    return [tuple(steps)]


def _turn(
    x: Match, follower: Probe | Exists, known: set[int], arity: Callable[[str], int]
) -> tuple[Match, Match] | None:
    """Y without the values that X binds, and X with them; None if the pair is not cyclic or not simple."""
    y = follower.match
    if not x.key or x.same or x.bounds or y.same or y.bounds:
        return None
    if isinstance(follower, Exists) and len(y.key) < arity(y.relation):
        return None
    binds = {slot: column for column, slot in x.outputs}
    shared = [(column, o.index) for column, o in y.key if isinstance(o, Slot) and o.index in binds]
    before = [(column, o) for column, o in y.key if isinstance(o, Slot) and o.index in known]
    if not shared or not before or len({slot for _, slot in shared}) < len(shared):
        return None
    taken = {slot for _, slot in shared}
    rest = tuple((column, o) for column, o in y.key if not (isinstance(o, Slot) and o.index in taken))
    first = Match(y.relation, y.view, rest, tuple(sorted((*y.outputs, *shared))), row=y.row)
    key = (*x.key, *((binds[slot], Slot(slot)) for slot in taken))
    outputs = tuple((column, slot) for column, slot in x.outputs if slot not in taken)
    return first, Match(x.relation, x.view, tuple(sorted(key, key=lambda k: k[0])), outputs, row=x.row)
