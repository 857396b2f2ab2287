"""`tidelog run`: evaluate a program over its facts, on Spark or, with --local, in this process."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tidelog.analysis.check import Checked
from tidelog.cli.front import IncludeDirs, Macros, NoWarnings, ProgramFile, bytes_of, checked_file, threads_of
from tidelog.cli.progress import Progress
from tidelog.cli.without_pandas import settle_without_pandas
from tidelog.errors import Diagnostic, Report, render
from tidelog.evaluate.limits import Limits

if TYPE_CHECKING:
    from tidelog.evaluate.batch import Options


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
    if local:
        _refuse_with_local(master, executor)
    if not local or state is not None:
        _refuse_profile(profile)
    else:
        settle_without_pandas()

    from tidelog.evaluate.batch import Options
    from tidelog.evaluate.user_functors import load_module

    options = Options(
        facts=fact_dir, output=output_dir, threads=threads_of(jobs), functors=load_module(functors) if functors else {},
        limits=Limits(max_iterations, bytes_of(max_memory), timeout), skip_bad_rows=skip_bad_rows, profile=profile,
    )  # fmt: skip
    with Progress() as progress:
        try:
            if local and state is None:
                found = _here(checked, options, progress)
            else:
                found = _in_a_session(checked, options, progress, local, master, executor, state)
        except KeyboardInterrupt:
            print(progress.interrupted(), file=sys.stderr)
            raise SystemExit(130) from None
    if found and not no_warn:
        print(render(found), file=sys.stderr)


def _here(checked: Checked, options: Options, progress: Progress) -> list[Diagnostic]:
    """A batch run in this process, which keeps nothing and can write a profile."""
    from tidelog.evaluate.batch import BatchRun
    from tidelog.store import native

    native.announce = progress.note
    batch = BatchRun(checked, options, progress)
    batch.run()
    return [*batch.bad_rows.report(), *batch.warnings]


def _in_a_session(
    checked: Checked, options: Options, progress: Progress, local: bool, master: str | None, executor: str | None,
    state: str | None,
) -> list[Diagnostic]:  # fmt: skip
    """A session that is bootstrapped and written out, on Spark unless it is to be local."""
    from tidelog.session import Session
    from tidelog.spark.start import started
    from tidelog.spark.write import write_outputs

    with contextlib.ExitStack() as stack:
        spark = None if local else stack.enter_context(started(master, progress.note))
        session = stack.enter_context(Session(
            checked, spark=spark, executor=executor, strategy="batch" if state is None else "elastic",
            threads=options.threads, functors=options.functors, facts=options.facts,
            skip_bad_rows=options.skip_bad_rows, limits=options.limits, observer=progress, state=state,
        ))  # fmt: skip
        epoch = session.bootstrap()
        return [*epoch.warnings, *write_outputs(session, options.output)]


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
