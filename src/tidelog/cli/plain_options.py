"""A `tidelog run` with the usual options, read without typer, which takes longer to import than a small run takes.

What is always true: what this reads means what typer would make of it (a test compares); whatever it does not know for
certain, mistakes among it, it leaves to typer, which says what is wrong in its own words.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

WITH_VALUE: dict[str, tuple[str, type]] = {
    "-F": ("fact_dir", Path), "--fact-dir": ("fact_dir", Path), "-D": ("output_dir", Path),
    "--output-dir": ("output_dir", Path), "-j": ("jobs", str), "--jobs": ("jobs", str), "-p": ("profile", str),
    "--profile": ("profile", str),
}  # fmt: skip
SWITCHES = {"--local": "local", "-w": "no_warn", "--no-warn": "no_warn", "-v": "verbose", "--verbose": "verbose"}


def plain_run(arguments: Sequence[str]) -> dict[str, Any] | None:
    """The parameters of a local run, if these arguments ask for one and nothing in them is unusual."""
    if not arguments or arguments[0] != "run":
        return None
    found: dict[str, Any] = {}
    rest = iter(arguments[1:])
    for word in rest:
        if word in SWITCHES:
            found[SWITCHES[word]] = True
        elif word in WITH_VALUE:
            name, kind = WITH_VALUE[word]
            value = next(rest, "")
            if not value or name in found or (value.startswith("-") and value != "-"):
                return None
            found[name] = kind(value)
        elif word.startswith("-") or not word or "program" in found:
            return None
        else:
            found["program"] = Path(word)
    return found if "program" in found and "local" in found else None
