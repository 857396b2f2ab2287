"""Programs that were parsed before, in the user's cache: parsing needs lark and its tables, 35 ms of a small run.

What is always true: what is found is what the parser would give again. A program is found by everything that it was
made from: its text and name, and the modules that read programs, by name, size and time, so that another version or an
edit of Tidelog finds nothing. Programs that include others or use the preprocessor are not kept, nor are those with
mistakes. What cannot be read is as if it were not there; what cannot be written is not.

Cost: a millisecond; at most MOST programs are kept.
"""

from __future__ import annotations

import os
import pickle
from contextlib import suppress
from pathlib import Path
from zlib import crc32

from tidelog.cache import cache_directory
from tidelog.errors import Diagnostic
from tidelog.lang import tree
from tidelog.version import VERSION

MOST = 200
LARGEST = 1 << 20
"""Bytes of a program that is kept; a larger one takes its time anyway."""
_PACKAGE = Path(__file__).parents[1]
_PIECES = (b"#", b".include", b".once")
"""With these the text alone does not say what the program is."""


def place_of(name: str, text: bytes) -> Path | None:
    """Where the program of this file is kept, if it is; None if it is not one to be kept. Others may lie there."""
    if len(text) > LARGEST or any(piece in text for piece in _PIECES):
        return None
    return cache_directory() / "programs" / f"{crc32(text, crc32(name.encode(errors='surrogateescape'))):08x}"


def _made_from(name: str, text: bytes) -> tuple[object, ...]:
    """All that a program depends on."""
    return VERSION, name, text, _modules(_PACKAGE), _modules(_PACKAGE / "lang")


def _modules(folder: Path) -> list[str]:
    """What tells one version of the modules in a folder from another."""
    with os.scandir(folder) as entries:
        found = [(e.name, e.stat()) for e in entries if e.name.endswith((".py", ".lark"))]
    return sorted(f"{name} {stat.st_size} {stat.st_mtime_ns}" for name, stat in found)


def kept(place: Path, name: str, text: bytes) -> tuple[tree.Program, list[Diagnostic]] | None:
    """The program, and what was odd about it."""
    try:
        with open(place, "rb") as file:
            if pickle.load(file) != _made_from(name, text):
                return None
            program, odd = pickle.load(file)
    except Exception:  # not there, cut off, somebody else's: whatever it is, the program is parsed again
        return None
    return (program, odd) if isinstance(program, tree.Program) else None


def keep(place: Path, name: str, text: bytes, program: tree.Program, odd: list[Diagnostic]) -> None:
    """For the next run; nothing if there is no room or right to."""
    temporary = place.with_name(f"{place.name}.{os.getpid()}")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        written = [pickle.dumps(part, protocol=5) for part in (_made_from(name, text), (program, odd))]
        temporary.write_bytes(b"".join(written))
        temporary.replace(place)
        _make_room(place.parent)
    except (OSError, RecursionError, pickle.PicklingError):
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def _make_room(folder: Path) -> None:
    with os.scandir(folder) as entries:
        there = list(entries)
    if len(there) > MOST:
        for entry in sorted(there, key=lambda e: e.stat().st_mtime_ns)[: len(there) - MOST * 3 // 4]:
            os.unlink(entry)
