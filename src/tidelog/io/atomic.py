"""Replacing a file in one step, so that nobody ever sees half of it and a failed run leaves the old one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tidelog.errors import error


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A path to write to; the file takes its place when the block ends without an error.

    Folders are made as needed. What is not a plain file (/dev/null, a pipe) is written to directly.
    """
    try:
        path = path.resolve()
        if path.exists() and not path.is_file():
            if path.is_dir():
                raise IsADirectoryError(21, "it is a folder")
            yield path
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        try:
            yield temporary
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as problem:
        reason = (problem.strerror or str(problem)).lower()
        raise error("TL0630", f"cannot write to `{path}`: {reason}") from None
