"""Writing what the `.output` and `.printsize` of a session's program ask for.

What is always true: what cannot be written does not keep the rest from being written, and is raised in the end.
"""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from tidelog.analysis.checked import Checked
from tidelog.errors import Diagnostic, TidelogError
from tidelog.io.sizes import size_line
from tidelog.lang import tree


class Writable(Protocol):
    """A session, as far as its results are written."""

    @property
    def checked(self) -> Checked: ...

    def count(self, name: str) -> int: ...

    def write_output(self, directive: tree.Directive, folder: Path) -> list[Diagnostic]:
        """Write one relation; gives warnings."""
        ...


def write_outputs(session: Writable, folder: Path) -> list[Diagnostic]:
    """All of them; the folder `-` prints. Gives warnings."""
    warnings: list[Diagnostic] = []
    problems: list[Diagnostic] = []
    for directive in session.checked.directives("output"):
        try:
            warnings += session.write_output(directive, folder)
        except TidelogError as problem:
            problems += problem.diagnostics
    for directive in session.checked.directives("printsize"):
        print(size_line(directive.relation, session.count(directive.relation)))
    if problems:
        raise TidelogError(problems)
    return warnings
