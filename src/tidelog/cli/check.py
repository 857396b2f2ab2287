"""`tidelog check`: parse and check, evaluate nothing."""

from __future__ import annotations

import typer

from tidelog.cli.front import IncludeDirs, Macros, NoWarnings, ProgramFile, checked_file, parse_file
from tidelog.errors import Report
from tidelog.lang.load import DIALECTS


def check(
    program: ProgramFile, include_dir: IncludeDirs = None, macro: Macros = None, no_warn: NoWarnings = False
) -> None:
    """Check a program and say what is wrong with it, all at once."""
    if DIALECTS.get(program.suffix, "souffle") != "souffle":
        report = Report()
        tree = parse_file(program, include_dir, macro, report)
        report.check()
        typer.echo(f"{program}: {len(tree.rules)} rules parse")
        return
    checked = checked_file(program, include_dir, macro, no_warn)
    typer.echo(
        f"{program}: {len(checked.clauses)} rules over {len(checked.relations)} relations "
        f"in {len(checked.strata)} strata, no errors"
    )
