"""Processes of this one: started safely, watched, ended, and never left behind.

What is always true of a child: it imports what this process would, and nothing that happens to lie in the working
folder; it hears no interrupt, because its parent decides what becomes of it; it prints to standard error; and it ends
when its standard input does, which only its parent holds. The first thing on its standard input is its *order*: bytes
whose meaning the two agree on, and that no list of processes shows.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import struct
import subprocess
import sys
import threading

from tidelog.errors import error
from tidelog.wire.rendezvous import WorkerLost

_LENGTH = struct.Struct("!Q")
_LOOK = 1.0
"""Seconds after which a child looks whether it has another parent now: one that was forked holds its pipe as well."""


FEW, FOR_EACH_CORE = 16, 8
"""How many children a machine may always be asked for, and how many for each of its cores."""


def refuse_too_many(wanted: int) -> None:
    """More processes than the machine could ever run side by side stop it for minutes, and everybody on it."""
    cores = os.cpu_count() or 1
    most = max(FEW, FOR_EACH_CORE * cores)
    if wanted > most:
        raise error(
            "TL1277", f"{wanted:,} processes are more than this machine can run: it has {cores} cores",
            help=f"ask for at most {most}; one for each core is the fastest",
        )  # fmt: skip


class Child:
    """A child, as its parent sees it: `python -m` one of our modules, whose `main` asks `order` for its order."""

    def __init__(self, module: str) -> None:
        command = [sys.executable, *_flags(), "-m", module, str(os.getpid())]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=2, process_group=0)

    @property
    def pid(self) -> int:
        return self._process.pid

    def employ(self, order: bytes) -> None:
        """Let it begin; if it is gone, `alive` says so."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.write(_LENGTH.pack(len(order)) + order)
            self._process.stdin.flush()

    def alive(self) -> None:
        """Raise `WorkerLost` if it has ended."""
        if (status := self._process.poll()) is not None:
            ended = f"was ended by {signal.Signals(-status).name}" if status < 0 else f"has ended with status {status}"
            raise WorkerLost(f"process {self.pid} {ended}")

    def end(self, patience: float) -> None:
        """Wait for it to end; if it does not, kill it."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(patience)
        self._process.kill()
        self._process.wait()
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()


def _flags() -> list[str]:
    """What Python is told so that a child imports what this process would.

    Without `-P`, Python puts the working folder first: a `zmq.py` there would be run.
    """
    flags = sys.flags
    asked = {"-I": flags.isolated, "-E": flags.ignore_environment, "-s": flags.no_user_site, "-S": flags.no_site}
    return ["-P", *(flag for flag, is_set in asked.items() if is_set)]


def order() -> bytes | None:
    """In a child: its order; None if its parent has ended, or needs no child. From then on it ends with its parent."""
    source, parent = sys.stdin.buffer, int(sys.argv[1])
    header = source.read(_LENGTH.size) if _is_told(parent) else b""
    if len(header) < _LENGTH.size:
        return None
    found = source.read(*_LENGTH.unpack(header))
    threading.Thread(target=_end_with, args=(parent,), name="tidelog-parent", daemon=True).start()
    return found


def _is_told(parent: int) -> bool:
    """Wait for something on standard input, its end for instance; False if the parent is gone."""
    while os.getppid() == parent:
        if select.select([sys.stdin], [], [], _LOOK)[0]:
            return True
    return False


def _end_with(parent: int) -> None:
    _is_told(parent)  # after the order that can only be the end
    os._exit(1)
