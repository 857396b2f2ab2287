"""`tidelog update`: the next epoch of a state directory, from files of facts."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated

import typer

from tidelog.cli.front import (
    FunctorFile,
    MaxIterations,
    MaxMemory,
    NoWarnings,
    ProfileFile,
    SkipBadRows,
    StateDir,
    Timeout,
)
from tidelog.cli.loading import checked_file, end_epoch
from tidelog.cli.on_spark import Master, spark_if_wanted
from tidelog.errors import Report, TidelogWarning


def update(
    state: StateDir,
    insert: Annotated[list[str] | None, typer.Option(help="Facts to insert: RELATION=FILE.")] = None,
    delete: Annotated[list[str] | None, typer.Option(help="Facts to delete: RELATION=FILE.")] = None,
    clear: Annotated[list[str] | None, typer.Option(help="A relation all of whose facts are deleted.")] = None,
    strict: Annotated[bool, typer.Option(help="Deleting what is absent or inserting what is present fails.")] = False,
    migrate: Annotated[Path | None, typer.Option(help="Bring the state to this program first.")] = None,
    profile: ProfileFile = None,
    functors: FunctorFile = None,
    max_iterations: MaxIterations = None,
    max_memory: MaxMemory = "default",
    timeout: Timeout = None,
    skip_bad_rows: SkipBadRows = False,
    no_warn: NoWarnings = False,
    master: Master = None,
) -> None:
    """Delete and insert facts, and bring everything that follows from them up to date."""
    report = Report()
    inserted, deleted = _files(insert, "--insert", report), _files(delete, "--delete", report)
    report.check()

    from tidelog.cli.progress import Progress
    from tidelog.state.program_text import stored_program

    checked = stored_program(state) if migrate is None else checked_file(migrate, None, None, no_warn)
    with Progress() as progress, spark_if_wanted(master, progress.note) as spark:
        from tidelog.evaluate.limits import Limits
        from tidelog.session import Session
        from tidelog.store import native

        native.announce = progress.note
        warnings.simplefilter("ignore", TidelogWarning)  # the epoch's warnings are shown in the end
        opened = Session(
            checked, spark=spark(), state=state, strict=strict, functors=functors, observer=progress,
            limits=Limits(max_iterations, max_memory, timeout), skip_bad_rows=skip_bad_rows,
            profile=profile is not None, migrate=migrate is not None,
        )  # fmt: skip
        with opened as session:
            if migrate is not None:
                print(f"epoch {session.epoch}: the state is that of {migrate}")
                if not (inserted or deleted or clear):
                    return
            epoch = session.update(inserted, deleted, clear or ())
            print(epoch)
    end_epoch(epoch, profile, no_warn)


def _files(given: list[str] | None, option: str, report: Report) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in given or ():
        name, mark, file = text.partition("=")
        if not mark or not name or not file:
            report.error("TL1320", f"{option} {text} names no relation and file", help=f"write {option} edge=new.csv")
        elif name in found:
            report.error("TL1320", f"{option} is given twice for {name}", help="put all of its facts into one file")
        found[name] = file
    return found
