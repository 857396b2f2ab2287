"""pyarrow without pandas, which takes a quarter of a small run to import.

When pyarrow meets its first data it imports pandas, if that is installed, to recognise pandas' objects. A command has
none of them: it looks while pandas cannot be found, and does not look again. Who imports pandas later, such as the
user's functors, gets it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import ModuleType


class _Hidden:
    """A finder that finds no pandas, and nothing of its intervals of time."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> None:
        if name in ("pandas", "dateutil"):
            raise ModuleNotFoundError(name)


def settle_without_pandas() -> None:
    """Let pyarrow decide now that it does without pandas."""
    sys.meta_path.insert(0, _Hidden)
    try:
        import pyarrow

        pyarrow.array([])
    finally:
        sys.meta_path.remove(_Hidden)
