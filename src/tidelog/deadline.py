"""A deadline: how long this thread may go on with what it does, looked at wherever native work pauses.

What is always true: within `within`, whoever works for long calls `check` now and then, and gets a `TimeIsUp` once the
time is over. That happens in places where an interrupt may come as well, so nothing is left half done. Cost of a look:
the clock's, some tens of nanoseconds.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from contextvars import ContextVar

_end: ContextVar[float | None] = ContextVar("end of the time", default=None)


class TimeIsUp(Exception):
    """The time that was allowed is over."""


@contextlib.contextmanager
def within(seconds: float | None) -> Iterator[None]:
    """Meanwhile the work may take so many seconds, or what is left of a deadline around it; None adds none."""
    before, end = _end.get(), None if seconds is None else time.monotonic() + seconds
    token = _end.set(before if end is None else end if before is None else min(before, end))
    try:
        yield
    finally:
        _end.reset(token)


def check() -> None:
    """Raise `TimeIsUp` if the time is over."""
    end = _end.get()
    if end is not None and time.monotonic() > end:
        raise TimeIsUp
