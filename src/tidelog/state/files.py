"""The files of a state directory: what a file system must do for it, for the local disk and for any other.

What is always true: a file that `replace` has written is there as a whole or not at all, whatever happens when; one
that `write` has written may be there in part until `sync`. On the local disk that takes fsync of the file and of its
folder; on object stores, which `pyarrow.fs` reaches, a file appears when its stream is closed.

Each method of a subclass is one operation on the file system; the tests let each of them fail, or be the last.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import pyarrow as pa
from pyarrow import fs

from tidelog.errors import error
from tidelog.plain import dataclass


class Sink(Protocol):
    """Where bytes can be written to."""

    def write(self, data: Any) -> Any: ...

    def close(self) -> None: ...


@dataclass(frozen=True)
class Written:
    """What is known of a file that was written."""

    bytes: int
    sha256: str


class Hashing:
    """A sink that knows what it was given. It is a file as far as pyarrow needs one."""

    def __init__(self, sink: Sink) -> None:
        self._sink, self._hash, self._bytes = sink, hashlib.sha256(), 0
        self.closed = False

    def write(self, data: Any) -> int:
        view = memoryview(data).cast("B")
        self._sink.write(view)
        self._hash.update(view)
        self._bytes += len(view)
        return len(view)

    def tell(self) -> int:
        return self._bytes

    def flush(self) -> None:
        """Nothing is held back here."""

    def close(self) -> None:
        """Whoever opened the sink closes it; pyarrow calls this when it is done writing."""
        self.closed = True

    def writable(self) -> bool:
        return True

    def readable(self) -> bool:
        return False

    def seekable(self) -> bool:
        return False

    @property
    def written(self) -> Written:
        return Written(self._bytes, self._hash.hexdigest())


class Files(ABC):
    """A folder of files, by names relative to it."""

    where: str
    """How messages call it."""

    @staticmethod
    def at(place: str | os.PathLike[str]) -> Files:
        """The folder of a path or URI."""
        text = os.fspath(place)
        if "://" not in text:
            return LocalFiles(Path(text))
        try:
            system, path = fs.FileSystem.from_uri(text)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as problem:
            raise error("TL1106", f"the state directory {text} is in no file system that is known: {problem}",
                        help="give a path, or a URI such as s3://bucket/state") from None  # fmt: skip
        return LocalFiles(Path(path)) if isinstance(system, fs.LocalFileSystem) else RemoteFiles(system, path, text)

    # ---- operations

    @abstractmethod
    def make_folder(self, folder: str) -> None: ...

    @abstractmethod
    def create(self, name: str) -> Sink: ...

    @abstractmethod
    def sync(self, name: str) -> None: ...

    @abstractmethod
    def sync_folder(self, folder: str) -> None: ...

    @abstractmethod
    def rename(self, old: str, new: str) -> None: ...

    @abstractmethod
    def remove(self, name: str) -> None: ...

    @abstractmethod
    def read(self, name: str) -> bytes: ...

    @abstractmethod
    def open(self, name: str) -> Any:
        """The file, for pyarrow to read from."""

    @abstractmethod
    def sizes(self, folder: str) -> dict[str, int]:
        """The files in a folder, by name, with their sizes."""

    @abstractmethod
    def guarded(self) -> contextlib.AbstractContextManager[None]:
        """Nobody else is in here, so far as the file system can see to it."""

    # ---- what they amount to

    def write(self, name: str, fill: Callable[[Any], None]) -> Written:
        """A new file with what `fill` writes; not safe before `sync`."""
        sink = self.create(name)
        try:
            hashing = Hashing(sink)
            fill(hashing)
        except BaseException:
            with contextlib.suppress(OSError):
                sink.close()
            raise
        sink.close()
        return hashing.written

    def replace(self, name: str, fill: Callable[[Any], None]) -> Written:
        """The file with what `fill` writes, in one step."""
        temporary = f"{name}.{os.getpid()}.tmp"
        try:
            written = self.write(temporary, fill)
            self.sync(temporary)
            self.rename(temporary, name)
        except BaseException:
            with contextlib.suppress(OSError):
                self.remove(temporary)
            raise
        self.sync_folder(name.rpartition("/")[0])
        return written


class LocalFiles(Files):
    """Files on a disk of this machine."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.where = str(root)

    def _path(self, name: str) -> str:
        return os.path.join(self.root, name)

    def make_folder(self, folder: str) -> None:
        os.makedirs(self._path(folder), exist_ok=True)

    def create(self, name: str) -> BinaryIO:
        return open(self._path(name), "wb")

    def sync(self, name: str) -> None:
        self._sync(self._path(name), os.O_RDONLY)

    def sync_folder(self, folder: str) -> None:
        self._sync(self._path(folder), os.O_RDONLY | os.O_DIRECTORY)

    def _sync(self, path: str, flags: int) -> None:
        descriptor = os.open(path, flags)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def rename(self, old: str, new: str) -> None:
        os.replace(self._path(old), self._path(new))

    def remove(self, name: str) -> None:
        os.unlink(self._path(name))

    def read(self, name: str) -> bytes:
        return Path(self._path(name)).read_bytes()

    def open(self, name: str) -> Any:
        return pa.memory_map(self._path(name))

    def sizes(self, folder: str) -> dict[str, int]:
        path = self._path(folder)
        if not os.path.isdir(path):
            return {}
        found = {}
        for entry in os.scandir(path):
            with contextlib.suppress(FileNotFoundError):
                if entry.is_file():
                    found[entry.name] = entry.stat().st_size
        return found

    @contextlib.contextmanager
    def guarded(self) -> Iterator[None]:
        descriptor = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY)
        try:
            with contextlib.suppress(OSError):  # a file system without locks: the lock's own file must do
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)


class RemoteFiles(Files):
    """Files of any file system that `pyarrow.fs` reaches. A file is there when its stream is closed."""

    def __init__(self, system: fs.FileSystem, root: str, where: str) -> None:
        self.system, self.root, self.where = system, root.rstrip("/"), where

    def _path(self, name: str) -> str:
        return f"{self.root}/{name}" if name else self.root

    def make_folder(self, folder: str) -> None:
        self.system.create_dir(self._path(folder), recursive=True)

    def create(self, name: str) -> Sink:
        sink: Sink = self.system.open_output_stream(self._path(name))
        return sink

    def sync(self, name: str) -> None:
        """Closing has done it."""

    def sync_folder(self, folder: str) -> None:
        """There are no folders."""

    def replace(self, name: str, fill: Callable[[Any], None]) -> Written:
        return self.write(name, fill)

    def rename(self, old: str, new: str) -> None:
        self.system.move(self._path(old), self._path(new))

    def remove(self, name: str) -> None:
        self.system.delete_file(self._path(name))

    def read(self, name: str) -> bytes:
        with self.system.open_input_stream(self._path(name)) as source:
            return bytes(source.read())

    def open(self, name: str) -> Any:
        return self.system.open_input_file(self._path(name))

    def sizes(self, folder: str) -> dict[str, int]:
        found = self.system.get_file_info(fs.FileSelector(self._path(folder), allow_not_found=True))
        return {info.base_name: info.size for info in found if info.type == fs.FileType.File}

    @contextlib.contextmanager
    def guarded(self) -> Iterator[None]:
        yield
