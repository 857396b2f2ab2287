"""That driver and worker mean the same place by a state directory.

A path is a place on each machine, and on a cluster it may be another one: a state in the scratch folder of an executor
is gone with the executor. So before a worker opens a state, the driver puts a file with a random name there, and the
worker looks for it. What is always true: a worker that does not find it changes nothing. A session that only reads puts
nothing there; a state that its worker does not find is an error anyway.
"""

from __future__ import annotations

import contextlib
import os
import socket
import time
import uuid
from types import TracebackType

from tidelog.errors import error
from tidelog.local import Settings
from tidelog.state import problems
from tidelog.state.files import Files, LocalFiles

_PATIENCE = 3.0
"""Seconds that a file may take to be seen: network file systems remember for a while what was there before."""


def absolute(place: str | os.PathLike[str]) -> str:
    """A state directory by a name that does not depend on the folder that a process is in."""
    text = os.fspath(place)
    return text if "://" in text else os.path.abspath(text)


class CommonPlace:
    """The driver's part: while it is entered, the file is there. `token` is its name, empty if there is no need for it:
    without a state, and if the worker is on this machine and not `elsewhere`."""

    def __init__(self, settings: Settings, elsewhere: bool) -> None:
        self.token = ""
        self._files: Files | None = None
        if settings.state is not None and elsewhere and not settings.read_only:
            self._files = Files.at(settings.state)

    def __enter__(self) -> CommonPlace:
        if self._files is not None:
            token = f"seen-{uuid.uuid4()}.tmp"
            with problems.explained("write to", self._files.where):
                self._made = isinstance(self._files, LocalFiles) and not os.path.exists(self._files.root)
                self._files.make_folder("")
                self._files.write(token, lambda sink: sink.write(b"the worker looks for this file"))
            self.token = token
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._files is None or not self.token:
            return
        with contextlib.suppress(OSError):
            self._files.remove(self.token)
            if kind is not None and self._made and isinstance(self._files, LocalFiles):
                os.rmdir(self._files.root)  # if nothing came of it


def check_common_place(settings: Settings, token: str) -> None:
    """The worker's part: raise if this is not the driver's place."""
    if not token or settings.state is None:
        return
    files = Files.at(settings.state)
    deadline = time.monotonic() + _PATIENCE
    while not _has(files, token):
        if time.monotonic() > deadline:
            raise error(
                "TL1242", f"the state directory {files.where} of the driver is not there on {socket.gethostname()}, "
                "where the worker is",
                help="give a place that all machines see by the same name: a folder of a shared file system, or a URI "
                "such as s3://bucket/state",
            )  # fmt: skip
        time.sleep(0.1)


def _has(files: Files, token: str) -> bool:
    try:
        return bool(files.read(token))
    except OSError:
        return False
