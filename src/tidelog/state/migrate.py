"""A state for another program: strata whose rules, or whatever these depend on, changed are evaluated anew.

The relations of the other strata are loaded as they are, and their files stay. The facts of a relation whose stratum
changed are kept as long as its columns are the same; an `.input` that is new begins without facts. Auxiliary relations
are named by the numbers of rules, and are always evaluated: they are no recursion, and cost what one iteration costs.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tidelog.evaluate.bindings import Words
from tidelog.evaluate.bootstrap import Bootstrap, fill
from tidelog.evaluate.elastic import Elastic
from tidelog.plan.stateful import StatefulStratum
from tidelog.state.columns import RELATION, Shape
from tidelog.state.load import Loader
from tidelog.state.manifest import Manifest, StoredRelation
from tidelog.state.program_text import fingerprints
from tidelog.state.resume import by_relations


def migrate_state(engine: Elastic, manifest: Manifest, shapes: Mapping[str, Shape], loader: Loader) -> set[str]:
    """Put the engine, which is new, into the state of its program over the manifest's facts; the names of the stored
    relations that are as they were."""
    migration = _Migration(engine, manifest, shapes, loader)
    migration.load_kept()
    migration.evaluate_changed()
    return migration.kept


class _Migration:
    def __init__(self, engine: Elastic, manifest: Manifest, shapes: Mapping[str, Shape], loader: Loader) -> None:
        self.engine, self.manifest, self.shapes, self.loader = engine, manifest, shapes, loader
        self.state = engine.state
        prints = fingerprints(self.state.checked)
        self.kept = {
            name
            for name, shape in shapes.items()
            if shape.kind == RELATION
            and name in manifest.relations
            and manifest.relations[name].fingerprint == prints[name]
        }
        self.counters = by_relations(self.state, manifest.counters)

    def load_kept(self) -> None:
        self.kept |= {f"{name}@given" for name in self.kept if f"{name}@given" in self.shapes}
        self.loader.load_all(
            [(self.shapes[name], self.manifest.relations[name], self.state.database[name]) for name in self.kept]
        )

    def evaluate_changed(self) -> None:
        state = self.state
        run = self.engine.new_bootstrap()
        efforts = by_relations(state, self.manifest.efforts)
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
        self.engine.resume(self.manifest.epoch, efforts | run.efforts, self.manifest.bootstrap_seconds)

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
                self.state.given[name].clear()
                fill(self.state.given[name], facts)
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
            return scratch.rows()[scratch.now() == 0].astype(np.int64)
        finally:
            self.state.database.drop(scratch.name)

    def _same_columns(self, name: str, stored: StoredRelation) -> bool:
        return [kind for _, kind in stored.columns] == list(self.shapes[name].info.types)
