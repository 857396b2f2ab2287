"""An engine whose state outlives its process: another engine, and a state directory that follows it.

An epoch: the change set is logged; the inner engine evaluates it; before it commits, the effects are written, and then
the manifest. Only then does the epoch count, in the directory and in memory; whatever fails before leaves both at the
epoch before. What is always true between two calls: the directory's manifest and the inner engine are at the same
epoch. Cost of an epoch beyond evaluating it: proportional to its effects, and a few fsyncs.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tidelog.errors import TidelogError
from tidelog.evaluate.bindings import Words
from tidelog.evaluate.changes import Batch
from tidelog.evaluate.elastic import Elastic
from tidelog.evaluate.engine import Engine, EpochReport
from tidelog.evaluate.facts import Facts
from tidelog.state import problems
from tidelog.state.columns import RELATION, shapes
from tidelog.state.compaction import Compactor
from tidelog.state.directory import StateDirectory
from tidelog.state.effects import effects
from tidelog.state.files import Files
from tidelog.state.load import Loader
from tidelog.state.lock import now
from tidelog.state.log import Log
from tidelog.state.manifest import EpochSummary, Manifest, StoredFile, StoredRelation
from tidelog.state.migrate import migrate_state
from tidelog.state.program_text import difference, digest, fingerprints, full_text, numbers_texts, program_of
from tidelog.state.reader import read_consistently
from tidelog.state.resume import resume
from tidelog.state.snapshot import picture, write_changes, write_snapshot
from tidelog.store import Database, Relation

STRATEGIES = ("elastic", "update")
HISTORY = 50
"""How many epochs the manifest tells of."""


class Durable:
    """See evaluate.engine.Engine, and the module's docstring."""

    def __init__(
        self, inner: Elastic, place: str | os.PathLike[str], migrate: bool = False, read_only: bool = False
    ) -> None:
        self.inner, self.checked = inner, inner.state.checked
        if numbers_texts(self.checked):
            raise problems.unstable_numbers()
        self.shapes = shapes(inner.state)
        self.directory = StateDirectory.open(place, read_only)
        files, types, database = self.directory.files, self.checked.types, inner.database
        self.log = Log(files, self.shapes, types, database)
        self.compactor = Compactor(files, types, database)
        self._change: tuple[Mapping[str, Words], Mapping[str, Words], Batch | None] = {}, {}, None
        self._late: BaseException | None = None
        self._text, self._digest = full_text(self.checked), digest(self.checked)
        try:
            self._open(migrate)
        except BaseException:
            self.directory.close()
            raise
        inner.keeper = self

    # ---- opening

    def _open(self, migrate: bool) -> None:
        manifest = self.directory.manifest
        if manifest is None and migrate:
            raise problems.needs_migration_base(self.directory.where)
        if manifest is None and self.directory.lock is None:
            raise problems.no_state(self.directory.where)
        if manifest is None:
            return
        if self.directory.lock is None:
            self.directory.manifest = read_consistently(self.directory.files, self._load)
            return
        try:
            with problems.explained("read", self.directory.where, missing=True):
                self._load(self.directory.files, manifest, migrate)
        except FileNotFoundError as problem:
            raise problems.vanished(self.directory.where, problem) from None
        self._replay()

    def _load(self, files: Files, manifest: Manifest, migrate: bool = False) -> Manifest:
        """Put the inner engine into the state of a manifest."""
        loader = Loader(files, self.checked.types, self.database)
        if manifest.digest == self._digest:
            resume(self.inner, manifest, self.shapes, loader)
        elif migrate:
            self._keep_migration(manifest, migrate_state(self.inner, manifest, self.shapes, loader))
        else:
            raise problems.other_program(files.where, difference(program_of(manifest.program), self.checked))
        return manifest

    def _replay(self) -> None:
        """Evaluate a change set that was logged and not acknowledged; one that fails is given up."""
        entry = self.log.entry(self.epoch + 1)
        if entry is None:
            return
        self.inner.keeper = self
        try:
            self.update(entry.delete, entry.insert, entry.batch)
        except TidelogError:
            self.log.remove(self.epoch + 1)

    # ---- epochs

    def gather(self, name: str) -> Relation:
        return self.inner.gather(name)

    def bootstrap(self, facts: Mapping[str, Facts]) -> EpochReport:
        self._refuse_readers()
        self._change = {}, {}, None
        return self._raised_late(self.inner.bootstrap(facts))

    def update(
        self, delete: Mapping[str, Words], insert: Mapping[str, Words], batch: Batch | None = None
    ) -> EpochReport:
        """The next epoch. Of a stream, `batch` is remembered with it: see `seen`."""
        self._refuse_readers()
        epoch = self.epoch + 1
        self._change = delete, insert, batch
        logged = bool(delete or insert)
        try:
            if logged:
                with problems.explained("write to", self.directory.where):
                    self.log.write(epoch, delete, insert, batch)
            report = self.inner.update(delete, insert)
        finally:
            if logged:
                self.log.remove(epoch)
        self.compactor.start(self._manifest(), lambda name: picture(self.shapes[name], self.database[name], True))
        return self._raised_late(report)

    def seen(self, batch: Batch) -> bool:
        """Whether a batch of a stream is part of the state already."""
        manifest = self.directory.manifest
        return manifest is not None and batch[1] <= manifest.streams.get(batch[0], -1)

    def last_epoch(self) -> EpochSummary:
        """What the manifest tells about the last epoch."""
        assert self.directory.manifest is not None
        return self.directory.manifest.history[-1]

    def _raised_late(self, report: EpochReport) -> EpochReport:
        late, self._late = self._late, None
        if late is not None:
            raise late
        return report

    # ---- what the inner engine calls before an epoch ends

    def keep_update(self, report: EpochReport) -> None:
        state, epoch, past = self.inner.state, self.epoch + 1, self._manifest()
        delete, insert, batch = self._change
        found = effects(state, self.shapes, delete, insert)
        relations = dict(past.relations)
        written: list[StoredFile] = []
        try:
            with problems.explained("write to", self.directory.where):
                for name, effect in found.items():
                    file = write_changes(
                        self.directory.files, self.shapes[name], effect, epoch, self.checked.types, self.database
                    )
                    written.append(file)
                    stored = relations[name]
                    grown = int((effect.change == 0).sum() - (effect.change == 1).sum())
                    relations[name] = replace(stored, tuples=stored.tuples + grown, changes=(*stored.changes, file))
                self._commit(self._following(past, report, relations, batch), written)
        except BaseException:
            self._discard(written)
            raise

    def keep_bootstrap(self, report: EpochReport, efforts: Mapping[tuple[str, ...], int], seconds: float) -> None:
        self._keep_snapshots(report, {}, {"efforts": _by_stratum(efforts), "bootstrap_seconds": seconds})

    def _keep_migration(self, past: Manifest, kept: set[str]) -> None:
        """The epoch after a change of the program: relations that it changed have new snapshots."""
        report = EpochReport(past.epoch + 1, "migration", "the program changed", 0.0, 0)
        kept_files = {name: past.relations[name] for name in self.shapes if name in kept}
        self._keep_snapshots(report, kept_files, {"efforts": _by_stratum(self.inner.efforts)})
        self.inner.epoch = report.epoch

    def _keep_snapshots(self, report: EpochReport, kept: Mapping[str, StoredRelation], said: dict[str, Any]) -> None:
        """An epoch that begins with new snapshots of all relations but these."""
        written: list[StoredFile] = []
        relations = dict(kept)
        prints = fingerprints(self.checked)
        past = self.directory.manifest or self._empty()
        try:
            with problems.explained("write to", self.directory.where):
                for name in self.shapes:
                    if name not in kept:
                        relations[name] = self._snapshot(name, report.epoch, prints)
                        written.append(relations[name].snapshot)
                following = self._following(past, report, relations, self._change[2])
                self._commit(replace(following, **said), written)
        except BaseException:
            self._discard(written)
            raise

    def _snapshot(self, name: str, epoch: int, prints: Mapping[str, str]) -> StoredRelation:
        shape = self.shapes[name]
        taken = picture(shape, self.database[name])
        file = write_snapshot(self.directory.files, taken, epoch, self.checked.types, self.database)
        columns = tuple(zip(shape.names, shape.info.types, strict=True))
        return StoredRelation(shape.kind, columns, file.rows, file, (), prints.get(name, ""))

    def _discard(self, written: list[StoredFile]) -> None:
        current = self.directory.manifest
        named = set() if current is None else current.names()
        self.directory.remove(file.name for file in written if file.name not in named)

    # ---- manifests

    def _manifest(self) -> Manifest:
        assert self.directory.manifest is not None, "an epoch without a bootstrap"
        return self.directory.manifest

    def _empty(self) -> Manifest:
        lock = self.directory.lock
        owner = {} if lock is None else {k: getattr(lock.owner, k) for k in ("host", "pid", "user")}
        return Manifest(0, now(), owner, self.inner.strategy, self._text, self._digest, {})

    def _following(
        self, past: Manifest, report: EpochReport, relations: dict[str, StoredRelation], batch: Batch | None
    ) -> Manifest:
        """The manifest of the epoch that is about to end."""
        owner = self._empty().writer
        names = [name for name, shape in self.shapes.items() if shape.kind == RELATION]
        inserted, deleted = (
            {name: len(side[name]) for name in names if name in side} for side in (report.inserted, report.deleted)
        )
        told = EpochSummary(report.epoch, now(), report.strategy, round(report.seconds, 6), inserted, deleted)
        streams = past.streams if batch is None else past.streams | {batch[0]: batch[1]}
        return replace(
            past, epoch=report.epoch, time=told.time, writer=owner, strategy=self.inner.strategy, relations=relations,
            counters=_by_stratum(self.inner.state.counters), efforts=_by_stratum(self.inner.efforts), streams=streams,
            history=(*past.history, told)[-HISTORY:], program=self._text, digest=self._digest,
        )  # fmt: skip

    def _commit(self, manifest: Manifest, written: list[StoredFile] | None = None) -> None:
        manifest, compacted = self.compactor.apply(manifest)
        fresh = [file.name for file in written or ()] + compacted
        self._late = self.directory.commit(manifest, fresh)

    def compact(self) -> int:
        """Fold all changes into new snapshots, now; how many relations had any."""
        self._refuse_readers()
        self.compactor.wait()
        manifest, fresh = self.compactor.apply(self._manifest())
        folded = [name for name, stored in manifest.relations.items() if stored.changes]
        prints = {name: stored.fingerprint for name, stored in manifest.relations.items()}
        with problems.explained("write to", self.directory.where):
            relations = {name: self._snapshot(name, self.epoch, prints) for name in folded}
            fresh += [stored.snapshot.name for stored in relations.values()]
            self.directory.commit(replace(manifest, relations=manifest.relations | relations), fresh)
        return len(folded)

    # ---- contents: those of the inner engine

    @property
    def epoch(self) -> int:
        return self.inner.epoch

    @property
    def database(self) -> Database:
        return self.inner.database

    def rows(self, name: str) -> Words:
        return self.inner.rows(name)

    def count(self, name: str) -> int:
        return self.inner.count(name)

    def facts(self, name: str) -> Words:
        return self.inner.facts(name)

    def contains(self, name: str, rows: Words) -> NDArray[np.bool_]:
        return self.inner.contains(name, rows)

    def query_database(self) -> Database:
        return self.inner.query_database()

    # ---- its end

    def close(self) -> None:
        """Let others write. What compaction has done by now becomes part of the state."""
        if self.directory.lock is None:
            return
        self.compactor.wait()
        current = self.directory.manifest
        if current is not None:
            manifest, fresh = self.compactor.apply(current)
            if fresh:
                with problems.explained("write to", self.directory.where):
                    self.directory.commit(manifest, fresh)
        self.directory.close()

    def _refuse_readers(self) -> None:
        if self.directory.lock is None:
            raise problems.not_writing(self.directory.where)


def _by_stratum(numbers: Mapping[tuple[str, ...], Any]) -> dict[str, Any]:
    return {" ".join(relations): number for relations, number in numbers.items()}


def open_state(
    inner: Engine, strategy: str, place: str | os.PathLike[str], migrate: bool = False, read_only: bool = False
) -> Durable:
    """The engine with a state directory around it."""
    if strategy not in STRATEGIES or not isinstance(inner, Elastic):
        raise problems.strategy_without_state(strategy, STRATEGIES)
    return Durable(inner, place, migrate, read_only)
