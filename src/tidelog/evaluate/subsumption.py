"""Subsumption: `less <= greater :- body` drops a tuple where a greater one holds.

Emitted rows wait until the iteration ends. Then everything that some other tuple, old or new, subsumes is dropped,
and the rest is what the iteration found. The subsumption rules run as ordinary plans over a scratch copy of the
relation, and their heads name the tuples to drop.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from tidelog.evaluate.bindings import Words
from tidelog.evaluate.context import Context
from tidelog.evaluate.stages import PlanRun
from tidelog.evaluate.statistics import Statistics
from tidelog.plan import core
from tidelog.plan.order import order
from tidelog.plan.steps import Slot
from tidelog.values import Kind


class Subsumption:
    """The gate of a relation that has subsumption rules."""

    def __init__(self, context: Context, relation: Any, rules: list[core.CoreRule]) -> None:
        self.context = context
        self.relation = relation
        self.rules = rules
        self.waiting: list[Words] = []
        if relation.count:
            self.waiting.append(relation.rows(None).astype(np.int64))

    def accept(self, rows: Words) -> None:
        self.waiting.append(rows)

    def close(self) -> None:
        """Add what was emitted, and drop what is subsumed."""
        if not self.waiting:
            return
        fresh = np.unique(np.concatenate(self.waiting), axis=0)
        self.waiting.clear()
        fresh = fresh[~self.relation.contains(fresh)] if self.relation.count else fresh
        if len(fresh) == 0:
            return
        old = self.relation.rows(None).astype(np.int64)
        dropped = self._subsumed(np.concatenate((old, fresh)))
        lost = dropped[: len(old)]
        if lost.any():
            kept = old[~lost]
            self.relation.clear()
            self.relation.insert(kept)
            self.relation.settle()
        self.relation.insert(fresh[~dropped[len(old) :]])

    def _subsumed(self, rows: Words) -> Any:
        """Which of these rows another one subsumes."""
        database, arity = self.context.database, self.relation.arity
        scratch = database.create(f"{self.relation.name}@all", arity)
        marked = database.create(f"{self.relation.name}@dropped", arity)

        def mark(pairs: Words) -> None:
            less, greater = pairs[:, :arity], pairs[:, arity:]
            marked.insert(np.ascontiguousarray(less[(less != greater).any(axis=1)]))

        try:
            scratch.insert(rows)
            scratch.settle()
            for rule in self.rules:
                plan = order(_pairs(rule, scratch.name), {}, Statistics(database), existential=False)
                PlanRun(self.context, plan, mark).run()
            return marked.contains(rows)
        finally:
            database.drop(scratch.name)
            database.drop(marked.name)


def _pairs(rule: core.CoreRule, everything: str) -> core.CoreRule:
    """The rule over all candidates, deriving both tuples side by side."""
    slots = list(rule.slots)

    def named(atom: core.CoreAtom) -> core.CoreAtom:
        args = []
        for arg in atom.args:
            if arg is None:
                slots.append(("_", Kind.NUMBER))
                arg = Slot(len(slots) - 1)
            args.append(arg)
        return replace(atom, relation=everything, args=tuple(args))

    less, greater = (named(atom) for atom in rule.atoms()[:2])
    rest = [item for item in rule.body if item not in rule.atoms()[:2]]
    args = tuple(arg for arg in (*less.args, *greater.args) if arg is not None)
    return replace(rule, args=args, body=(less, greater, *rest), slots=tuple(slots))
