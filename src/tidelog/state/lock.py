"""One writer at a time: a file that says who it is.

What is always true on a local disk: of several processes that want the lock, one gets it; the lock of a process of
this machine that has ended, however it ended, is taken over, and so is one that this process has given up and could not
remove. A lock of another machine stays until it is released: nobody here can know whether its owner lives. On object
stores two writers that come within the same instant may both believe to have it; they then find out before they write
an epoch (`check`).
"""

from __future__ import annotations

import contextlib
import getpass
import json
import os
import socket
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tidelog.plain import asdict, dataclass, field
from tidelog.state import problems
from tidelog.state.files import Files

NAME = "lock.json"
_held: set[str] = set()  # the tokens of the locks that this process has


@dataclass(frozen=True)
class Owner:
    """Who writes. `born` tells a process from a later one with the same number."""

    host: str
    pid: int
    user: str
    started: str
    born: str = ""
    token: str = field(default_factory=lambda: uuid.uuid4().hex)

    @staticmethod
    def me() -> Owner:
        return Owner(socket.gethostname(), os.getpid(), _user(), now(), _born(os.getpid()))

    @property
    def is_gone(self) -> bool:
        """Whether it is known that the process has ended, or no longer writes."""
        if self.host != socket.gethostname():
            return False
        if self.pid == os.getpid() and self.born == _born(self.pid):
            return self.token not in _held
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return True
        except PermissionError:
            pass
        return bool(self.born) and _born(self.pid) != self.born

    def __str__(self) -> str:
        return f"process {self.pid} of {self.user} on {self.host}, for {_age(self.started)}"


class Lock:
    """The lock of a state directory, held."""

    def __init__(self, files: Files, owner: Owner) -> None:
        self.files, self.owner = files, owner

    @staticmethod
    def take(files: Files) -> Lock:
        """Take the lock; an error that names its owner if someone has it."""
        lock = Lock(files, Owner.me())
        _held.add(lock.owner.token)
        try:
            with problems.explained("write to", files.where):
                files.make_folder("")
                with files.guarded():
                    holder = read_owner(files)
                    if holder is not None and not holder.is_gone:
                        raise problems.locked(files.where, str(holder))
                    text = json.dumps(asdict(lock.owner), indent=1) + "\n"
                    files.replace(NAME, lambda sink: sink.write(text.encode()))
                lock.check()
        except BaseException:
            lock.release()  # the file may be in place, though something behind it failed
            raise
        return lock

    def check(self) -> None:
        """That it is still ours."""
        holder = read_owner(self.files)
        if holder is None or holder.token != self.owner.token:
            raise problems.locked(self.files.where, str(holder or "someone who removed the lock"))

    def release(self) -> None:
        """Let others write; if the file cannot be removed, not even at the second try, when this process has ended."""
        _held.discard(self.owner.token)
        for _ in range(2):
            with contextlib.suppress(OSError):
                holder = read_owner(self.files)
                if holder is not None and holder.token == self.owner.token:
                    self.files.remove(NAME)
                return


def read_owner(files: Files) -> Owner | None:
    """Who has the lock. One that cannot be read belongs to someone who died while writing it."""
    try:
        data: dict[str, Any] = json.loads(files.read(NAME))
        return Owner(**data)
    except (FileNotFoundError, ValueError, TypeError):
        return None


def break_lock(files: Files, pid: int | None = None) -> Owner | None:
    """Remove the lock, whoever has it, or only if it is this process; who had it."""
    holder = read_owner(files)
    if holder is None or (pid is not None and holder.pid != pid):
        return None
    with problems.explained("write to", files.where), contextlib.suppress(FileNotFoundError):
        files.remove(NAME)
    return holder


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _age(started: str) -> str:
    try:
        seconds = (datetime.now(UTC) - datetime.fromisoformat(started)).total_seconds()
    except ValueError:
        return "an unknown time"
    for size, unit in ((86400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} seconds"


def _born(pid: int) -> str:
    """When a process was started, as the system counts; empty where that cannot be known."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "?"
