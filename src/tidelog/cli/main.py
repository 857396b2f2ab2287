"""The `tidelog` command: thin shells over the library, one file per command."""

from __future__ import annotations

import gc
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from typing import TextIO

import typer

from tidelog.cli.usage import STATUS, UsageError, wrong_usage
from tidelog.errors import InternalError, TidelogError, TidelogWarning, error
from tidelog.version import VERSION

COMMANDS = {
    "run": "run.run", "check": "check.check", "plan": "plan.plan", "shell": "shell.shell", "profile": "profile.profile",
    "bootstrap": "bootstrap.bootstrap", "update": "update.update", "query": "query.query", "state": "state.state",
    "compact": "state.compact", "verify": "state.verify", "net": "net.app", "rdf": "rdf.app",
}  # fmt: skip
"""Where each command, or group of commands, is."""

SUMMARIES = {
    "run": "Evaluate a program: read .input facts, write .output relations.",
    "check": "Check a program and say what is wrong with it, all at once.",
    "plan": "Print how a program is evaluated; of an NDlog program, the rules as its nodes run them.",
    "shell": "Change facts and ask queries, at a prompt or from a script on standard input.",
    "profile": "Show where a run spent its time and memory.",
    "bootstrap": "Evaluate a program from its .input facts and keep everything in a state directory, "
    "for `tidelog update`.",
    "update": "Delete and insert facts, and bring everything that follows from them up to date.",
    "query": "The answers to a query, as the shell gives them. Needs no lock: others may be writing.",
    "state": "What a state directory holds: its epochs, sizes, last changes, and who writes it.",
    "compact": "Fold all changes into new snapshots. Sessions do this by themselves, a little at a time.",
    "verify": "Check that a state directory is whole (checksums, counts) and, with --full, right.",
    "net": "Network Datalog: run a protocol on many nodes, or check it.",
    "rdf": "RDF: triples, what follows from them, and SPARQL.",
}
"""The first words of each, for the list of all, which is shown without importing them; a test compares."""


def command_line(arguments: Sequence[str]) -> typer.Typer:
    """The command that the arguments name, or all of them; for the list of all, only what it says of them."""
    app = typer.Typer(
        help="Tidelog: a Datalog engine for data that keeps changing.", no_args_is_help=True, add_completion=False,
        pretty_exceptions_enable=False,
    )  # fmt: skip
    app.callback()(options)
    if list(arguments) in ([], ["--help"], ["--version"]):
        for name, summary in SUMMARIES.items():
            app.command(name, help=summary)(_listed)
        return app
    for name in [arguments[0]] if arguments and arguments[0] in COMMANDS else COMMANDS:
        module, _, attribute = COMMANDS[name].partition(".")
        command = getattr(import_module(f"tidelog.cli.{module}"), attribute)
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name)
        else:
            app.command(name)(command)
    return app


def _listed() -> None:
    """Stands for a command where only the list of all is shown."""


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"tidelog {VERSION}")
        raise typer.Exit


def options(
    version: bool = typer.Option(False, "--version", help="Show the version.", callback=_version, is_eager=True),
) -> None:
    """Tidelog: a Datalog engine for data that keeps changing."""


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """A warning of a query as all other warnings; those of others as ever."""
    ours = issubclass(category, TidelogWarning)
    shown = f"warning: {message}\n" if ours else warnings.formatwarning(message, category, filename, lineno, line)
    print(shown, end="", file=file or sys.stderr)


def main() -> None:
    """Run a command. A user's mistake ends with its message and exit code 1, never with a traceback; a mistake of ours
    with exit code 70, and its traceback in a file."""
    warnings.showwarning = _show_warning
    gc.disable()  # a command builds trees, uses them and ends: there is no garbage worth a search
    try:
        status = command_line(sys.argv[1:])(prog_name="tidelog", standalone_mode=False)
    except UsageError as problem:
        print(wrong_usage(problem), file=sys.stderr)
        sys.exit(STATUS)
    except TidelogError as problem:
        print(problem, file=sys.stderr)
        sys.exit(1)
    except MemoryError:
        print(error("TL0910", "memory ran out", help="more memory, or less data"), file=sys.stderr)
        sys.exit(1)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(141)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)
    except Exception as problem:
        print(_bug(problem), file=sys.stderr)
        sys.exit(70)
    if isinstance(status, int):
        sys.exit(status)


def _bug(problem: Exception) -> str:
    """What to say of an error that nobody foresaw. Its traceback is for us: it is kept in a file to be sent."""
    import tempfile
    import traceback

    what = str(problem) if isinstance(problem, InternalError) else f"{type(problem).__name__}: {problem}"
    first = what.strip().partition("\n")[0]
    try:
        with tempfile.NamedTemporaryFile("w", prefix="tidelog-", suffix=".log", delete=False) as file:
            file.write(f"tidelog {VERSION}: {' '.join(sys.argv)}\n\n{''.join(traceback.format_exception(problem))}")
    except OSError:
        return f"internal error: {first}\nThis is a bug in Tidelog; please report it."
    return f"internal error: {first}\nThis is a bug in Tidelog; please report it, with the file {file.name}."


if __name__ == "__main__":
    main()
