"""The `tidelog` command in a process of its own, which is a copy of this one.

A copy has imported everything already: it takes some milliseconds where a new interpreter takes a second. The tests
that interrupt a command, or sit at a terminal, start a new one.
"""

from __future__ import annotations

import os
import subprocess
import sys
import traceback
from pathlib import Path
from tempfile import TemporaryFile
from typing import NoReturn

import pandas  # noqa: F401 (this and the next, so that copies need not)

from tidelog import net  # noqa: F401
from tidelog.cli import interpreter, main  # noqa: F401
from tidelog.store import native

native.load()


def tidelog(*args: object, cwd: Path | None = None, stdin: str | bytes = "") -> subprocess.CompletedProcess[str]:
    """What the command prints, and its status."""
    command = ["tidelog", *map(str, args)]
    with TemporaryFile() as given, TemporaryFile() as out, TemporaryFile() as err:
        given.write(stdin if isinstance(stdin, bytes) else stdin.encode())
        given.seek(0)
        child = os.fork()
        if child == 0:
            _become(command, cwd, [stream.fileno() for stream in (given, out, err)])
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        for stream in (out, err):
            stream.seek(0)
        return subprocess.CompletedProcess(command, status, out.read().decode(), err.read().decode())


def _become(command: list[str], cwd: Path | None, streams: list[int]) -> NoReturn:
    """Run a command and end."""
    status = 0
    try:
        for target, stream in enumerate(streams):
            os.dup2(stream, target)
        sys.stdin, sys.stdout = open(0, closefd=False), open(1, "w", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", errors="backslashreplace", closefd=False)  # noqa: SIM115
        sys.argv = command
        if cwd is not None:
            os.chdir(cwd)
        main.main()
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:  # as an interpreter would
        status = 1
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        if not sys.stderr.closed:
            sys.stderr.flush()
        os._exit(status)
