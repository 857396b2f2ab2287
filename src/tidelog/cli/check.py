"""`tidelog check`: parse and check, evaluate nothing."""

from __future__ import annotations

import typer

from tidelog.cli.front import IncludeDirs, Legacy, Macros, NoWarnings, ProgramFile
from tidelog.cli.loading import checked_file, parse_file, show_warnings
from tidelog.errors import Report, TidelogError
from tidelog.lang import tree
from tidelog.lang.load import DIALECTS
from tidelog.plan.program import refuse_unplannable


def check(
    program: ProgramFile,
    include_dir: IncludeDirs = None,
    macro: Macros = None,
    legacy: Legacy = False,
    no_warn: NoWarnings = False,
) -> None:
    """Check a program and say what is wrong with it, all at once."""
    dialect = DIALECTS.get(program.suffix, "souffle")
    if dialect == "souffle":
        checked = checked_file(program, include_dir, macro, no_warn, legacy)
        refuse_unplannable(checked)
        typer.echo(
            f"{program}: {len(checked.clauses)} rules over {len(checked.relations)} relations "
            f"in {len(checked.strata)} strata, no errors"
        )
        return
    report = Report()
    parsed = parse_file(program, include_dir, macro, report)
    if dialect == "ndlog":
        relations = _check_network(parsed, report, no_warn)
        typer.echo(f"{program}: {len(parsed.rules)} rules over {relations} relations, no errors")
        return
    report.check()
    typer.echo(f"{program}: {len(parsed.rules)} rules parse")


def _check_network(program: tree.Program, report: Report, no_warn: bool) -> int:
    """Checks an NDlog program, and that its rules can be localised; the number of its relations."""
    from tidelog.net import check_program, choose, compile_program
    from tidelog.net.program import is_timed
    from tidelog.net.timed.program import compile_timed
    from tidelog.plan.rewrites.localise import localise
    from tidelog.plan.rewrites.rewrite import rewritten

    if is_timed(program):
        timed = compile_timed(program, report)
        show_warnings(report, no_warn)
        return len(timed.written)
    signatures = check_program(program, report)
    try:
        report.check()
        rewritten(program, localise)
        compiled = compile_program(program)
        choose("auto", compiled).start(compiled)  # a recursion that has no sure meaning is refused
    except TidelogError:
        show_warnings(report, no_warn)
        raise
    show_warnings(report, no_warn)
    return len(signatures.arity)
