"""The compiled kernels, as functions from integers to an integer."""

from __future__ import annotations

from functools import cache
from typing import Any

NAMES = {
    "machine": ("run_plan", "run_stratum", "now"),
    "identity": ("find_members",),
    "segments": ("update_index", "rehash_index"),
    "rebuild": ("rehash_identity", "rebuild_identity", "sample_blocks"),
}


class Kernels:
    """One attribute per entry point."""

    run_plan: Any
    run_stratum: Any
    now: Any
    find_members: Any
    update_index: Any
    rehash_index: Any
    rehash_identity: Any
    rebuild_identity: Any
    sample_blocks: Any


@cache
def load() -> Kernels:
    """Compile (or load) the kernels."""
    from importlib import import_module

    kernels = Kernels()
    for module, names in NAMES.items():
        found = import_module(f"tidelog.store.kernels.{module}")
        for name in names:
            setattr(kernels, name, getattr(found, name))
    return kernels
