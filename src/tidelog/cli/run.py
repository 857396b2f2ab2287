"""`tidelog run`: evaluate a program over its facts, on Spark or, with --local, in this process."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tidelog.cli.front import (
    FactDir,
    FunctorFile,
    IncludeDirs,
    Legacy,
    Macros,
    MaxIterations,
    MaxMemory,
    NoWarnings,
    ProfileFile,
    ProgramFile,
    SkipBadRows,
    Timeout,
)
from tidelog.cli.running import run_program
from tidelog.evaluate.limits import DEFAULT


def run(
    program: ProgramFile,
    fact_dir: FactDir = Path("."),
    output_dir: Annotated[Path, typer.Option("--output-dir", "-D", help="Where .output writes; - prints.")] = Path("."),
    include_dir: IncludeDirs = None,
    macro: Macros = None,
    legacy: Legacy = False,
    jobs: Annotated[str, typer.Option("--jobs", "-j", help="Threads; auto takes all cores.")] = "1",
    profile: ProfileFile = None,
    no_warn: NoWarnings = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Say more, such as what no output needs.")] = False,
    functors: FunctorFile = None,
    max_iterations: MaxIterations = None,
    max_memory: MaxMemory = DEFAULT,
    timeout: Timeout = None,
    skip_bad_rows: SkipBadRows = False,
    local: Annotated[bool, typer.Option("--local", help="Run in this process, without Spark.")] = False,
    master: Annotated[str | None, typer.Option(help="Spark's master, such as spark://host:7077.")] = None,
    executor: Annotated[str | None, typer.Option(help="On Spark: columnar (the default) or dataframe.")] = None,
    state: Annotated[str | None, typer.Option(help="Keep the result in this state directory.")] = None,
    workers: Annotated[
        int | None, typer.Option(help="Share the relations out to so many workers; with --local, processes.", min=1)
    ] = None,
) -> None:
    """Evaluate a program: read .input facts, write .output relations."""
    run_program(
        program, fact_dir=fact_dir, output_dir=output_dir, include_dir=include_dir, macro=macro, legacy=legacy,
        jobs=jobs, profile=profile, no_warn=no_warn, verbose=verbose, functors=functors, max_iterations=max_iterations,
        max_memory=max_memory, timeout=timeout, skip_bad_rows=skip_bad_rows, local=local, master=master,
        executor=executor, state=state, workers=workers,
    )  # fmt: skip
