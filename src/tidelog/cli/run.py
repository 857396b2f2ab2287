"""`tidelog run`: evaluate a program over its facts, on Spark or, with --local, in this process."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from tidelog.analysis.check import Checked
from tidelog.cli.front import IncludeDirs, Macros, NoWarnings, ProgramFile, bytes_of, checked_file, threads_of
from tidelog.errors import Diagnostic, Report, render
from tidelog.evaluate.limits import Limits


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
    master: Annotated[str | None, typer.Option(help="Spark's master, such as spark://host:7077.")] = None,
    executor: Annotated[str | None, typer.Option(help="On Spark: columnar (the default) or dataframe.")] = None,
    state: Annotated[str | None, typer.Option(help="Keep the result in this state directory.")] = None,
) -> None:
    """Evaluate a program: read .input facts, write .output relations."""
    checked = checked_file(program, include_dir, macro, no_warn)
    limits = Limits(max_iterations, bytes_of(max_memory), timeout)
    if local:
        _refuse_with_local(master, executor)
    if local and state is None:
        found = _here(checked, fact_dir, output_dir, threads_of(jobs), functors, limits, skip_bad_rows, profile)
    else:
        _refuse_profile(profile)
        found = _in_a_session(
            checked, fact_dir, output_dir, threads_of(jobs), functors, limits, skip_bad_rows, local, master, executor,
            state,
        )  # fmt: skip
    if found and not no_warn:
        print(render(found), file=sys.stderr)


def _here(
    checked: Checked, facts: Path, output: Path, threads: int, functors: Path | None, limits: Limits, skip: bool,
    profile: str | None,
) -> list[Diagnostic]:  # fmt: skip
    """A batch run in this process, which keeps nothing and can write a profile."""
    from tidelog.cli.without_pandas import settle_without_pandas

    settle_without_pandas()

    from tidelog.cli.progress import Progress
    from tidelog.evaluate.batch import BatchRun, Options
    from tidelog.evaluate.user_functors import load_module
    from tidelog.store import native

    options = Options(
        facts=facts, output=output, threads=threads, functors=load_module(functors) if functors else {},
        limits=limits, skip_bad_rows=skip, profile=profile,
    )  # fmt: skip
    with Progress() as progress:
        native.announce = progress.note
        batch = BatchRun(checked, options, progress)
        try:
            batch.run()
        except KeyboardInterrupt:
            print(progress.interrupted(), file=sys.stderr)
            raise SystemExit(130) from None
    return [*batch.bad_rows.report(), *batch.warnings]


def _in_a_session(
    checked: Checked, facts: Path, output: Path, threads: int, functors: Path | None, limits: Limits, skip: bool,
    local: bool, master: str | None, executor: str | None, state: str | None,
) -> list[Diagnostic]:  # fmt: skip
    """A session that is bootstrapped and written out, on Spark unless it is to be local."""
    import contextlib

    from tidelog.cli.progress import Progress
    from tidelog.session import Session
    from tidelog.spark.start import started
    from tidelog.spark.write import write_outputs

    with contextlib.ExitStack() as stack:
        progress = stack.enter_context(Progress())
        spark = None if local else stack.enter_context(started(master, progress.note))
        session = stack.enter_context(Session(
            checked, spark=spark, executor=executor, strategy="batch" if state is None else "elastic", threads=threads,
            functors=functors, facts=facts, skip_bad_rows=skip, limits=limits, observer=progress, state=state,
        ))  # fmt: skip
        try:
            epoch = session.bootstrap()
            return [*epoch.warnings, *write_outputs(session, output)]
        except KeyboardInterrupt:
            print(progress.interrupted(), file=sys.stderr)
            raise SystemExit(130) from None


def _refuse_with_local(master: str | None, executor: str | None) -> None:
    report = Report()
    for option, value in (("--master", master), ("--executor", executor)):
        if value is not None:
            report.error("TL1216", f"{option} {value} and --local exclude each other", help="leave one of them away")
    report.check()


def _refuse_profile(profile: str | None) -> None:
    report = Report()
    if profile is not None:
        report.error("TL1216", "a profile is made of a run in this process", help="add --local, and no --state")
    report.check()
