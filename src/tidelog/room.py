"""Room: how much memory this process may have, asked before a large piece is taken.

What is always true: within `limited`, whoever is about to take a large piece of memory says so with `ensure` first, and
gets a `MemoryLimit` instead if the process would be larger than it may; nothing has been changed then. Threads that
work for another take its limit along (`Crew`). Cost: a look at the process's size takes some microseconds, so pieces
below `LARGE` are not announced; whoever makes many of them looks now and then.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import sys
from collections.abc import Callable, Iterator
from contextvars import ContextVar

LARGE = 1 << 22

relief: list[Callable[[], object]] = [gc.collect]
"""What gives memory back that nobody uses; called before anyone is refused."""

_limit: ContextVar[int | None] = ContextVar("limit of memory", default=None)


class MemoryLimit(MemoryError):
    """The process would be larger than it may be: bytes in use, bytes wanted besides, and the limit."""

    def __init__(self, used: int, wanted: int, limit: int) -> None:
        super().__init__(f"{used:,} bytes are in use, {wanted:,} more were wanted, and the limit is {limit:,}")
        self.used, self.wanted, self.limit = used, wanted, limit


@contextlib.contextmanager
def limited(limit: int | None) -> Iterator[None]:
    """Meanwhile this process may have so many bytes, so far as this thread is concerned; None is no limit."""
    token = _limit.set(limit)
    try:
        yield
    finally:
        _limit.reset(token)


def ensure(nbytes: int = 0, otherwise: int | None = None) -> None:
    """See to it that there is room for so many bytes more, or raise a `MemoryLimit`. Where no limit holds there may be
    another one, for this time."""
    if 0 < nbytes < LARGE:
        return
    limit = _limit.get()
    limit = otherwise if limit is None else limit
    if limit is None or resident_bytes() + nbytes <= limit:
        return
    for give_back in relief:
        give_back()
    used = resident_bytes()
    if used + nbytes > limit:
        raise MemoryLimit(used, nbytes, limit)


def resident_bytes() -> int:
    """The memory that this process has now: not files that are mapped into it, which the system can take back."""
    try:
        with open("/proc/self/statm", encoding="ascii") as statm:
            _, resident, shared, *_ = map(int, statm.read().split())
            return (resident - shared) * os.sysconf("SC_PAGESIZE")
    except OSError:
        import resource

        size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # the greatest so far; macOS counts in bytes
        return size if sys.platform == "darwin" else size * 1024


def trim() -> None:
    """Have the C library and Arrow give back what they keep for later."""
    if "pyarrow" in sys.modules:
        sys.modules["pyarrow"].default_memory_pool().release_unused()
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)


relief.append(trim)
