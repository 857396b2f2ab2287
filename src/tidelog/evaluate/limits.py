"""Limits that end a run, and the observer that watches it.

A program may diverge (arithmetic in recursion); these ends are clean: an error that says how far the run got.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from typing import Protocol

from tidelog.errors import TidelogError, error


class Observer(Protocol):
    """What someone who watches a run is told."""

    def stratum(self, number: int, total: int, relations: tuple[str, ...]) -> None: ...

    def progress(self, iteration: int, tuples: int) -> None: ...


class Silent:
    """Watches nothing."""

    def stratum(self, number: int, total: int, relations: tuple[str, ...]) -> None:
        pass

    def progress(self, iteration: int, tuples: int) -> None:
        pass


@dataclass
class Limits:
    """None means no limit. Memory is in bytes, time in seconds."""

    max_iterations: int | None = None
    max_memory: int | None = None
    timeout: float | None = None
    started: float = field(default_factory=time.monotonic)
    relations: tuple[str, ...] = ()

    def check(self, iteration: int, tuples: int) -> None:
        if self.max_iterations is not None and iteration > self.max_iterations:
            raise self._reached("TL0901", f"the limit of {self.max_iterations:,} iterations", iteration, tuples)
        if self.timeout is not None and time.monotonic() - self.started > self.timeout:
            raise self._reached("TL0902", f"the time limit of {self.timeout:g} s", iteration, tuples)
        if self.max_memory is not None and resident_bytes() > self.max_memory:
            raise self._reached("TL0903", f"the memory limit of {self.max_memory / 2**20:,.0f} MiB", iteration, tuples)

    def _reached(self, code: str, what: str, iteration: int, tuples: int) -> TidelogError:
        where = ", ".join(self.relations[:5]) + (", …" if len(self.relations) > 5 else "")
        return error(
            code,
            f"{what} was reached in iteration {iteration:,} of {where or 'the program'}, "
            f"with {tuples:,} tuples in {'its relations' if len(self.relations) != 1 else 'it'}",
            help="if the rules can make new values for ever (arithmetic in recursion), bound them with a constraint",
        )


def resident_bytes() -> int:
    """The memory that this process has now."""
    try:
        with open("/proc/self/statm", encoding="ascii") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGESIZE")
    except OSError:
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
