"""A stratum evaluated anew within an epoch: where Update cannot follow, or would cost too much.

Its relations are replaced by new ones, which Bootstrap fills; then the tuples that were there before are marked in
them, so that the strata above are told the net change like after any update. Cost: that of the stratum's Bootstrap and
a look-up per tuple.
"""

from __future__ import annotations

import numpy as np

from tidelog.evaluate.bootstrap import Bootstrap, fill
from tidelog.evaluate.state import Change, State
from tidelog.plan.stateful import StatefulStratum
from tidelog.store import Relation
from tidelog.store.layout import NEVER


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
    """Give the rows of a new relation the iterations that they had in the old one; what this changes on balance."""
    iterations = old.before()
    there = np.flatnonzero(iterations != NEVER)
    new.set_before(slice(new.count), NEVER)
    new.set_before(new.enter_absent(old.rows()[there]), iterations[there])
    new.dirty = True
    now, before = new.now() != NEVER, new.before() != NEVER
    return Change(np.flatnonzero(now & ~before), np.flatnonzero(before & ~now))
