"""A stratum evaluated anew within an epoch: where Update cannot follow, or would cost too much.

Its relations are replaced by new ones, which Bootstrap fills, and compared with the old ones. A stratum above that is
updated must see the state before, so for it the new relations are marked: what is new, and, as rows of tuples that are
not there, what is gone. Where nobody looks back they stay as they are. Cost: that of the stratum's Bootstrap, at most a
look-up per tuple, and, if marked, an insertion for each tuple that is gone.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tidelog.evaluate.bootstrap import Bootstrap, fill
from tidelog.evaluate.state import RowChange, State
from tidelog.plan.stateful import StatefulStratum
from tidelog.store import NEVER, Relation
from tidelog.store.difference import difference
from tidelog.store.relation import pieces


def evaluate_anew(state: State, stratum: StatefulStratum, bootstrap: Bootstrap) -> None:
    """Replace the stratum's relations; `state.epoch` learns of the old ones and of the change."""
    facts = {name: state.facts(name) for name in stratum.relations}
    replaced = state.replace(stratum.relations)
    for name, rows in facts.items():
        fill(state.database[name], rows)
    bootstrap.evaluate([stratum])
    for old in replaced:
        state.epoch.changes[old.name] = compared(state.database[old.name], old)


def compared(new: Relation, old: Relation) -> RowChange:
    """What came and went when a new relation took the place of an old one."""
    return RowChange(*difference(new, old), old)


def mark_changes(state: State, names: Iterable[str]) -> None:
    """Let the state before be seen in these relations, if they were replaced in this epoch."""
    for name in names:
        change = state.epoch.changes.get(name)
        if change is not None and change.old is not None:
            state.epoch.changes[name] = _marked(state.database[name], change, change.old)


def _marked(new: Relation, change: RowChange, old: Relation) -> RowChange:
    """The same change, with rows of the new relation for what is gone. The iterations that shared tuples had before are
    not kept; nobody above asks for them."""
    gone = change.deleted
    deleted = np.arange(new.count, new.count + len(gone))
    for piece in pieces(gone):
        new.append_absent(old.rows()[gone[piece]])
    new.set_before(change.inserted, NEVER)
    new.set_before(deleted, old.before(gone))
    new.dirty = new.dirty or len(gone) > 0
    return RowChange(change.inserted, deleted)
