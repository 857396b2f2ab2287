"""Rules to plans, just enough for benchmarks and tests of the store: join orders are given by hand.

`rule("path(x,y)", "path(x,z)", "edge(z,y)")` gives one plan per recursive body atom; atoms before the pivot see OLD,
those after it ALL. `orders` says, per pivot, in which order the other atoms are joined (default: as written).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from tidelog.plan.steps import Const, Emit, Exists, Kind, Match, Operand, Plan, Probe, Scan, Slot, Step, View

Atom = tuple[str, list[str]]


def atom(text: str) -> Atom:
    name, args = re.fullmatch(r"\s*(\w+)\((.*)\)\s*", text).groups()  # type: ignore[union-attr]
    return name, [a.strip() for a in args.split(",")] if args.strip() else []


def plan(head: Atom, body: Sequence[Atom], views: Sequence[View], order: Sequence[int], pivot: int | None) -> Plan:
    slots: dict[str, int] = {}
    steps: list[Step] = []

    def operand(term: str) -> Operand:
        if re.fullmatch(r"-?\d+", term):
            return Const(Kind.NUMBER, int(term))
        return Slot(slots[term])

    for place, i in enumerate(order):
        name, args = body[i]
        key, outputs, same = [], [], []
        first: dict[str, int] = {}
        for c, term in enumerate(args):
            if term == "_":
                continue
            if term in first:
                same.append((first[term], c))
            elif term in slots or re.fullmatch(r"-?\d+", term):
                key.append((c, operand(term)))
            else:
                first[term] = c
        for term, c in first.items():
            slots[term] = len(slots)
            outputs.append((c, slots[term]))
        match = Match(name, views[i], tuple(key), tuple(outputs), tuple(same))
        if place == 0:
            steps.append(Scan(match))
        else:
            steps.append(Probe(match) if outputs else Exists(match))
    steps.append(Emit(head[0], tuple(operand(t) for t in head[1])))
    return Plan(0, pivot, tuple(steps), tuple((s, Kind.NUMBER) for s in slots))


def rule(recursive: set[str], head: str, *body: str, orders: dict[int, Sequence[int]] | None = None) -> list[Plan]:
    atoms = [atom(b) for b in body]
    pivots = [i for i, (name, _) in enumerate(atoms) if name in recursive]
    plans = []
    for pivot in pivots or [None]:
        order = (orders or {}).get(-1 if pivot is None else pivot)
        if order is None:
            order = [*([] if pivot is None else [pivot]), *(i for i in range(len(atoms)) if i != pivot)]
        views = [
            View.ALL if i not in pivots else View.DELTA if i == pivot else View.OLD if i < pivot else View.ALL
            for i in range(len(atoms))
        ]
        plans.append(plan(atom(head), atoms, views, order, pivot))
    return plans
