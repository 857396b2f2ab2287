"""The `tidelog` command: thin shells over the library, one file per command."""

from __future__ import annotations

import gc
import sys

import typer

from tidelog.cli import bootstrap, check, net, plan, profile, query, run, shell, state, update
from tidelog.errors import InternalError, TidelogError
from tidelog.version import VERSION

app = typer.Typer(
    help="Tidelog: a Datalog engine for data that keeps changing.", no_args_is_help=True, add_completion=False
)
app.command("run")(run.run)
app.command("check")(check.check)
app.command("plan")(plan.plan)
app.command("shell")(shell.shell)
app.command("profile")(profile.profile)
app.command("bootstrap")(bootstrap.bootstrap)
app.command("update")(update.update)
app.command("query")(query.query)
app.command("state")(state.state)
app.command("compact")(state.compact)
app.command("verify")(state.verify)
app.add_typer(net.app, name="net")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"tidelog {VERSION}")
        raise typer.Exit


@app.callback()
def options(
    version: bool = typer.Option(False, "--version", help="Show the version.", callback=_version, is_eager=True),
) -> None:
    """Tidelog: a Datalog engine for data that keeps changing."""


def main() -> None:
    """Run a command. A user's mistake ends with its message and exit code 1, never with a traceback."""
    gc.disable()  # a command builds trees, uses them and ends: there is no garbage worth a search
    try:
        app()
    except TidelogError as problem:
        print(problem, file=sys.stderr)
        sys.exit(1)
    except InternalError as problem:
        print(f"internal error: {problem}\nThis is a bug in Tidelog; please report it.", file=sys.stderr)
        sys.exit(70)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(141)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
