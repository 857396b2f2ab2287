"""The way from a file to a checked program, as all commands go it. Nothing of typer is here: a plain run needs none."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidelog.analysis.checked import Checked
from tidelog.errors import Diagnostic, Report, TidelogError, condensed, error, in_source_order, render
from tidelog.plain import replace

if TYPE_CHECKING:
    from tidelog.lang import tree
    from tidelog.local.epoch import Epoch


def parse_macros(given: list[str] | None) -> dict[str, str]:
    """`-M "A=1 B"` as Soufflé takes it."""
    found = {}
    for text in given or ():
        for part in text.split():
            name, _, value = part.partition("=")
            found[name] = value or "1"
    return found


def parse_file(path: Path, include_dirs: list[Path] | None, macros: list[str] | None, report: Report) -> tree.Program:
    from tidelog.lang.load import load_program

    return load_program(path, report, include_dirs or (), parse_macros(macros))


def checked_file(
    path: Path,
    include_dirs: list[Path] | None,
    macros: list[str] | None,
    no_warnings: bool = False,
    legacy: bool = False,
) -> Checked:
    """The checked program of a file; warnings are shown, and all errors raised together."""
    report = Report()
    from tidelog.analysis.check import check as check_program
    from tidelog.lang import tree
    from tidelog.lang.load import check_evaluable

    program = parse_file(path, include_dirs, macros, report)
    check_evaluable(program)
    if legacy:
        program = replace(program, items=(*program.items, tree.Pragma("legacy")))
    try:
        checked = check_program(program, report)
    except TidelogError:
        show_warnings(report, no_warnings)
        raise
    show_warnings(report, no_warnings)
    return checked


def show_warnings(report: Report, hidden: bool) -> None:
    if report.warnings and not hidden:
        print(render(condensed(in_source_order(report.warnings))), file=sys.stderr)


def end_epoch(epoch: Epoch[Any], profile: str | None, no_warnings: bool, others: Sequence[Diagnostic] = ()) -> None:
    """The last that a command does with an epoch: its profile is written, its warnings and others are shown."""
    if profile is not None and epoch.profile is not None:
        epoch.profile.write(profile)
    found = [*epoch.warnings, *others]
    if found and not no_warnings:
        print(render(found), file=sys.stderr)


def threads_of(jobs: str) -> int:
    """1, 2, …, auto."""
    if jobs == "auto":
        return os.cpu_count() or 1
    if not jobs.isdigit() or int(jobs) < 1:
        raise error("TL1902", f"`-j {jobs}` is no number of threads", help="give 1, 2, … or auto")
    return int(jobs)
