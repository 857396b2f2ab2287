"""Regular expressions, matched without backtracking: the time is linear in the text, whatever the pattern.

Patterns are written as in Soufflé, in ECMAScript's syntax as C++ has it, and carried out by RE2, which pyarrow brings.
`translated` says what of the syntax differs. What needs backtracking (references back, looking ahead) is refused, as is
what is no regular expression; whoever asks then says so, and neither `match` nor `!match` holds.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class BadPattern(ValueError):
    """A text that is no regular expression, or none that can be matched; says why."""


_PIECE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|c([a-zA-Z])|.|$)|\[\^?|\(\?(.?)|\{(?:[0-9]+(?:,[0-9]*)?\})?|.", re.DOTALL)
_IN_CLASS = re.compile(r"\\(?:u([0-9a-fA-F]{4})|c([a-zA-Z])|.|$)|\[:(\w*):\]|\[[.=]|\]|.", re.DOTALL)
_SHORT_CLASSES = {"d": r"\d", "s": r"\s", "w": r"\w"}
_ESCAPES = set("dDsSwWbBfnrtv0x")
_BEGIN, _END = r"\A(?:", r")\z"


def problem_of(pattern: str) -> str | None:
    """Why this text cannot be matched with, None if it can."""
    try:
        _matching(pattern, [""])
    except BadPattern as problem:
        return str(problem)
    return None


def complaint(pattern: str, why: str) -> str:
    """What the user is told about a pattern that cannot be matched with."""
    shown = pattern if len(pattern) <= 60 else pattern[:57] + "..."
    return f'"{shown}" is no regular expression that can be matched ({why}): neither match nor !match holds for it'


def match_columns(patterns: Any, texts: Any, wanted: bool) -> tuple[NDArray[np.bool_], dict[str, str]]:
    """For each pair of a pattern and a text (Arrow arrays of strings), whether that the pattern matches the whole text
    is as wanted; and the patterns for which neither holds, with the reason."""
    import numpy as np

    coded = patterns.dictionary_encode()
    which = coded.indices.to_numpy(zero_copy_only=False)
    order = np.argsort(which, kind="stable")
    starts = np.searchsorted(which[order], np.arange(len(coded.dictionary) + 1))
    found = np.zeros(len(which), np.bool_)
    problems: dict[str, str] = {}
    for number, pattern in enumerate(coded.dictionary.to_pylist()):
        rows = order[starts[number] : starts[number + 1]]
        try:
            found[rows] = _matching(pattern, texts if len(rows) == len(found) else texts.take(rows)) == wanted
        except BadPattern as problem:
            problems[pattern] = str(problem)
    return found, problems


def _matching(pattern: str, texts: Any) -> NDArray[np.bool_]:
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    array = pa.array(texts, pa.string()) if isinstance(texts, list) else texts
    try:
        return np.asarray(
            pc.match_substring_regex(array, pattern=translated(pattern)).to_numpy(zero_copy_only=False), np.bool_
        )
    except pa.ArrowInvalid as problem:
        raise BadPattern(_words(str(problem))) from None
    except UnicodeEncodeError:
        raise BadPattern("it is no text in UTF-8") from None


def _words(message: str) -> str:
    """What RE2 says; where it repeats the whole pattern, without that."""
    what, _, where = message.removeprefix("Invalid regular expression: ").partition(": ")
    return f"{what}: {where}" if where and not where.startswith(_BEGIN) else what


@lru_cache(maxsize=1024)
def translated(pattern: str) -> str:
    """The pattern for RE2, for whole texts.

    `\\u0041` and `\\cJ` are written as numbers, `[[:d:]]` as `\\d`; `]` begins no class that is not empty; `.` matches
    neither a line feed nor a carriage return. Braces that are no repetition are refused, as C++ refuses them.
    """
    pieces, at, depth = [], 0, 0
    while at < len(pattern):
        found = _PIECE.match(pattern, at)
        assert found is not None, "any character is a piece"
        piece, at = found[0], found.end()
        if piece[0] == "\\":
            pieces.append(_escape(found))
        elif piece[0] == "[":
            made, at = _class(pattern, at, piece)
            pieces.append(made)
        elif piece[:2] == "(?":
            if found[3] in ("=", "!", "<"):
                raise BadPattern("it looks ahead or behind, which needs backtracking")
            if found[3] != ":":
                raise BadPattern("`(?` is followed by something else than `:`")
            pieces.append(piece)
        elif piece == "{":
            raise BadPattern("these braces are no repetition such as {2} or {2,5}")
        else:
            pieces.append(r"[^\n\r]" if piece == "." else piece)
        depth += (piece[0] == "(") - (piece == ")")
        if depth < 0:
            raise BadPattern("`)` without `(`")
    if depth:
        raise BadPattern("`(` without `)`")
    return f"{_BEGIN}{''.join(pieces)}{_END}"


def _escape(found: re.Match[str], in_class: bool = False) -> str:
    piece = found[0]
    if len(piece) == 1:
        raise BadPattern("it ends with a backslash")
    if found[1]:
        return rf"\x{{{found[1]}}}"
    if found[2]:
        return rf"\x{ord(found[2]) % 32:02x}"
    letter = piece[1]
    if letter in "123456789":
        raise BadPattern("it refers back to a group, which needs backtracking")
    if letter == "b" and in_class:
        return r"\x08"
    if letter == "0":
        return r"\x00"
    if letter.isalnum() and letter not in _ESCAPES:
        raise BadPattern(f"there is no escape `\\{letter}`")
    return piece if letter.isascii() else letter


def _class(pattern: str, at: int, opening: str) -> tuple[str, int]:
    """A class in brackets, and where it ends."""
    pieces: list[str] = []
    while at < len(pattern):
        found = _IN_CLASS.match(pattern, at)
        assert found is not None, "any character is a piece"
        piece, at = found[0], found.end()
        if piece == "]":
            if not pieces:  # ECMAScript's empty class, and the one that it is the opposite of
                return (r"[\x00-\x{10FFFF}]" if opening == "[^" else r"[^\x00-\x{10FFFF}]"), at
            return f"{opening}{''.join(pieces)}]", at
        if piece[0] == "\\":
            pieces.append(_escape(found, in_class=True))
        elif piece[:2] in ("[.", "[="):
            raise BadPattern(f"classes such as `{piece}a{piece[1]}]` are not known")
        elif found[3] is not None:
            pieces.append(_SHORT_CLASSES.get(found[3], piece))
        else:
            pieces.append(rf"\{piece}" if piece == "[" else piece)
    raise BadPattern("a bracket `[` is not closed")
