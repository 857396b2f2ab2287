"""How much memory this process can have before the system ends it without a word.

What bounds it: the machine, and every control group above the process (a container is one), of version 2
(`memory.max`) or 1 (`memory.limit_in_bytes`). Of each, a tenth is left alone: for what nobody announces, and others.
Where less than a fifth of it is free, half of what is free is left alone.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tidelog.room import resident_bytes


class MemoryScope(NamedTuple):
    """Something that bounds memory: bytes that it has, and of these the ones that are free or can be freed."""

    total: int
    available: int

    @property
    def headroom(self) -> int:
        return max(self.available - self.total // 10, self.available // 2, 0)


def default_memory(share: float = 1.0, root: Path = Path("/"), own: int | None = None) -> int | None:
    """The size that this process may grow to: its own now, and its share of what it could get besides. None if nothing
    is known. `root` is where the system's files are, and `own` the process's size, unless they are the real ones."""
    scopes = [*_machine(root), *_groups(root)]
    if not scopes:
        return None
    own = resident_bytes() if own is None else own
    return own + int(share * min(scope.headroom for scope in scopes))


def _machine(root: Path) -> Iterator[MemoryScope]:
    found = _table(root / "proc/meminfo")
    if "MemTotal:" in found:
        total = found["MemTotal:"] * 1024
        yield MemoryScope(total, found.get("MemAvailable:", found["MemTotal:"]) * 1024)
    elif root == Path("/") and "SC_PHYS_PAGES" in os.sysconf_names:
        total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGESIZE")
        yield MemoryScope(total, total)


def _groups(root: Path) -> Iterator[MemoryScope]:
    """The control groups above this process that have a limit."""
    mounted = root / "sys/fs/cgroup"
    for line in _text(root / "proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers == "":
            for mount in (mounted, mounted / "unified"):
                for group in _above(mount, path):
                    yield from _scope(group, "memory.max", "memory.current", "inactive_file")
        elif "memory" in controllers.split(","):
            for group in _above(mounted / "memory", path):
                yield from _scope(group, "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")


def _above(mount: Path, path: str) -> Iterator[Path]:
    """A group and those that it is in. Inside of a container the path may be the host's and not be there; the
    container's own group is then what is mounted."""
    group = mount / path.strip("/")
    yield from (place for place in (group, *group.parents) if place == mount or mount in place.parents)


def _scope(group: Path, limit: str, current: str, reclaimable: str) -> Iterator[MemoryScope]:
    most = _text(group / limit).strip()
    if most.isdigit():
        used = _text(group / current).strip()
        files = _table(group / "memory.stat").get(reclaimable, 0)
        in_use = max(int(used) - files, 0) if used.isdigit() else 0
        yield MemoryScope(int(most), max(int(most) - in_use, 0))


def _table(path: Path) -> dict[str, int]:
    """The numbers of a file with a name and a number per line."""
    words = (line.split() for line in _text(path).splitlines())
    return {word[0]: int(word[1]) for word in words if len(word) > 1 and word[1].isdigit()}


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""
