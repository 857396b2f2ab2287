"""Options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

ProgramFile = Annotated[Path, typer.Argument(help="The program: .dl, .ndlog or .rules.", show_default=False)]
IncludeDirs = Annotated[
    list[Path] | None, typer.Option("--include-dir", "-I", help="Where .include and #include look.")
]
Macros = Annotated[list[str] | None, typer.Option("--macro", "-M", help="Preprocessor macros: NAME or NAME=VALUE.")]
MaxMemory = Annotated[
    str,
    typer.Option(
        help="End at this size, such as 4G or 500M; none for no limit. By default, what the machine or container has."
    ),
]
Legacy = Annotated[
    bool, typer.Option("--legacy", help='As `.pragma "legacy"`: attributes take any type of their kind.')
]
MaxIterations = Annotated[int | None, typer.Option(help="End a stratum after this many iterations.")]
Timeout = Annotated[float | None, typer.Option(help="End an epoch after this many seconds.")]
SkipBadRows = Annotated[bool, typer.Option(help="Count and report malformed facts, and go on.")]
ProfileFile = Annotated[str | None, typer.Option("--profile", "-p", help="Write a profile to this file.")]
FunctorFile = Annotated[Path | None, typer.Option("--functors", help="A Python file with the functors.")]
StateDir = Annotated[str, typer.Argument(help="The state directory: a path or a URI.", show_default=False)]
StateOrProgram = Annotated[
    str, typer.Argument(help="The state directory, a path or a URI; or a program.", show_default=False)
]
FactDir = Annotated[Path, typer.Option("--fact-dir", "-F", help="Where .input looks for facts.")]
NoWarnings = Annotated[bool, typer.Option("--no-warn", "-w", help="Show no warnings.")]
