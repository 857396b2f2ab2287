"""Quoted strings: what stands between the quotes, and back."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from tidelog.errors import Report, Source, Span

if TYPE_CHECKING:
    from lark import Token

_ESCAPES = {
    '"': '"', "'": "'", "\\": "\\", "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    "0": "\0",
}  # fmt: skip


def unescape(token: Token, source: Source, report: Report) -> str:
    """The text of a quoted string token."""
    body = str(token)[1:-1]
    if "\\" not in body:
        return body

    def one(match: re.Match[str]) -> str:
        if match[1] not in _ESCAPES:
            at = (token.start_pos or 0) + 1 + match.start()
            report.error("TL0104", f"unknown escape sequence `\\{match[1]}`", Span(source, at, at + 2))
        return _ESCAPES.get(match[1], match[0])

    return re.sub(r"\\(.)", one, body, flags=re.DOTALL)


@lru_cache(maxsize=1)
def _reverse_escapes() -> dict[int, str]:
    return {ord(value): "\\" + key for key, value in _ESCAPES.items() if key != "'"}


def escape(text: str) -> str:
    """A quoted string that `unescape` reads back."""
    return '"' + text.translate(_reverse_escapes()) + '"'
