"""Lines from a person: with history and completion where prompt_toolkit or readline is there to offer them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tidelog.cache import cache_directory

PROMPT, CONTINUED = ">> ", ".. "

ReadLine = Callable[[bool], str]
"""The next line, given whether it continues a statement; raises EOFError at the end and KeyboardInterrupt."""


def line_reader(words: Sequence[str]) -> ReadLine:
    """The best that is installed; `words` are completed."""
    try:
        return _prompt_toolkit(words)
    except ImportError:
        with contextlib.suppress(ImportError):
            _set_up_readline(words)
        return lambda continued: input(CONTINUED if continued else PROMPT)


def _history() -> str | None:
    """The file with the lines of earlier sessions ($TIDELOG_HISTORY, or one in the cache), if it can be written."""
    path = Path(os.environ.get("TIDELOG_HISTORY") or cache_directory() / "shell_history")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    except OSError:
        return None
    return str(path)


def _prompt_toolkit(words: Sequence[str]) -> ReadLine:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import WordCompleter
    from prompt_toolkit.history import FileHistory, InMemoryHistory

    path = _history()
    session: Any = PromptSession(
        history=FileHistory(path) if path else InMemoryHistory(),
        completer=WordCompleter(list(words)),
        complete_while_typing=False,
    )
    return lambda continued: str(session.prompt(CONTINUED if continued else PROMPT))


def _set_up_readline(words: Sequence[str]) -> None:
    import atexit
    import readline

    def complete(text: str, state: int) -> str | None:
        found = [word for word in words if word.startswith(text)]
        return found[state] if state < len(found) else None

    readline.set_completer(complete)
    readline.parse_and_bind("tab: complete")
    path = _history()
    if path:
        with contextlib.suppress(OSError):
            readline.read_history_file(path)
        atexit.register(readline.write_history_file, path)
