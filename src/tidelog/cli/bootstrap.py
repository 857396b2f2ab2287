"""`tidelog bootstrap`: make a state directory from a program and its facts."""

from __future__ import annotations

import warnings
from pathlib import Path

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
    StateDir,
    Timeout,
)
from tidelog.cli.loading import checked_file, end_epoch
from tidelog.cli.on_spark import Master, spark_if_wanted
from tidelog.errors import TidelogWarning


def bootstrap(
    program: ProgramFile,
    state: StateDir,
    fact_dir: FactDir = Path("."),
    include_dir: IncludeDirs = None,
    macro: Macros = None,
    legacy: Legacy = False,
    profile: ProfileFile = None,
    functors: FunctorFile = None,
    max_iterations: MaxIterations = None,
    max_memory: MaxMemory = "default",
    timeout: Timeout = None,
    skip_bad_rows: SkipBadRows = False,
    no_warn: NoWarnings = False,
    master: Master = None,
) -> None:
    """Evaluate a program from its .input facts and keep everything in a state directory, for `tidelog update`."""
    checked = checked_file(program, include_dir, macro, no_warn, legacy)

    from tidelog.cli.progress import Progress

    with Progress() as progress, spark_if_wanted(master, progress.note) as spark:
        from tidelog.evaluate.limits import Limits
        from tidelog.session import Session
        from tidelog.store import native

        native.announce = progress.note
        warnings.simplefilter("ignore", TidelogWarning)  # the epoch's warnings are shown in the end
        opened = Session(
            checked, spark=spark(), state=state, facts=fact_dir, functors=functors, observer=progress,
            limits=Limits(max_iterations, max_memory, timeout), skip_bad_rows=skip_bad_rows,
            profile=profile is not None,
        )  # fmt: skip
        with opened as session:
            epoch = session.bootstrap()
            print(epoch)
    end_epoch(epoch, profile, no_warn)
