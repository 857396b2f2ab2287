"""`tidelog plan`: strata, rules, plans and indexes of a program, readably."""

from __future__ import annotations

import typer

from tidelog.cli.front import IncludeDirs, Macros, NoWarnings, ProgramFile, checked_file
from tidelog.plan.program import plan_program
from tidelog.plan.show import show_program


def plan(
    program: ProgramFile, include_dir: IncludeDirs = None, macro: Macros = None, no_warn: NoWarnings = False
) -> None:
    """Print how a program would be evaluated."""
    typer.echo(show_program(plan_program(checked_file(program, include_dir, macro, no_warn))), nl=False)
