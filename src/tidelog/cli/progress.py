"""Progress on long runs: a live line on a terminal, plain log lines elsewhere; nothing for the first two seconds."""

from __future__ import annotations

import sys
import time
from types import TracebackType

from tidelog.evaluate.limits import resident_bytes

PATIENCE = 2.0
TERMINAL_INTERVAL = 0.1
LOG_INTERVAL = 5.0
SHORTEST = 0.05
"""Seconds below which nothing can be said of a rate."""


class Progress:
    """An evaluate.limits.Observer that writes to standard error."""

    def __init__(self) -> None:
        self.started = self.last = time.monotonic()
        self.live = sys.stderr.isatty()
        self.where = "reading facts"
        self.iteration = self.tuples = 0
        self.before: tuple[float, int] | None = None
        self.shown = False
        self.elsewhere: int | None = None

    def __enter__(self) -> Progress:
        """A run begins, or the next epoch of a session: patience starts again."""
        self.started = self.last = time.monotonic()
        self.shown = False
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.live and self.shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    def stratum(self, number: int, total: int, relations: tuple[str, ...]) -> None:
        names = ", ".join(relations[:3]) + (f" and {len(relations) - 3} more" if len(relations) > 3 else "")
        self.where = f"stratum {number + 1}/{total} ({names})"
        self.iteration = self.tuples = 0
        self.before = None

    def memory(self, size: int) -> None:
        """The evaluation has another process, which has this much memory."""
        self.elsewhere = size

    def note(self, text: str) -> None:
        """A line that is shown at once, such as that kernels are being compiled."""
        print(text, file=sys.stderr, flush=True)

    def progress(self, iteration: int, tuples: int) -> None:
        self.iteration, self.tuples = iteration, tuples
        now = time.monotonic()
        if self.before is None or tuples < self.before[1]:
            self.before = (now, tuples)  # what was there when the stratum began was not made in no time
        interval = TERMINAL_INTERVAL if self.live else LOG_INTERVAL
        if now - self.started < PATIENCE or now - self.last < interval:
            return
        seconds, counted = now - self.before[0], tuples - self.before[1]
        rate = f", {counted / seconds:,.0f} tuples/s" if seconds >= SHORTEST else ""
        self.last, self.shown = now, True
        if rate:
            self.before = (now, tuples)
        size = resident_bytes() if self.elsewhere is None else self.elsewhere
        text = f"{self.state()}{rate}, {size / 2**20:,.0f} MiB"
        if self.live:
            print(f"\r{text}\x1b[K", end="", file=sys.stderr, flush=True)
        else:
            print(text, file=sys.stderr, flush=True)

    def state(self) -> str:
        return f"{self.where}, iteration {self.iteration:,}, {self.tuples:,} tuples"

    def interrupted(self) -> str:
        return f"interrupted after {time.monotonic() - self.started:.1f} s: {self.state()}; nothing was written"
