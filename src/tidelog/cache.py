"""Where things are kept that can be made again: parse tables, compiled kernels."""

from __future__ import annotations

import os
from pathlib import Path


def cache_directory() -> Path:
    """$TIDELOG_CACHE, else `tidelog` in the user's cache directory. It may not exist, nor be writable."""
    if "TIDELOG_CACHE" in os.environ:
        return Path(os.environ["TIDELOG_CACHE"])
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "tidelog"
