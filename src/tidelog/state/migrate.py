"""A state for another program: strata whose rules, or whatever these depend on, changed are evaluated anew.

The relations of the other strata are loaded as they are, and their files stay. The facts of a relation whose stratum
changed are kept as long as its columns are the same; an `.input` that is new begins without facts. Auxiliary relations
are named by the numbers of rules, and are always evaluated: they are no recursion, and cost what one iteration costs.
Those that are part of a recursion stay with it if they are projections, which are named by what they project.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from tidelog.evaluate.bindings import Words
from tidelog.evaluate.bootstrap import Bootstrap, fill
from tidelog.evaluate.state import State
from tidelog.floats import float_words
from tidelog.plan.stateful import StatefulStratum
from tidelog.state.columns import DECLARED, Shape
from tidelog.state.load import Loader
from tidelog.state.manifest import Manifest, StoredRelation
from tidelog.state.program_text import fingerprints
from tidelog.state.resume import by_relations
from tidelog.values import Kind


def migrate_state(
    state: State, manifest: Manifest, shapes: Mapping[str, Shape], loader: Loader, doubtful: Collection[str] = ()
) -> set[str]:
    """Make the state, which is new, that of its program over the manifest's facts; the names of the stored relations
    that are as they were. The `doubtful` ones are not, although their rules did not change."""
    migration = _Migration(state, manifest, shapes, loader, doubtful)
    migration.load_kept()
    migration.evaluate_changed()
    return migration.kept


class _Migration:
    def __init__(
        self,
        state: State,
        manifest: Manifest,
        shapes: Mapping[str, Shape],
        loader: Loader,
        doubtful: Collection[str],
    ) -> None:
        self.state, self.manifest, self.shapes, self.loader = state, manifest, shapes, loader
        prints = fingerprints(self.state.checked)
        self.kept = {
            name
            for name, shape in shapes.items()
            if shape.kind in DECLARED
            and name in manifest.relations
            and name not in doubtful
            and manifest.relations[name].kind == shape.kind
            and manifest.relations[name].fingerprint == prints[name]
        }
        for stratum in self.state.program.strata:
            made = set(stratum.relations).difference(self.state.checked.relations)
            if made != set(stratum.relations) and self.kept.issuperset(set(stratum.relations) - made):
                self.kept.update(made if all("@(" in name and name in manifest.relations for name in made) else ())
        self.counters = by_relations(self.state, manifest.counters)

    def load_kept(self) -> None:
        self.kept |= {f"{name}@given" for name in self.kept if f"{name}@given" in self.shapes}
        self.loader.load_all(
            [(self.shapes[name], self.manifest.relations[name], self.state.database[name]) for name in self.kept]
        )

    def evaluate_changed(self) -> None:
        state = self.state
        run = Bootstrap(state)
        state.efforts = by_relations(state, self.manifest.efforts)
        changed: set[str] = set()
        for stratum in state.program.strata:
            reached = not changed.isdisjoint(stratum.inputs) or self._shifted(stratum)
            if self.kept.issuperset(stratum.relations) and not reached:
                state.counters[stratum.relations] = self.counters.get(stratum.relations, (0, 0))
                state.pass_by(stratum)
                continue
            if reached or not self._is_auxiliary(stratum):
                changed.update(stratum.relations)
            self._evaluate(stratum, run)
        state.live = {name: len(state.present(name)) for name in state.program.arities}
        state.begin_epoch()

    def _shifted(self, stratum: StatefulStratum) -> bool:
        start, stop = self.counters.get(stratum.relations, (0, 0))
        return start != stop and start != self.state.context.counter

    def _is_auxiliary(self, stratum: StatefulStratum) -> bool:
        return stratum.relations[0] not in self.state.checked.relations

    def _evaluate(self, stratum: StatefulStratum, run: Bootstrap) -> None:
        for name in stratum.relations:
            facts = self._facts(name)
            self.kept.discard(name)
            self.kept.discard(f"{name}@given")
            if name in self.state.given:
                given = self.state.database[self.state.given[name]]
                given.clear()
                fill(given, facts)
            self.state.database[name].clear()
            fill(self.state.database[name], facts)
        run.evaluate([stratum])

    def _facts(self, name: str) -> Words:
        """What was given for a relation: rows of its own file, or of that of iteration 0."""
        relation = self.state.database[name]
        none = np.empty((0, relation.arity), np.int64)
        if name not in self.state.inputs:
            return none
        if name in self.kept:
            return self.state.facts(name)
        stored = self.manifest.relations.get(f"{name}@given") or self.manifest.relations.get(name)
        if stored is None or not self._same_columns(name, stored):
            return none
        scratch = self.state.database.create(f"{name}@stored", relation.arity, stateful=True)
        try:
            self.loader.load(self.shapes[name], stored, scratch)
            return self._with_one_zero(name, scratch.rows()[scratch.now() == 0].astype(np.int64))
        finally:
            self.state.database.drop(scratch.name)

    def _with_one_zero(self, name: str, rows: Words) -> Words:
        """The facts as they are meant, if they come from a state that told floats apart by their bits."""
        for i, kind in enumerate(self.shapes[name].info.kinds):
            if kind is Kind.FLOAT:
                rows[:, i] = float_words(rows[:, i].view(np.float64))
        return rows

    def _same_columns(self, name: str, stored: StoredRelation) -> bool:
        return [kind for _, kind in stored.columns] == list(self.shapes[name].info.types)
