"""All commands and groups of commands, as typer knows them."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

import typer

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
    "query": "The answers to a query, as the shell gives them: over a state directory, which needs no lock, or over a "
    "program and its facts, of which only what is asked for is read and derived.",
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
