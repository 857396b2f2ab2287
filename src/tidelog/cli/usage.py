"""A command line that is none: what typer finds wrong with it, said as all other errors are.

Typer has had two homes for the classes of its errors; that of all mistakes in the use of a command is the base of its
public BadParameter in both.
"""

from __future__ import annotations

import re
from typing import Any

import typer

from tidelog.analysis.suggest import did_you_mean
from tidelog.errors import TidelogError, error

UsageError: type[Exception] = typer.BadParameter.__mro__[1]
STATUS = 2
"""The exit code of a command that was not understood, as of other programs."""
_SUGGESTED = re.compile(r" \(possible options: .*|\. did you mean .*", re.IGNORECASE)
_MADE_FOR_PROGRAMMERS = re.compile(r"input should be a valid (number|integer).*", re.IGNORECASE)


def wrong_usage(problem: Any) -> TidelogError | str:
    """What to tell the user. If no more is missing than a command, that is the help, so far as typer has not shown it
    already."""
    if type(problem).__name__ == "NoArgsIsHelpError":
        return str(problem.message).strip()
    said = _SUGGESTED.sub("", problem.format_message()).rstrip(".")
    said = _MADE_FOR_PROGRAMMERS.sub(lambda found: _KINDS[found[1].lower()], said).replace("'", "`")
    command = getattr(problem.ctx, "command_path", "tidelog")
    suggested = did_you_mean(_unknown(problem), _known(problem)) or f"`{command} --help` shows what it takes"
    return error("TL1901", said[:1].lower() + said[1:], help=suggested)


_KINDS = {"number": "it takes a number", "integer": "it takes a whole number"}


def _unknown(problem: Any) -> str:
    """The option or command that there is not."""
    option = getattr(problem, "option_name", None)
    command = re.search(r"no such command ['`\"]?([\w-]+)", str(problem.message), re.IGNORECASE)
    return option or (command[1] if command else "")


def _known(problem: Any) -> list[str]:
    if problem.ctx is None:
        return []
    command = problem.ctx.command
    options = [name for parameter in command.params for name in parameter.opts if name.startswith("--")]
    return [*options, *getattr(command, "commands", {})]
