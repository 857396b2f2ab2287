"""A keeper whose epochs outlive their process: a state directory that follows the relations of one store.

An epoch: its change set is logged; an engine evaluates it, and before it ends hands over the effects; these are
written, and then the manifest. Only then does the epoch count, in the directory and in memory; whatever fails before
leaves both at the epoch before. What is always true between two epochs: the directory's manifest and the relations are
at the same epoch. Cost of an epoch beyond evaluating it: proportional to its effects, and a few fsyncs.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from tidelog.epochs.changes import NetChange
from tidelog.epochs.holder import Position
from tidelog.epochs.report import EpochReport
from tidelog.errors import TidelogError
from tidelog.evaluate.effects import Effect, Effects, EpochEffects
from tidelog.evaluate.state import State
from tidelog.plain import replace
from tidelog.state import problems
from tidelog.state.columns import DECLARED, GIVEN, Shape, shapes
from tidelog.state.compaction import Compactor
from tidelog.state.directory import StateDirectory
from tidelog.state.files import Files
from tidelog.state.load import Loader
from tidelog.state.lock import now
from tidelog.state.log import Log
from tidelog.state.manifest import FORMAT, KeptEpoch, Manifest, StoredFile, StoredRelation
from tidelog.state.migrate import migrate_state
from tidelog.state.program_text import (
    difference,
    digest,
    fingerprints,
    full_text,
    numbers_texts,
    program_of,
    relations_with_floats,
)
from tidelog.state.reader import read_consistently
from tidelog.state.resume import resume
from tidelog.state.snapshot import Picture, picture, write_changes, write_snapshot

Pictures = Callable[[str, Shape, bool], Picture]
"""A relation by its name in the database, its shape, and whether the picture must last: what it holds now."""
HISTORY = 50
"""How many epochs the manifest tells of."""


class Durable:
    """See the module's docstring, and `epochs.holder.Keeper`. Opening it fills the state, which is new, with that of
    the directory; `position` says where an engine goes on."""

    def __init__(
        self,
        state: State,
        strategy: str,
        place: str | os.PathLike[str],
        migrate: bool = False,
        read_only: bool = False,
    ) -> None:
        self.checked, self.database, self.strategy = state.checked, state.database, strategy
        if numbers_texts(self.checked):
            raise problems.unstable_numbers()
        self.shapes = shapes(state)
        self.pictures: Pictures = self._picture  # whoever has the relations elsewhere puts its own here
        self.directory = StateDirectory.open(place, read_only)
        files, types = self.directory.files, self.checked.types
        self.log = Log(files, self.shapes, types, self.database)
        self.compactor = Compactor(files, types, self.database)
        self._late: BaseException | None = None
        self._text, self._digest = full_text(self.checked), digest(self.checked)
        self._logged = 0  # the epoch of a change set that may have been logged and not acknowledged
        try:
            self._open(state, migrate)
        except BaseException:
            self.directory.close()
            raise

    @property
    def position(self) -> Position:
        """That of the last epoch that was kept."""
        manifest = self.directory.manifest
        if manifest is None:
            return Position()
        return Position(manifest.epoch, manifest.bootstrap_seconds, manifest.streams)

    def last_epoch(self) -> KeptEpoch:
        """What the manifest tells about the last epoch."""
        return self._manifest().history[-1]

    # ---- opening

    def _open(self, state: State, migrate: bool) -> None:
        manifest = self.directory.manifest
        if manifest is None and migrate:
            raise problems.needs_migration_base(self.directory.where)
        if manifest is None and self.directory.lock is None:
            raise problems.no_state(self.directory.where)
        if manifest is None:
            return

        def load(files: Files, manifest: Manifest) -> Manifest:
            return self._load(state, files, manifest, migrate)

        if self.directory.lock is None:
            self.directory.manifest = read_consistently(self.directory.files, load)
            return
        try:
            with problems.explained("read", self.directory.where, missing=True):
                load(self.directory.files, manifest)
        except FileNotFoundError as problem:
            raise problems.vanished(self.directory.where, problem) from None
        same = manifest.digest == self._digest  # a change set for another program is given up with it
        self._logged = 1 + (manifest.epoch if same else self.position.epoch)

    def _load(self, state: State, files: Files, manifest: Manifest, migrate: bool) -> Manifest:
        """Fill the state from a manifest. One of an older format is brought up to date; those who only read do so for
        themselves."""
        loader = Loader(files, self.checked.types, self.database)
        same = manifest.digest == self._digest
        if same and manifest.format == FORMAT:
            resume(state, manifest, self.shapes, loader)
        elif same or (migrate and self.directory.lock is not None):
            doubtful = relations_with_floats(self.checked) if manifest.format < FORMAT else set()
            kept = migrate_state(state, manifest, self.shapes, loader, doubtful)
            if self.directory.lock is not None:
                why = "an older Tidelog kept it in another way" if same else "the program changed"
                self._keep_migration(state, manifest, kept, why)
        else:
            raise problems.other_program(files.where, difference(program_of(manifest.program), self.checked))
        return manifest

    def _keep_migration(self, state: State, past: Manifest, kept: set[str], why: str) -> None:
        """The epoch after a change of the program or of the format: relations that it changed have new snapshots."""
        position = self.position.after(None)
        report = EpochReport(position.epoch, "migration", why, 0.0, 0)
        files = {name: past.relations[name] for name in self.shapes if name in kept}
        self._keep(report, Effects(state, {}, {}), position, files, {})

    def replay(self, update: Callable[[NetChange], object]) -> None:
        """Have a change set evaluated that was logged by a process which did not live to end its epoch. One that fails
        is given up."""
        entry = self.log.entry(self._logged) if self._logged else None
        if entry is not None:
            with suppress(TidelogError):
                update(entry)
            self.log.remove(self._logged)

    # ---- epochs

    @contextmanager
    def around(self, epoch: int, change: NetChange | None) -> Iterator[None]:
        self._refuse_readers()
        if change:
            with problems.explained("write to", self.directory.where):
                self.log.write(epoch, change)
        try:
            yield
        finally:
            if change:
                self.log.remove(epoch)
        if change is not None:
            self.compactor.start(self._manifest(), lambda name: self.pictures(name, self.shapes[name], True))
        late, self._late = self._late, None
        if late is not None:
            raise late

    def keep(self, report: EpochReport, effects: EpochEffects, position: Position) -> None:
        if effects.from_scratch:
            self._keep(report, effects, position, {}, {})
        else:
            found = {name: self._effect(name, effects) for name in self.shapes}
            self._keep(report, effects, position, self._manifest().relations, found)

    def _effect(self, name: str, effects: EpochEffects) -> Effect:
        is_given = self.shapes[name].kind == GIVEN
        return effects.on_facts(name.removesuffix("@given")) if is_given else effects.on(name)

    def _keep(
        self,
        report: EpochReport,
        effects: EpochEffects,
        position: Position,
        kept: Mapping[str, StoredRelation],
        changed: Mapping[str, Effect],
    ) -> None:
        """Write an epoch. These relations are kept, with what has changed of them; others have new snapshots."""
        relations, written = dict(kept), list[StoredFile]()
        fresh = [name for name in self.shapes if name not in kept]
        prints = fingerprints(self.checked) if fresh else {}
        try:
            with problems.explained("write to", self.directory.where):
                for name in fresh:
                    relations[name] = self._snapshot(name, position.epoch, prints)
                    written.append(relations[name].snapshot)
                for name, effect in changed.items():
                    if len(effect):
                        relations[name] = self._with_changes(name, kept[name], effect, position.epoch)
                        written.append(relations[name].changes[-1])
                self._commit(self._following(report, effects, position, relations), written)
        except BaseException:
            current = self.directory.manifest
            named = set() if current is None else current.names()
            self.directory.remove(file.name for file in written if file.name not in named)
            raise

    def _snapshot(self, name: str, epoch: int, prints: Mapping[str, str]) -> StoredRelation:
        shape = self.shapes[name]
        taken = self.pictures(name, shape, False)
        file = write_snapshot(self.directory.files, taken, epoch, self.checked.types, self.database)
        columns = tuple(zip(shape.names, shape.info.types, strict=True))
        return StoredRelation(shape.kind, columns, file.rows, file, (), prints.get(name, ""))

    def _picture(self, name: str, shape: Shape, lasting: bool) -> Picture:
        return picture(shape, self.database[name], lasting)

    def _with_changes(self, name: str, stored: StoredRelation, effect: Effect, epoch: int) -> StoredRelation:
        shape, files, types = self.shapes[name], self.directory.files, self.checked.types
        file = write_changes(files, shape, effect, epoch, types, self.database)
        return replace(stored, tuples=stored.tuples + effect.growth, changes=(*stored.changes, file))

    # ---- manifests

    def _manifest(self) -> Manifest:
        assert self.directory.manifest is not None, "an epoch without a bootstrap"
        return self.directory.manifest

    def _following(
        self, report: EpochReport, effects: EpochEffects, position: Position, relations: dict[str, StoredRelation]
    ) -> Manifest:
        """The manifest of the epoch that is about to end."""
        past = self.directory.manifest
        names = [name for name, shape in self.shapes.items() if shape.kind in DECLARED]
        inserted, deleted = (
            {name: len(side[name]) for name in names if name in side} for side in (report.inserted, report.deleted)
        )
        told = KeptEpoch(position.epoch, now(), report.strategy, round(report.seconds, 6), inserted, deleted)
        history = (*(past.history if past is not None else ()), told)[-HISTORY:]
        lock = self.directory.lock
        owner = {} if lock is None else {k: getattr(lock.owner, k) for k in ("host", "pid", "user")}
        return Manifest(
            position.epoch, told.time, owner, self.strategy, self._text, self._digest, relations,
            counters=_by_stratum(effects.counters), efforts=_by_stratum(effects.efforts),
            bootstrap_seconds=position.bootstrap_seconds, streams=dict(position.streams), history=history,
        )  # fmt: skip

    def _commit(self, manifest: Manifest, written: list[StoredFile]) -> None:
        manifest, compacted = self.compactor.apply(manifest)
        self._late = self.directory.commit(manifest, [*(file.name for file in written), *compacted])

    def compact(self) -> int:
        """Fold all changes into new snapshots, now; how many relations had any."""
        self._refuse_readers()
        self.compactor.wait()
        manifest, fresh = self.compactor.apply(self._manifest())
        folded = [name for name, stored in manifest.relations.items() if stored.changes]
        prints = {name: stored.fingerprint for name, stored in manifest.relations.items()}
        with problems.explained("write to", self.directory.where):
            relations = {name: self._snapshot(name, manifest.epoch, prints) for name in folded}
            fresh += [stored.snapshot.name for stored in relations.values()]
            self.directory.commit(replace(manifest, relations=manifest.relations | relations), fresh)
        return len(folded)

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
