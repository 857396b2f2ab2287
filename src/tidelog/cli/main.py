"""The `tidelog` command: thin shells over the library, one file per command.

A run with the usual options needs no typer (`plain_options.py`); everything else is `command_line.py`'s.
"""

from __future__ import annotations

import gc
import os
import sys
import warnings
from typing import Any, TextIO

from tidelog.cli.plain_options import plain_run
from tidelog.errors import InternalError, TidelogError, TidelogWarning, error
from tidelog.version import VERSION


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
    """Run a command and end the process."""
    gc.disable()  # a command builds trees, uses them and ends: there is no garbage worth a search
    plain = plain_run(sys.argv[1:])
    status = run_command(sys.argv[1:], plain)
    if plain is not None and status == 0:
        os._exit(0)  # all is written and nobody else is there: taking everything apart would take 15 ms
    sys.exit(status)


def run_command(arguments: list[str], plain: dict[str, Any] | None) -> int:
    """Its exit code. A user's mistake ends with its message and code 1, never with a traceback; a mistake of ours with
    code 70, and its traceback in a file."""
    warnings.showwarning = _show_warning
    try:
        status = _command(arguments, plain)
        sys.stdout.flush()
        sys.stderr.flush()
    except TidelogError as problem:
        print(problem, file=sys.stderr)
        return 1
    except MemoryError:
        print(error("TL0910", "memory ran out", help="more memory, or less data"), file=sys.stderr)
        return 1
    except BrokenPipeError:
        sys.stderr.close()
        return 141
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except Exception as problem:
        print(_bug(problem), file=sys.stderr)
        return 70
    return status if isinstance(status, int) else 0


def _command(arguments: list[str], plain: dict[str, Any] | None) -> object:
    """Run the command that the arguments name; what it returns, or the exit code of arguments that name none."""
    if plain is not None:
        from tidelog.cli.running import run_program

        run_program(**plain)
        return None
    from tidelog.cli.command_line import command_line
    from tidelog.cli.usage import STATUS, UsageError, wrong_usage

    try:
        return command_line(arguments)(prog_name="tidelog", standalone_mode=False)
    except UsageError as problem:
        print(wrong_usage(problem), file=sys.stderr)
        return STATUS


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
