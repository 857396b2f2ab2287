"""The order of a body's atoms with the least expected work, by dynamic programming over sets of atoms.

The work of an order is the number of bindings it is expected to make: each atom multiplies them by its fan-out given
what is known by then, each filter that can be decided divides them. To this comes what it takes to make the indexes
that the order needs. For every set of atoms only the cheapest way to have joined them is kept, so n atoms cost 2^n, not
n!; beyond MOST_ATOMS the cheapest next atom is taken greedily.

A *connected* order takes an atom of which nothing is known only when there is no other. It is for plans that begin with
a change: to look at all of a relation costs its size every time, while fan-outs multiplied along a connected order say
what the most frequent values would cost, which a change seldom has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from tidelog.plan import core
from tidelog.plan.steps import Slot

MOST_ATOMS = 9
SELECTIVITY = {"=": 0.1, "!=": 0.9}
INEQUALITY = 0.4
ABSENCE = 0.7

Fanout = Callable[[core.CoreAtom, tuple[int, ...]], float]
"""How many tuples of an atom's relation agree with known values in these columns."""
IndexWork = Callable[[core.CoreAtom, tuple[int, ...]], float]
"""What it takes before the first such look-up."""


class _Way(NamedTuple):
    """A way to have joined a set of atoms: its work so far, the bindings it ends with, the order."""

    work: float
    bindings: float
    order: tuple[core.CoreAtom, ...]


def best_order(
    atoms: list[core.CoreAtom],
    others: Iterable[core.CoreItem],
    bound: Iterable[int],
    fanout: Fanout,
    index_work: IndexWork,
    connected: bool = False,
) -> tuple[core.CoreAtom, ...]:
    """The atoms in the order that is expected to be cheapest when the slots in `bound` are known at the start."""
    rest = list(others)
    start = core.known_from(bound, rest)
    if len(atoms) > MOST_ATOMS:
        return _greedy(atoms, rest, start, fanout, connected)
    everything = (1 << len(atoms)) - 1
    ways: dict[int, _Way] = {0: _Way(0.0, 1.0, ())}
    slots: dict[int, frozenset[int]] = {0: start}
    for chosen in range(everything):
        way = ways.get(chosen)
        if way is None:
            continue
        pending = [(place, atom) for place, atom in enumerate(atoms) if not chosen & 1 << place]
        if connected:
            pending = [p for p in pending if _is_connected(p[1], slots[chosen])] or pending
        for place, atom in pending:
            after = chosen | 1 << place
            if after not in slots:
                slots[after] = core.known_from(slots[chosen] | set(core.slots_in(atom.args)), rest)
            columns = _known_columns(atom, slots[chosen])
            found = fanout(atom, columns)
            kept = found * _selectivity(rest, slots[chosen], slots[after])
            work = way.work + index_work(atom, columns) + way.bindings * (1.0 + found)
            new = _Way(work, way.bindings * kept, (*way.order, atom))
            old = ways.get(after)
            if old is None or (new.work, new.bindings) < (old.work, old.bindings):
                ways[after] = new
    return ways[everything].order


def _greedy(
    atoms: list[core.CoreAtom], rest: list[core.CoreItem], known: frozenset[int], fanout: Fanout, connected: bool
) -> tuple[core.CoreAtom, ...]:
    order: list[core.CoreAtom] = []
    pending = list(atoms)
    while pending:
        candidates = [a for a in pending if _is_connected(a, known)] if connected else []
        atom = min(candidates or pending, key=lambda a: fanout(a, _known_columns(a, known)))
        pending.remove(atom)
        order.append(atom)
        known = core.known_from(known | set(core.slots_in(atom.args)), rest)
    return tuple(order)


def _is_connected(atom: core.CoreAtom, known: frozenset[int]) -> bool:
    """Whether something is known of an atom; of one without columns, everything."""
    return not atom.args or bool(_known_columns(atom, known))


def _known_columns(atom: core.CoreAtom, known: frozenset[int]) -> tuple[int, ...]:
    return tuple(c for c, a in enumerate(atom.args) if a is not None and (not isinstance(a, Slot) or a.index in known))


def _selectivity(items: list[core.CoreItem], before: frozenset[int], after: frozenset[int]) -> float:
    """The share of bindings that passes the filters which can be decided now and could not before."""
    share = 1.0
    for item in items:
        if isinstance(item, core.CoreFilter):
            needed = set(core.slots_in((item.left, item.right)))
            part = SELECTIVITY.get(item.op, INEQUALITY)
        elif isinstance(item, core.CoreAbsent):
            needed = set(core.slots_in(item.args))
            part = ABSENCE
        else:
            continue
        if needed <= after and not needed <= before:
            share *= part
    return share
