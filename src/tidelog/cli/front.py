"""What the commands share: options, and the way from a file to a checked program."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tidelog.analysis.check import Checked
from tidelog.analysis.check import check as check_program
from tidelog.errors import Diagnostic, Report, TidelogError, condensed, error, in_source_order, render
from tidelog.lang import tree
from tidelog.lang.load import check_evaluable, load_program

if TYPE_CHECKING:
    from tidelog.local.epoch import Epoch

ProgramFile = Annotated[Path, typer.Argument(help="The program: .dl, .ndlog or .rules.", show_default=False)]
IncludeDirs = Annotated[
    list[Path] | None, typer.Option("--include-dir", "-I", help="Where .include and #include look.")
]
Macros = Annotated[list[str] | None, typer.Option("--macro", "-M", help="Preprocessor macros: NAME or NAME=VALUE.")]
MaxMemory = Annotated[
    str,
    typer.Option(
        help="End at this size, such as 4G or 500M; none for no limit. By default, what the machine or container has."
    ),
]
Legacy = Annotated[
    bool, typer.Option("--legacy", help='As `.pragma "legacy"`: attributes take any type of their kind.')
]
MaxIterations = Annotated[int | None, typer.Option(help="End a stratum after this many iterations.")]
Timeout = Annotated[float | None, typer.Option(help="End an epoch after this many seconds.")]
SkipBadRows = Annotated[bool, typer.Option(help="Count and report malformed facts, and go on.")]
ProfileFile = Annotated[str | None, typer.Option("--profile", "-p", help="Write a profile to this file.")]
FunctorFile = Annotated[Path | None, typer.Option("--functors", help="A Python file with the functors.")]
StateDir = Annotated[str, typer.Argument(help="The state directory: a path or a URI.", show_default=False)]
FactDir = Annotated[Path, typer.Option("--fact-dir", "-F", help="Where .input looks for facts.")]
NoWarnings = Annotated[bool, typer.Option("--no-warn", "-w", help="Show no warnings.")]


def parse_macros(given: list[str] | None) -> dict[str, str]:
    """`-M "A=1 B"` as Soufflé takes it."""
    found = {}
    for text in given or ():
        for part in text.split():
            name, _, value = part.partition("=")
            found[name] = value or "1"
    return found


def parse_file(path: Path, include_dirs: list[Path] | None, macros: list[str] | None, report: Report) -> tree.Program:
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
