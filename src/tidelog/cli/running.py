"""What `tidelog run` does: a session that is bootstrapped and written out, on Spark or in this process."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tidelog.analysis.checked import Checked
from tidelog.analysis.needed import only_needed
from tidelog.cli.loading import checked_file, end_epoch, threads_of
from tidelog.cli.process_age import seconds_since_start
from tidelog.cli.progress import Progress
from tidelog.cli.without_pandas import settle_without_pandas
from tidelog.errors import Report, TidelogWarning, listed
from tidelog.evaluate.limits import DEFAULT, Limits
from tidelog.lang import tree


def run_program(
    program: Path,
    *,
    fact_dir: Path = Path("."),
    output_dir: Path = Path("."),
    include_dir: list[Path] | None = None,
    macro: list[str] | None = None,
    legacy: bool = False,
    jobs: str = "1",
    profile: str | None = None,
    no_warn: bool = False,
    verbose: bool = False,
    functors: Path | None = None,
    max_iterations: int | None = None,
    max_memory: str = DEFAULT,
    timeout: float | None = None,
    skip_bad_rows: bool = False,
    local: bool = False,
    master: str | None = None,
    executor: str | None = None,
    state: str | None = None,
    workers: int | None = None,
) -> None:
    """See `run`, which has the same parameters as options."""
    checked = checked_file(program, include_dir, macro, no_warn, legacy)
    if state is None:
        checked = _pruned(checked, verbose)
    if state is None and local and workers is None:
        checked = _on_demand(checked)
    limits, threads = Limits(max_iterations, max_memory, timeout), threads_of(jobs)
    if local:
        _refuse_with_local(master, executor)
    with Progress() as progress, _spark(local, master, executor, progress) as spark:
        from tidelog.session import Session  # while Spark starts
        from tidelog.store import native

        native.announce = progress.note
        warnings.simplefilter("ignore", TidelogWarning)  # the epoch's warnings are shown in the end
        try:
            opened = Session(
                checked, spark=spark(), executor=executor, strategy="batch" if state is None else "elastic",
                threads=threads, functors=functors, facts=fact_dir, skip_bad_rows=skip_bad_rows, limits=limits,
                observer=progress, state=state, profile=profile is not None, workers=workers,
            )  # fmt: skip
            with opened as session:
                starting = seconds_since_start()
                epoch = session.bootstrap()
                began = time.perf_counter()
                others = session.write_outputs(output_dir)
                writing = time.perf_counter() - began
        except KeyboardInterrupt:
            print(progress.interrupted(), file=sys.stderr)
            raise SystemExit(130) from None
    if epoch.profile is not None:
        before = epoch.profile.with_work("starting, and checking the program", "starting", starting)
        epoch.profile = before.with_work("writing the results", "writing", writing)
    end_epoch(epoch, profile, no_warn, others)


def _pruned(checked: Checked, verbose: bool) -> Checked:
    """The program as far as its outputs need it."""
    needed = only_needed(checked)
    left_out = [f"`{name}`" for name in checked.relations if name not in needed.relations]
    if verbose and left_out:
        what = f"{len(left_out):,} relation{'s' if len(left_out) > 1 else ''}"
        print(f"no output needs {what}, which are neither read nor evaluated: {listed(left_out)}", file=sys.stderr)
    return needed


def _on_demand(checked: Checked) -> Checked:
    """The program with magic sets, if it asks for them."""
    program = checked.program
    if program.pragma("magic-transform") is None and not any(
        "magic" in decl.qualifiers for decl in program.of(tree.RelationDecl)
    ):
        return checked
    from tidelog.plan.rewrites.magic_sets import magic_sets

    return magic_sets(checked, [d.relation for d in checked.directives("output", "printsize")])


@contextmanager
def _spark(local: bool, master: str | None, executor: str | None, progress: Progress) -> Iterator[Callable[[], Any]]:
    """What gives the SparkSession to work on, once it has started, or None."""
    if local:
        settle_without_pandas()
        yield lambda: None
        return
    from tidelog.spark.start import starting

    def say(where: str) -> None:
        progress.note(f"{where} (--local runs without it)")

    with starting(master, say, executor != "dataframe") as coming:
        yield coming


def _refuse_with_local(master: str | None, executor: str | None) -> None:
    report = Report()
    for option, value in (("--master", master), ("--executor", executor)):
        if value is not None:
            report.error("TL1216", f"{option} {value} and --local exclude each other", help="leave one of them away")
    report.check()
