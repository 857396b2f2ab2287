"""`tidelog bootstrap`: make a state directory from a program and its facts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tidelog.cli.front import IncludeDirs, Legacy, Macros, NoWarnings, ProgramFile, checked_file
from tidelog.cli.on_spark import Master, spark_if_wanted

StateDir = Annotated[str, typer.Argument(help="The state directory: a path or a URI.", show_default=False)]
FunctorFile = Annotated[Path | None, typer.Option("--functors", help="A Python file with the functors.")]


def bootstrap(
    program: ProgramFile,
    state: StateDir,
    fact_dir: Annotated[Path, typer.Option("--fact-dir", "-F", help="Where .input looks for facts.")] = Path("."),
    include_dir: IncludeDirs = None,
    macro: Macros = None,
    legacy: Legacy = False,
    functors: FunctorFile = None,
    no_warn: NoWarnings = False,
    master: Master = None,
) -> None:
    """Evaluate a program from its .input facts and keep everything in a state directory, for `tidelog update`."""
    checked = checked_file(program, include_dir, macro, no_warn, legacy)

    from tidelog.cli.progress import Progress

    with Progress() as progress, spark_if_wanted(master, progress.note) as spark:
        from tidelog.session import Session
        from tidelog.store import native

        native.announce = progress.note
        opened = Session(
            checked, spark=spark(), state=state, facts=fact_dir, functors=functors, observer=progress
        )  # fmt: skip
        with opened as session:
            print(session.bootstrap())
