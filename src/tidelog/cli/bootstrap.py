"""`tidelog bootstrap`: make a state directory from a program and its facts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tidelog.cli.front import IncludeDirs, Macros, NoWarnings, ProgramFile, checked_file

StateDir = Annotated[str, typer.Argument(help="The state directory: a path or a URI.", show_default=False)]
FunctorFile = Annotated[Path | None, typer.Option("--functors", help="A Python file with the functors.")]


def bootstrap(
    program: ProgramFile,
    state: StateDir,
    fact_dir: Annotated[Path, typer.Option("--fact-dir", "-F", help="Where .input looks for facts.")] = Path("."),
    include_dir: IncludeDirs = None,
    macro: Macros = None,
    functors: FunctorFile = None,
    no_warn: NoWarnings = False,
) -> None:
    """Evaluate a program from its .input facts and keep everything in a state directory, for `tidelog update`."""
    checked = checked_file(program, include_dir, macro, no_warn)

    from tidelog.cli.progress import Progress
    from tidelog.cli.without_pandas import settle_without_pandas
    from tidelog.session import Session
    from tidelog.store import native

    settle_without_pandas()
    with Progress() as progress:
        native.announce = progress.note
        with Session(checked, state=state, facts=fact_dir, functors=functors, observer=progress) as session:
            print(session.bootstrap())
