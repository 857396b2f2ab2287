"""Relations with lattice attributes: one tuple for each value of the others, with the least upper bound of all derived.

Rows that an iteration emits wait until it ends. Then those with the same key are joined by the functors `Lub`, and with
what the relation holds; a key whose values have changed is new to the next iteration. A relation cannot lose single
tuples: the old ones go when the relation is made anew, at once if some plan could still see them, or in the end.
Cost: a call of `Lub` for each row that is emitted, in batches of one row for each key.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tidelog.errors import error
from tidelog.evaluate import user_functors
from tidelog.evaluate.bindings import Words
from tidelog.evaluate.context import Context
from tidelog.evaluate.functors import Fault
from tidelog.evaluate.special import Gate
from tidelog.store.distinct import number_rows

Key = tuple[int, ...]


class LatticeGate(Gate):
    """`lubs` names the functor of each lattice column; they are the last. `held` has the values of each key, `seen`
    says whether plans look at all tuples of the relation while the stratum runs."""

    def __init__(self, context: Context, relation: Any, lubs: Sequence[str], seen: bool) -> None:
        self.context, self.relation, self.lubs, self.seen = context, relation, lubs, seen
        self.keys = relation.arity - len(lubs)
        self.held: dict[Key, Key] = {}
        self.waiting: list[Words] = [relation.rows(None).astype(np.int64)]
        relation.clear()

    def accept(self, rows: Words) -> None:
        self.waiting.append(rows.astype(np.int64))

    def close(self) -> None:
        waiting = [rows for rows in self.waiting if len(rows)]
        self.waiting = []
        if not waiting:
            return
        before = len(self.held)
        changed = self._entered(self._joined(np.concatenate(waiting)))
        if self.seen and len(self.held) - before < len(changed):  # some of them take the place of others
            self._make_anew(without={tuple(key) for key in changed[:, : self.keys].tolist()})
        self.relation.insert(changed)

    def finish(self) -> None:
        if self.relation.count != len(self.held):
            self._make_anew(without=set())

    def _joined(self, rows: Words) -> Words:
        """One row for each key: the least upper bound of its rows."""
        group = number_rows(rows[:, : self.keys]) if self.keys else np.zeros(len(rows), np.int64)
        order = np.argsort(group, kind="stable")
        rows, group = rows[order], group[order]
        starts = np.flatnonzero(np.r_[True, np.diff(group) != 0])
        counts = np.diff(np.r_[starts, len(rows)])
        result = rows[starts].copy()
        for step in range(1, int(counts.max())):
            more = np.flatnonzero(counts > step)
            result[more] = self._lub(result[more], rows[starts[more] + step])
        return result

    def _entered(self, rows: Words) -> Words:
        """The rows, joined with what is held, of which something has changed; it is held now."""
        keys = [tuple(key) for key in rows[:, : self.keys].tolist()]
        known = np.array([key in self.held for key in keys], np.bool_)
        if known.any():
            old = np.array([(*key, *self.held[key]) for key in keys if key in self.held], np.int64)
            rows[known] = self._lub(old, rows[known])
        changed = [
            place
            for place, (key, row) in enumerate(zip(keys, rows.tolist(), strict=True))
            if self.held.get(key) != tuple(row[self.keys :])
        ]
        for place in changed:
            self.held[keys[place]] = tuple(rows[place, self.keys :].tolist())
        return rows[changed]

    def _lub(self, left: Words, right: Words) -> Words:
        result = left.copy()
        for column, functor in enumerate(self.lubs, self.keys):
            args = [np.ascontiguousarray(side[:, column]) for side in (left, right)]
            try:
                result[:, column] = user_functors.call(self.context, functor, args)
            except Fault as problem:
                raise error(
                    "TL0802", f"the least upper bound of values of `{self.relation.name}`: {problem}"
                ) from problem
        return result

    def _make_anew(self, without: set[Key]) -> None:
        """The relation without tuples whose values have changed since; those of some keys are still to come."""
        rows = [(*key, *values) for key, values in self.held.items() if key not in without]
        self.relation.clear()
        self.relation.insert(np.array(rows, np.int64).reshape(len(rows), self.relation.arity))
        self.relation.settle()
