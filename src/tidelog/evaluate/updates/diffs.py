"""The diffs of the paper's Update: I_k^- and I_k^+ as relations that rules are joined with (paper 002, 4.1 and 4.2).

Eager diffs hold exactly these sets: after each iteration they are computed, as lines 14 and 15 have it. Lazy ones hold
every tuple that has lost (or got) a derivation, and only grow; whether a tuple is in the set is then asked for each
derivation. What is always true: they hold at least the sets. Cost of an iteration: eager, the size of the sets that
changed; lazy, the tuples that it touched.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from tidelog.evaluate.bindings import Words
from tidelog.evaluate.state import State
from tidelog.evaluate.updates.derivation_rows import Iterations
from tidelog.plan.orders.paper_terms import TermPlan, minus, minus_column, plus
from tidelog.plan.stateful import StatefulStratum
from tidelog.store import Relation

EMPTY = np.empty(0, np.int64)


class Diffs:
    """The diffs of a stratum's relations and of those that it reads."""

    def __init__(self, state: State, stratum: StatefulStratum, plans: Iterable[TermPlan], eager: bool) -> None:
        self.state, self.stratum, self.eager = state, stratum, eager
        self.iterations = Iterations(state, stratum.relations)
        self.minus: dict[str, Words] = {}
        self.plus: dict[str, Words] = {}
        self.columns: dict[str, list[int]] = {}  # of own relations, those whose values are filters
        joined = {m.relation for p in plans for s in p.plan.steps if (m := getattr(s, "match", None)) is not None}
        for name in (*stratum.inputs, *stratum.relations):
            arity = state.database[name].arity
            self.columns[name] = [c for c in range(arity) if minus_column(name, c) in joined]
            for diff in (minus(name), plus(name)):
                self._make(diff, arity + 1)
            for column in self.columns[name]:
                self._make(minus_column(name, column), 1)

    def _make(self, name: str, arity: int) -> None:
        if name not in self.state.database:
            self.state.database.create(name, arity)

    def is_empty(self, diff: str) -> bool:
        return self.state.database[diff].count == 0

    def begin(self) -> None:
        """I_0^- and I_0^+: what changed below the stratum, and among its facts."""
        for name in self.stratum.inputs:
            change = self.state.epoch.changes.get(name)
            if change:
                self._set(name, change.deleted, change.inserted)
        for name in self.stratum.relations:
            rows = self.state.database[name].changed()
            before, now = self.iterations.of(name, rows)
            self._set(name, rows[(before == 0) & (now != 0)], rows[(now == 0) & (before != 0)])

    def advance(self, k: int, touched: Mapping[str, Words]) -> None:
        """Lines 14 and 15, where N_k and N_k^o need only be looked at among the tuples that iteration k touched."""
        for name in self.stratum.relations:
            rows = touched.get(name, EMPTY)
            before, now = self.iterations.of(name, rows)
            if self.eager:
                old_minus, old_plus = self.minus.get(name, EMPTY), self.plus.get(name, EMPTY)
                _, now_of_minus = self.iterations.of(name, old_minus)
                before_of_plus, _ = self.iterations.of(name, old_plus)
                self._set(
                    name,
                    np.concatenate((old_minus[now_of_minus != k], rows[(before == k) & (now > k)])),
                    np.concatenate((old_plus[before_of_plus != k], rows[(now == k) & (before > k)])),
                )
            else:
                self._add(name, rows[before == k], rows[now == k])

    def _set(self, name: str, deleted: Words, inserted: Words) -> None:
        if not np.array_equal(deleted, self.minus.get(name, EMPTY)):
            self._clear(self._minus_relations(name))
            self._add(name, deleted, EMPTY)
        if not np.array_equal(inserted, self.plus.get(name, EMPTY)):
            self._clear([self.state.database[plus(name)]])
            self._add(name, EMPTY, inserted)
        self.minus[name], self.plus[name] = deleted, inserted

    def _add(self, name: str, deleted: Words, inserted: Words) -> None:
        database = self.state.database
        tuples = database[name].rows()
        for rows, diff in ((deleted, minus(name)), (inserted, plus(name))):
            _insert(database[diff], np.column_stack((tuples[rows], rows)))
        for column in self.columns[name]:
            _insert(database[minus_column(name, column)], tuples[deleted][:, [column]])

    def _minus_relations(self, name: str) -> list[Relation]:
        names = [minus(name), *(minus_column(name, column) for column in self.columns[name])]
        return [self.state.database[diff] for diff in names]

    def _clear(self, relations: list[Relation]) -> None:
        for relation in relations:
            if relation.count:
                relation.clear()

    def forget(self) -> None:
        """The stratum's update is over."""
        for name in (*self.stratum.inputs, *self.stratum.relations):
            self._clear([*self._minus_relations(name), self.state.database[plus(name)]])
        self.minus, self.plus = {}, {}


def _insert(relation: Relation, rows: Words) -> None:
    if len(rows):
        relation.insert(rows)
        relation.settle()
