"""The home of a value: which of several stores is asked for it. It follows from the word alone, the same everywhere.

Kernels and numpy compute it alike: the upper half of the word times a constant, modulo the number of workers.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from tidelog.evaluate.bindings import Words
from tidelog.plain import replace
from tidelog.plan import steps
from tidelog.plan.exchange.placement import Placement
from tidelog.plan.steps import AtHome, Compute, Const, Filter, Slot
from tidelog.values import Kind

GOLDEN = 0x9E3779B97F4A7C15
SHIFT = 33
FIRST = 0
"""The worker that has what is kept in one place."""


def homes(words: Words, size: int) -> NDArray[np.int64]:
    """For each word, the worker that is its home."""
    mixed = (words.astype(np.int64).view(np.uint64) * np.uint64(GOLDEN)) >> np.uint64(SHIFT)
    return (mixed % np.uint64(size)).astype(np.int64)


def owners(placement: Placement, rows: Words, size: int) -> NDArray[np.int64]:
    """For each tuple, the worker that counts as its owner."""
    if placement.columns:
        return homes(rows[:, placement.columns[0]], size)
    return np.full(len(rows), FIRST, np.int64)


def holders(placement: Placement, rows: Words, size: int) -> NDArray[np.bool_]:
    """For each worker and tuple, whether it holds it."""
    held = np.zeros((size, len(rows)), np.bool_)
    if placement.everywhere:
        held[:] = True
    for column in placement.columns:
        held[homes(rows[:, column], size), np.arange(len(rows))] = True
    if placement.first:
        held[FIRST] = True
    return held


def with_homes(plan: steps.Plan, me: int, size: int) -> steps.Plan:
    """The plan as this worker runs it: who is at home here is a matter of arithmetic."""
    if not any(isinstance(step, AtHome) for step in plan.steps):
        return plan
    slots, found = list(plan.slots), list[steps.Step]()
    for step in plan.steps:
        if isinstance(step, AtHome):
            found += _asked(step, me, size, slots)
        else:
            found.append(step)
    return replace(plan, steps=tuple(found), slots=tuple(slots))


def _asked(step: AtHome, me: int, size: int, slots: list[tuple[str, Kind]]) -> Iterable[steps.Step]:
    if step.operand is None:
        return [Filter("=", Kind.NUMBER, _number(me), _number(FIRST))]
    product, upper, home = (len(slots) + n for n in range(3))
    slots += [(f"t{slot}", Kind.UNSIGNED) for slot in (product, upper, home)]

    def unsigned(target: int, op: str, left: steps.Operand, right: int) -> Compute:
        kind = Kind.UNSIGNED
        return Compute(target, op, kind, (left, Const(kind, right)), (kind, kind))

    return [
        unsigned(product, "*", step.operand, GOLDEN),
        unsigned(upper, "bshru", Slot(product), SHIFT),
        unsigned(home, "%", Slot(upper), size),
        Filter("=", Kind.UNSIGNED, Slot(home), Const(Kind.UNSIGNED, me)),
    ]


def _number(value: int) -> Const:
    return Const(Kind.NUMBER, value)
