"""What a run starts from: the text of a program, facts, bursts of updates."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tidelog.errors import Report, Source, error
from tidelog.lang import ndlog
from tidelog.net.program import NetProgram, is_timed, parse_facts, parse_updates
from tidelog.net.values import Fact, Update


def read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        reason = "there is no such file" if isinstance(problem, FileNotFoundError) else str(problem)
        raise error("TL0115", f"cannot read {path}: {reason}") from None


def is_about_time(path: Path) -> bool:
    """Whether the program has lifetimes or `periodic`; what is wrong with it is reported by whoever loads it."""
    return is_timed(ndlog.parse_into(Source(str(path), read_text(path)), Report()))


def load_facts(path: Path, program: NetProgram) -> list[Fact]:
    return parse_facts(read_text(path), program, str(path))


def load_bursts(path: Path, program: NetProgram) -> list[list[Update]]:
    """The bursts of an updates file: blank lines separate them."""
    return [parse_updates(text, program, str(path)) for text in split_bursts(read_text(path))]


_AT = re.compile(r"\s*at\s+(\d+(?:\.\d+)?)\s*:?\s*$")


def load_timed_bursts(path: Path, program: NetProgram) -> list[tuple[float, list[Update]]]:
    """The bursts of an updates file, each behind a line `at TIME`."""
    found: list[tuple[float, list[Update]]] = []
    for text in split_bursts(read_text(path)):
        lines = text.split("\n")
        first = next(i for i, line in enumerate(lines) if line.strip() and not line.strip().startswith(("//", "#")))
        when = _AT.match(lines[first])
        if when is None:
            raise error(
                "TL1069", f"{path}, line {first + 1}: when does this happen?",
                help="in a program about time, each burst begins with a line such as `at 12.5`",
            )  # fmt: skip
        lines[first] = ""
        found.append((float(when.group(1)), parse_updates("\n".join(lines), program, str(path))))
    return found


def split_bursts(text: str) -> Iterator[str]:
    """The text of each burst behind as many empty lines as stood before it, so that errors show the right line."""
    lines = text.splitlines()
    start = 0
    for end in range(len(lines) + 1):
        if end == len(lines) or not lines[end].strip():
            chunk = lines[start:end]
            if any(line.strip() and not line.strip().startswith(("//", "#")) for line in chunk):
                yield "\n" * start + "\n".join(chunk) + "\n"
            start = end + 1
