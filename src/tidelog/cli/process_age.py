"""How long a process has been there: what a user has waited before anything of ours was called."""

from __future__ import annotations

import os
import time
from pathlib import Path

_IMPORTED = time.perf_counter()


def seconds_since_start() -> float:
    """Since the process was started, to a hundredth of a second; where the system does not say, since this was
    imported."""
    try:
        started = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19]) / os.sysconf("SC_CLK_TCK")
        return max(0.0, time.clock_gettime(time.CLOCK_BOOTTIME) - started)
    except (OSError, AttributeError, ValueError, IndexError):
        return time.perf_counter() - _IMPORTED
