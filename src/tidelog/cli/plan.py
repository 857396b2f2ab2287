"""`tidelog plan`: what would run: rules, the orders of their bodies, indexes; of a network, the rules of its nodes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from tidelog.cli.front import IncludeDirs, Legacy, Macros, NoWarnings, ProgramFile
from tidelog.cli.loading import checked_file
from tidelog.errors import error

STRATEGIES = ("batch", "elastic", "update", "update-paper", "counting")
Facts = Annotated[
    Path | None,
    typer.Option(
        "--fact-dir", "-F", help="Evaluate the program over these facts, and show the orders that were chosen for them."
    ),
]
Strategy = Annotated[
    str,
    typer.Option(
        help="batch (the plans of one run); or with -F those of a session, with its updates: elastic, update, "
        "update-paper or counting."
    ),
]
WithState = Annotated[
    bool, typer.Option("--state", help="The rules as sessions keep them up to date, with the relations made for that.")
]


def plan(
    program: ProgramFile,
    fact_dir: Facts = None,
    strategy: Strategy = "batch",
    functors: Annotated[Path | None, typer.Option(help="A Python file with the functors; for -F.")] = None,
    include_dir: IncludeDirs = None,
    macro: Macros = None,
    legacy: Legacy = False,
    no_warn: NoWarnings = False,
    state: WithState = False,
    workers: Annotated[
        int | None, typer.Option(help="What so many workers have each, and which joins communicate.", min=1)
    ] = None,
) -> None:
    """Print how a program is evaluated; of an NDlog program, the rules as its nodes run them.

    Without facts, the orders of bodies are guesses.
    """
    if strategy not in STRATEGIES:
        raise typer.BadParameter(f"it is one of {', '.join(STRATEGIES)}", param_hint="--strategy")
    if program.suffix == ".ndlog":
        _network(program, no_warn)
        return
    checked = checked_file(program, include_dir, macro, no_warn, legacy)
    if state:
        from tidelog.plan.show.rules import show_stateful
        from tidelog.plan.stateful import stateful_program

        typer.echo(show_stateful(stateful_program(checked, by_classes=True, by_ranks=True)), nl=False)
        return
    if workers is not None:
        from tidelog.local.teams import said_placements
        from tidelog.plan.exchange.placement import place
        from tidelog.plan.show.workers import show_workers
        from tidelog.plan.stateful import stateful_program

        shared = stateful_program(checked, by_classes=True, by_ranks=True)
        typer.echo(show_workers(shared, place(shared, said_placements(checked, {})), workers), nl=False)
        return
    from tidelog.local import plans
    from tidelog.local.settings import Settings

    if fact_dir is not None:
        settings = Settings(strategy=strategy, facts=fact_dir, functors=functors)
        typer.echo(f"// the orders that were chosen for the facts in {fact_dir}")
        typer.echo(plans.show(plans.evaluated_plans(checked, settings)), nl=False)
    elif strategy == "batch":
        typer.echo("// the orders are guesses: -F shows those that are chosen for given facts")
        typer.echo(plans.show(plans.guessed_plans(checked)), nl=False)
    else:
        raise error("TL1106", f"the plans of strategy {strategy} depend on the facts", help="give their folder: -F DIR")


def _network(program: Path, no_warn: bool) -> None:
    from tidelog.errors import render
    from tidelog.lang.ndlog_printer import print_program
    from tidelog.net.algorithms import choose
    from tidelog.net.program import load_local
    from tidelog.net.runtime.inputs import read_text

    local = load_local(read_text(program), str(program))
    if local.warnings and not no_warn:
        print(render(local.warnings), file=sys.stderr)
    method = choose("auto", local)
    typer.echo(f"// {method.described}, whatever the facts are")
    for reason in method.reasons:
        typer.echo(f"// {reason}")
    for name in sorted(local.listeners):
        typer.echo(f"// {name} is a set")
    typer.echo(print_program(local.tree), nl=False)
