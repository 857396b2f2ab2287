"""Where the statements of a command script end, while the script is still arriving line by line.

A change (`insert`, `delete`, …) ends with a comma outside brackets or with a semicolon, any other command with a
semicolon. A query ends with a question mark before a blank or semicolon, or, if it begins with `?-`, with such a dot.
What begins with no word of the language ends with a dot too, as it would in a program, to be explained. Nothing ends
inside a string; `#` begins a comment.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tidelog.errors import LineOrigin, Source, Span
from tidelog.plain import dataclass

CHANGES = ("insert", "delete", "insert_or_update", "delete_key", "modify")
FIRST_WORDS = {
    *CHANGES, "start", "commit", "dump", "show", "rollback", "clear", "echo", "timestamp", "log_level", "profile",
    "sleep", "mssleep", "query_index", "dump_index", "help", "exit", "quit",
}  # fmt: skip

_BEFORE = re.compile(r"(?:\s++|#[^\n]*+)*+")
_FIRST = re.compile(r"\?-|\w+")
_PIECE = re.compile(r'"(?:\\.|[^"\\]++)*+"|"|#[^\n]*|[(\[{]|[)\]}]|[,;]|[?.](?=[\s;])', re.DOTALL)


@dataclass(frozen=True)
class Statement:
    """A stretch of the script, and the mark that ended it, which is not part of it."""

    span: Span
    is_query: bool
    mark: str

    @property
    def text(self) -> str:
        return self.span.source.text[self.span.start : self.span.end]


class Statements:
    """The script so far, from the line on where its first unfinished statement begins."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._text = ""
        self._at = 0
        self._line = 1

    def feed(self, line: str) -> Iterator[Statement]:
        """The statements that end in this line."""
        self._text += line
        while (found := self._next()) is not None:
            self._forget_lines()
            yield found
        self._forget_lines()

    @property
    def unfinished(self) -> Span | None:
        """What is there of a statement that has not ended yet."""
        start = self._start()
        end = len(self._text.rstrip())
        return Span(self._source(end), start, end) if start < end else None

    def forget(self) -> None:
        """Drop what has not ended."""
        self._at = len(self._text)
        self._forget_lines()

    def _start(self) -> int:
        found = _BEFORE.match(self._text, self._at)
        assert found is not None
        return found.end()

    def _next(self) -> Statement | None:
        start = self._start()
        first = _FIRST.match(self._text, start)
        word = first[0] if first else ""
        end = self._text.find(";", start) if word == "echo" else self._end(start, word)
        if end < 0:
            return None
        self._at = end + 1
        mark = self._text[end]
        begin = start + 2 if word == "?-" else start
        return Statement(Span(self._source(end), begin, end), word == "?-" or mark == "?", mark)

    def _end(self, start: int, word: str) -> int:
        """Where the character is that ends the statement which begins with this word, or -1."""
        ends = ".?" if word == "?-" else ",;" if word in CHANGES else ";?" if word in FIRST_WORDS else ";?."
        depth = 0
        for piece in _PIECE.finditer(self._text, start + len(word)):
            mark = piece[0]
            if mark == '"':
                return -1
            if mark in "([{":
                depth += 1
            elif mark in ")]}":
                depth -= 1
            elif mark in ends and (depth <= 0 or mark != ","):
                return piece.start()
        return -1

    def _source(self, end: int) -> Source:
        return Source(self.name, self._text[:end], [LineOrigin(1, self.name, self._line)])

    def _forget_lines(self) -> None:
        cut = self._text.rfind("\n", 0, self._at) + 1
        self._line += self._text.count("\n", 0, cut)
        self._text, self._at = self._text[cut:], self._at - cut
