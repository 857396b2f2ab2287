"""A state directory: its files, the lock, and the manifest that says which of the files count.

    manifest.json                          replaced at the end of every epoch
    lock.json                              who writes
    log/<epoch>.parquet                    a change set that is being evaluated
    snapshots/<relation>-<epoch>.parquet   all tuples at the end of an epoch
    changes/<relation>-<epoch>.parquet     what an epoch did (or several, if files were merged)

What is always true: the manifest on disk is that of the last epoch that ended; files that it does not name are left
over from an epoch that did not end, or from before a compaction, and are removed by the next writer.
"""

from __future__ import annotations

import contextlib
import os
import weakref
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

from tidelog.errors import TidelogError
from tidelog.state import problems
from tidelog.state.files import Files
from tidelog.state.lock import NAME as LOCK
from tidelog.state.lock import Lock
from tidelog.state.manifest import FOLDERS, LOG, NAME, Manifest, read_manifest

SYNCS = 8
"""Files that are made safe at a time: the disk does that for several as quickly as for one."""


class StateDirectory:
    """See the module's docstring. Open until `close`; for writing if it has the lock."""

    def __init__(self, files: Files, manifest: Manifest | None, lock: Lock | None) -> None:
        self.files, self.manifest, self.lock = files, manifest, lock

    @staticmethod
    def open(place: str | os.PathLike[str], read_only: bool = False) -> StateDirectory:
        files = Files.at(place)
        if read_only:
            return StateDirectory(files, read_manifest(files), None)
        read_manifest(files)  # a state of a newer format is not even locked
        lock = Lock.take(files)
        try:
            directory = StateDirectory(files, read_manifest(files), lock)
            weakref.finalize(directory, lock.release)  # whoever forgets to close it does not lock others out for ever
            with problems.explained("write to", files.where):
                for folder in FOLDERS:
                    files.make_folder(folder)
            directory.clean()
        except BaseException:
            lock.release()
            raise
        return directory

    @property
    def where(self) -> str:
        return self.files.where

    def commit(self, manifest: Manifest, fresh: Iterable[str]) -> BaseException | None:
        """Make an epoch last: its fresh files, then the manifest. An error leaves the directory at the epoch before.

        What is returned came when the epoch had ended already, and is to be raised once everybody knows that.
        """
        if self.lock is None:
            raise problems.not_writing(self.where)
        self.lock.check()
        self._make_safe(list(fresh))
        late = None
        try:
            self.files.replace(NAME, lambda sink: sink.write(manifest.to_json().encode()))
        except BaseException as problem:
            if not self._has_ended(manifest):
                raise
            late = None if isinstance(problem, OSError) else problem
        past, self.manifest = self.manifest, manifest
        if past is not None:
            self.remove(past.names() - manifest.names())
        return late

    def _has_ended(self, manifest: Manifest) -> bool:
        """Whether the manifest is in place, though its replacement failed. If that cannot be known, it is the end of
        writing: the next one who opens the directory will see."""
        try:
            return read_manifest(self.files) == manifest
        except TidelogError:
            self.close()
            raise

    def _make_safe(self, names: list[str]) -> None:
        with ThreadPoolExecutor(SYNCS) as pool:
            list(pool.map(self.files.sync, names))
        for folder in {name.rpartition("/")[0] for name in names}:
            self.files.sync_folder(folder)

    def remove(self, names: Iterable[str]) -> None:
        """Remove files that no manifest names; what cannot be removed now is left for the next writer."""
        for name in names:
            with contextlib.suppress(OSError):
                self.files.remove(name)

    def clean(self) -> None:
        """Remove what is left over from epochs that did not end."""
        wanted = set() if self.manifest is None else self.manifest.names()
        epoch = 0 if self.manifest is None else self.manifest.epoch
        for folder in FOLDERS:
            for base in self.files.sizes(folder):
                pending = folder == LOG and base == f"{epoch + 1:010}.parquet" and epoch
                if f"{folder}/{base}" not in wanted and not pending:
                    self.remove([f"{folder}/{base}"])
        self.remove(n for n in self.files.sizes("") if n.endswith(".tmp") and n.startswith((NAME, LOCK)))

    def close(self) -> None:
        if self.lock is not None:
            self.lock.release()
            self.lock = None
