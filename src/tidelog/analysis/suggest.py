"""The "did you mean" of error messages."""

from __future__ import annotations

from collections.abc import Iterable

MOST_NAMES = 2000
MOST_QUESTIONS = 20


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """A help text that offers the known name nearest to this one, if any is near."""
    from difflib import get_close_matches  # only who has made a mistake waits for it

    near = get_close_matches(name, list(known)[:MOST_NAMES], n=1)
    return f"did you mean `{near[0]}`?" if near else None


class Suggestions:
    """Answers `did_you_mean` for the first few unknown names; a program full of them must not become slow."""

    def __init__(self, known: Iterable[str]) -> None:
        self._known = known
        self._answers: dict[str, str | None] = {}

    def near(self, name: str) -> str | None:
        if name not in self._answers:
            asked = len(self._answers) < MOST_QUESTIONS
            self._answers[name] = did_you_mean(name, self._known) if asked else None
        return self._answers[name]
