"""`tidelog shell`: a session at a prompt or from a script, in DDlog's command language.

At a prompt an error is shown and the next command is awaited. A script ends at its first error, as with DDlog.
"""

from __future__ import annotations

import gc
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tidelog.cli.front import (
    FunctorFile,
    IncludeDirs,
    Legacy,
    Macros,
    MaxIterations,
    MaxMemory,
    NoWarnings,
    ProgramFile,
    Timeout,
)
from tidelog.cli.loading import checked_file, threads_of
from tidelog.cli.on_spark import Master, spark_if_wanted
from tidelog.cli.statements import Statements
from tidelog.errors import TidelogError, error

if TYPE_CHECKING:
    from tidelog.cli.interpreter import Interpreter


def shell(
    program: ProgramFile,
    fact_dir: Annotated[
        Path | None, typer.Option("--fact-dir", "-F", help="Begin with the .input facts of this folder.")
    ] = None,
    include_dir: IncludeDirs = None,
    macro: Macros = None,
    legacy: Legacy = False,
    strategy: Annotated[str, typer.Option(help="elastic, update, update-paper, counting or batch.")] = "elastic",
    switch: Annotated[float, typer.Option(help="The share of Bootstrap's cost that an Update may take.")] = 0.2,
    budget: Annotated[str, typer.Option(help="What that cost is counted in: derivations or seconds.")] = "derivations",
    switching: Annotated[str, typer.Option(help="What is then evaluated anew: stratum or program.")] = "stratum",
    strict: Annotated[bool, typer.Option(help="Deleting what is absent or inserting what is present fails.")] = False,
    functors: FunctorFile = None,
    jobs: Annotated[str, typer.Option("--jobs", "-j", help="Threads; auto takes all cores.")] = "1",
    max_iterations: MaxIterations = None,
    max_memory: MaxMemory = "default",
    timeout: Timeout = None,
    state: Annotated[str | None, typer.Option(help="A state directory: go on from it, and keep every epoch.")] = None,
    no_warn: NoWarnings = False,
    master: Master = None,
) -> None:
    """Change facts and ask queries, at a prompt or from a script on standard input."""
    checked = checked_file(program, include_dir, macro, no_warn, legacy)

    from tidelog.cli.interpreter import Interpreter
    from tidelog.cli.progress import Progress
    from tidelog.evaluate.limits import Limits
    from tidelog.session import Session
    from tidelog.store import native

    gc.enable()  # a session is long: the databases of past epochs are garbage
    progress = Progress()
    native.announce = progress.note
    with spark_if_wanted(master, progress.note) as spark, Session(
        checked, spark=spark(), strategy=strategy, switch=switch, budget=budget, switching=switching, strict=strict,
        threads=threads_of(jobs), functors=functors, facts=fact_dir or Path("."),
        limits=Limits(max_iterations, max_memory, timeout), observer=progress, state=state,
    ) as session:  # fmt: skip
        if session.epoch == 0 or fact_dir is not None:
            with progress:
                first = session.bootstrap() if fact_dir is not None else session.bootstrap({})
            if sys.stdin.isatty():
                print(first, file=sys.stderr)
        if sys.stdin.isatty():
            print("`help;` shows what can be said here", file=sys.stderr)
            _converse(Interpreter(session, 1, progress))
        else:
            _run_script(Interpreter(session, 0, progress))


def _run_script(interpreter: Interpreter) -> None:
    """Commands from standard input, each carried out as soon as it is complete."""
    statements = Statements("<stdin>")
    for raw in sys.stdin.buffer:
        line = raw.decode("utf-8", errors="surrogateescape")  # what is not text is refused where it is used
        for statement in statements.feed(line.removesuffix("\n") + "\n"):
            interpreter.run(statement)
            if interpreter.finished:
                return _leave(interpreter)
    if statements.unfinished is not None:
        raise error("TL1115", "the script ends inside a command", statements.unfinished, help="end it with `;`")
    return _leave(interpreter)


def _converse(interpreter: Interpreter) -> None:
    """Commands from a person."""
    from tidelog.cli.commands import WORDS
    from tidelog.cli.prompt import line_reader
    from tidelog.cli.shell_help import meant

    statements = Statements("<shell>")
    read_line = line_reader([*WORDS, *interpreter.session.relations])
    while not interpreter.finished:
        try:
            unfinished = statements.unfinished is not None
            line = read_line(unfinished)
            _run_line(line if unfinished else meant(line), statements, interpreter)
        except KeyboardInterrupt:
            statements.forget()
            print("interrupted; the session is as it was after the last commit", file=sys.stderr)
        except EOFError:
            break
    _leave(interpreter)


def _run_line(line: str, statements: Statements, interpreter: Interpreter) -> None:
    """What a person said; after a mistake the rest of the line does not count."""
    try:
        for statement in statements.feed(line + "\n"):
            interpreter.run(statement)
            if interpreter.finished:
                return
    except TidelogError as problem:
        statements.forget()
        print(problem, file=sys.stderr)


def _leave(interpreter: Interpreter) -> None:
    if interpreter.transaction:
        lost = len(interpreter.transaction)
        print(f"{lost:,} changes were not committed and are lost", file=sys.stderr)
