"""`tidelog run`: evaluate a program over its facts."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from tidelog.cli.front import IncludeDirs, Macros, NoWarnings, ProgramFile, bytes_of, checked_file, threads_of
from tidelog.cli.without_pandas import settle_without_pandas
from tidelog.errors import render


def run(
    program: ProgramFile,
    fact_dir: Annotated[Path, typer.Option("--fact-dir", "-F", help="Where .input looks for facts.")] = Path("."),
    output_dir: Annotated[Path, typer.Option("--output-dir", "-D", help="Where .output writes; - prints.")] = Path("."),
    include_dir: IncludeDirs = None,
    macro: Macros = None,
    jobs: Annotated[str, typer.Option("--jobs", "-j", help="Threads; auto takes all cores.")] = "1",
    profile: Annotated[str | None, typer.Option("--profile", "-p", help="Write a profile to this file.")] = None,
    no_warn: NoWarnings = False,
    functors: Annotated[Path | None, typer.Option(help="A Python file with the functors.")] = None,
    max_iterations: Annotated[int | None, typer.Option(help="End a stratum after this many iterations.")] = None,
    max_memory: Annotated[str | None, typer.Option(help="End the run at this size, such as 4G or 500M.")] = None,
    timeout: Annotated[float | None, typer.Option(help="End the run after this many seconds.")] = None,
    skip_bad_rows: Annotated[bool, typer.Option(help="Count and report malformed facts, and go on.")] = False,
    local: Annotated[bool, typer.Option("--local", help="Run in this process, without Spark.")] = False,
) -> None:
    """Evaluate a program: read .input facts, write .output relations."""
    checked = checked_file(program, include_dir, macro, no_warn)
    settle_without_pandas()

    from tidelog.cli.progress import Progress
    from tidelog.evaluate.batch import BatchRun, Options
    from tidelog.evaluate.limits import Limits
    from tidelog.evaluate.user_functors import load_module
    from tidelog.store import native

    options = Options(
        facts=fact_dir, output=output_dir, threads=threads_of(jobs), functors=load_module(functors) if functors else {},
        limits=Limits(max_iterations, bytes_of(max_memory), timeout), skip_bad_rows=skip_bad_rows, profile=profile,
    )  # fmt: skip
    with Progress() as progress:
        native.announce = progress.note
        batch = BatchRun(checked, options, progress)
        try:
            batch.run()
        except KeyboardInterrupt:
            print(progress.interrupted(), file=sys.stderr)
            raise SystemExit(130) from None
    found = [*batch.bad_rows.report(), *batch.warnings]
    if found and not no_warn:
        print(render(found), file=sys.stderr)
