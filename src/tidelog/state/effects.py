"""What the running epoch has done to the state of each relation: read from the logs of an update before it commits.

Cost: proportional to the rows that the update has touched; for a relation that was evaluated anew, to its size.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tidelog.evaluate.anew import mark_changes
from tidelog.evaluate.bindings import Words
from tidelog.evaluate.state import State
from tidelog.state.columns import DELETE, GIVEN, INSERT, UPDATE, Effect, Shape
from tidelog.store import Relation
from tidelog.store.layout import NEVER


def effects(
    state: State, shapes: Mapping[str, Shape], delete: Mapping[str, Words], insert: Mapping[str, Words]
) -> dict[str, Effect]:
    """The effect of the running epoch on every stored relation that it has changed."""
    found = {}
    for name, shape in shapes.items():
        relation = state.database[name]
        if shape.kind == GIVEN:
            effect = _of_facts(relation.arity, name.removesuffix("@given"), delete, insert)
        elif name in state.epoch.replaced:
            mark_changes(state, [name])
            effect = _of_replaced(relation, state.epoch.replaced[name])
        else:
            effect = _of_log(relation)
        if len(effect):
            found[name] = effect
    return found


def _of_facts(arity: int, name: str, delete: Mapping[str, Words], insert: Mapping[str, Words]) -> Effect:
    gone, come = (side.get(name, np.empty((0, arity), np.int64)) for side in (delete, insert))
    change = np.repeat([DELETE, INSERT], [len(gone), len(come)])
    rows = np.concatenate((gone, come))
    return Effect(rows, change, np.zeros(len(rows), np.int32), np.ones(len(rows), np.int64))


def _of_log(relation: Relation) -> Effect:
    numbers, first = np.unique(relation.log[:, 0], return_index=True)  # of several notes, the first is the oldest
    before, counted = relation.log[first, 1], relation.log[first, 2]
    return _effect(relation, numbers, before, counted)


def _of_replaced(new: Relation, old: Relation) -> Effect:
    """Of a relation that was evaluated anew. Its `before` says which tuples the old one had (`evaluate/anew.py`); when
    and how often they had been found, the old one knows."""
    numbers = np.flatnonzero((new.now() != NEVER) | (new.before() != NEVER))
    before = new.before(numbers)
    counted = np.zeros(len(numbers), np.int64)
    known = before != NEVER
    counts = old.derived()
    rows, first = np.unique(old.log[:, 0], return_index=True)
    counts[rows] = old.log[first, 2]
    places = old.find(new.rows()[numbers[known]])
    before[known], counted[known] = old.before(places), counts[places]
    return _effect(new, numbers, before, counted)


def _effect(relation: Relation, numbers: Words, before: Words, counted: Words) -> Effect:
    """Of these rows, given what their iterations and counts were."""
    now, counts = relation.now(numbers), relation.derived(numbers)
    was, is_ = before != NEVER, now != NEVER
    changed = (was != is_) | (is_ & ((before != now) | (counted != counts)))
    change = np.where(is_, np.where(was, UPDATE, INSERT), DELETE)
    kept = numbers[changed]
    return Effect(relation.rows()[kept], change[changed], now[changed], counts[changed])
