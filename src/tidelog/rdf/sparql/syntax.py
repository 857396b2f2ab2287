"""What is malformed in the text of a query or an update, by pyoxigraph's grammar.

rdflib's grammar is lax: it lets pass a SELECT of variables that GROUP BY does not give, a name that is bound twice,
VALUES with a value too many, prefixes that nobody declared. Here a text is handed to pyoxigraph over no triples at all,
and only what it says against the text is taken. It must not ask other places meanwhile: texts with the words SERVICE or
LOAD are left to rdflib. Cost: a parse by native code, a small part of rdflib's.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_ELSEWHERE = re.compile(r"\b(?:SERVICE|LOAD)\b", re.IGNORECASE)
_NAMES = re.compile(r"\bAS\b", re.IGNORECASE)
_TWICE = "Duplicated variable name in SELECT"
_ANYWHERE = "http://relative.invalid/"
_SAID = re.compile(r"error at (\d+):(\d+): (.*)", re.DOTALL)
_SENTENCE = re.compile(r"[A-Z][a-z]*(?: [^,]+)+")


class Misreading(NamedTuple):
    """What is wrong with a text, and where."""

    message: str
    place: int


def malformed(text: str, what: str, complete: bool = False) -> Misreading | None:
    """What is wrong with a "query" or an "update"; None if nothing is, or if it is not known. It is `complete` if
    rdflib could read all of it."""
    import pyoxigraph

    if _ELSEWHERE.search(text):
        return None
    store = pyoxigraph.Store()
    try:
        if what == "query":
            store.query(text, base_iri=_ANYWHERE)
        else:
            store.update(text, base_iri=_ANYWHERE)
    except SyntaxError as problem:
        if _TWICE in str(problem) and not _NAMES.search(text):
            return None  # a variable that is asked for twice has a column, which is allowed
        found = _SAID.fullmatch(str(problem))
        if found is None:
            return Misreading(str(problem).partition("\n")[0], 0)
        place = _place(text, int(found[1]), int(found[2]))
        return Misreading(_message(found[3], complete, not text[place:].strip()), place)
    except (OSError, RuntimeError, ValueError):
        return None  # it could be read, and its evaluation is ours
    return None


def _message(said: str, complete: bool, at_end: bool) -> str:
    """The sentences of what was said. The words that could have stood there are too many to help, and not all."""
    expected = said.removeprefix("expected one of ").removeprefix("expected ")
    sentences = [part for part in expected.split(", ") if _SENTENCE.fullmatch(part) and "\\u" not in part]
    if sentences:
        return "; ".join(part[0].lower() + part[1:] for part in sentences)
    if complete:
        return "a value has no variable, or a variable is bound that had a value before"
    return "it ends too early" if at_end else "it cannot be read from here on"


def _place(text: str, line: int, column: int) -> int:
    lines = text.splitlines(keepends=True)
    return min(sum(map(len, lines[: line - 1])) + column - 1, len(text))
