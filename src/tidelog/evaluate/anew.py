"""A stratum evaluated anew within an epoch: where Update cannot follow, or would cost too much.

Its relations are replaced by new ones, which Bootstrap fills; then it is marked in them what was there before, so that
the strata above are told the net change like after any update. Cost: that of the stratum's Bootstrap and at most a
look-up per tuple.
"""

from __future__ import annotations

import numpy as np

from tidelog.evaluate.bootstrap import Bootstrap, fill
from tidelog.evaluate.state import Change, State
from tidelog.plan.stateful import StatefulStratum
from tidelog.store import Relation
from tidelog.store.layout import NEVER
from tidelog.store.relation import pieces


def evaluate_anew(state: State, stratum: StatefulStratum, bootstrap: Bootstrap) -> None:
    """Replace the stratum's relations; `state.epoch` learns of the old ones and of the change."""
    facts = {name: state.facts(name) for name in stratum.relations}
    replaced = state.database.renew(stratum.relations)
    state.epoch.replaced |= {old.name: old for old in replaced}
    for name, rows in facts.items():
        fill(state.database[name], rows)
    bootstrap.evaluate([stratum])
    for old in replaced:
        state.epoch.changes[old.name] = mark_before(state.database[old.name], old)


def mark_before(new: Relation, old: Relation) -> Change:
    """Mark in a new relation which tuples the old one had: those that are gone are entered as rows that were there
    before and are not now. The iterations that shared tuples had before are not kept; nobody above asks for them."""
    inserted, gone = new.database.difference(new, old)
    deleted = np.arange(new.count, new.count + len(gone))
    for piece in pieces(gone):
        new.append_absent(old.rows()[gone[piece]])
    new.set_before(inserted, NEVER)
    new.set_before(deleted, old.before(gone))
    new.dirty = new.dirty or len(gone) > 0
    return Change(inserted, deleted)
