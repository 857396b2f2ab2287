"""What the statements of the command language say: text to commands.

The language is DDlog's (its command reference); the grammar is `commands.lark`. Values come out as Python data, with
`Struct` for `Name{...}`: whether that is a record or a branch of an ADT is known only together with a relation.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from lark import Lark, TextSlice, Token
from lark.exceptions import UnexpectedInput

from tidelog.analysis.suggest import did_you_mean
from tidelog.cli.shell_help import no_statement
from tidelog.cli.statements import FIRST_WORDS, Statement
from tidelog.errors import Report, Source, Span, TidelogError, error
from tidelog.lang.escapes import unescape
from tidelog.lang.parsing import TreeBuilder, load_grammar, syntax_error
from tidelog.plain import dataclass

WORDS = (
    "start", "insert", "delete", "commit", "dump_changes", "dump", "rollback", "clear", "echo", "timestamp",
    "log_level", "profile", "sleep", "help", "exit",
)  # fmt: skip

_MOST_DIGITS = 1000
"""No value is that large; Python refuses to read some that are larger still."""


@dataclass(frozen=True)
class ShellCommand:
    """Anything that can be said."""


@dataclass(frozen=True)
class Start(ShellCommand):
    pass


@dataclass(frozen=True)
class Commit(ShellCommand):
    dump_changes: bool = False


@dataclass(frozen=True)
class Rollback(ShellCommand):
    pass


@dataclass(frozen=True)
class Timestamp(ShellCommand):
    pass


@dataclass(frozen=True)
class Dump(ShellCommand):
    """The tuples of a relation, or of all output relations."""

    relation: str | None = None


@dataclass(frozen=True)
class Clear(ShellCommand):
    relation: str | None


@dataclass(frozen=True)
class Help(ShellCommand):
    pass


@dataclass(frozen=True)
class Echo(ShellCommand):
    text: str


@dataclass(frozen=True)
class LogLevel(ShellCommand):
    level: int


@dataclass(frozen=True)
class ProfileCommand(ShellCommand):
    """What the session holds and did last; or a setting of DDlog's profiler, such as "cpu on"."""

    setting: str = ""


@dataclass(frozen=True)
class Sleep(ShellCommand):
    milliseconds: int


@dataclass(frozen=True)
class Exit(ShellCommand):
    pass


@dataclass(frozen=True)
class ChangeCommand(ShellCommand):
    """Insert or delete a fact: a tuple of its values, a dict of them by attribute, or one value that is all of it."""

    insert: bool
    relation: str
    row: Any


@dataclass(frozen=True)
class QueryCommand(ShellCommand):
    source: Source


@dataclass(frozen=True)
class Struct:
    """`Name{a, b}`, `Name{.x = a}` or `$Name(a, b)`."""

    name: str
    fields: tuple[Any, ...] | Mapping[str, Any]

    def __repr__(self) -> str:
        """As messages show it."""
        return self.name + ("{…}" if self.fields else "")


def parse(statement: Statement) -> ShellCommand | None:
    """The command of a statement; None for an empty one."""
    if statement.is_query:
        return QueryCommand(statement.span.source.only(statement.span))
    words = statement.text.split(maxsplit=1)
    if not words:
        return None
    if statement.mark == ".":
        raise no_statement(statement.text)
    parser, builder = _parser()
    builder.source, builder.report = statement.span.source, Report()
    try:
        command = parser.parse(TextSlice(builder.source.text, statement.span.start, statement.span.end))
    except UnexpectedInput as problem:
        raise _explained(problem, statement, words[0]) from None
    builder.report.check()
    return command  # type: ignore[return-value]


def _explained(problem: UnexpectedInput, statement: Statement, word: str) -> TidelogError:
    name = word.partition("(")[0]
    if name in FIRST_WORDS:
        return TidelogError(syntax_error(problem, statement.span.source))
    start = statement.span.start
    help = did_you_mean(name, FIRST_WORDS) or "a query ends with `?`; commands are " + ", ".join(WORDS)
    return error("TL1110", f"there is no command `{name}`", Span(statement.span.source, start, start + len(name)),
                 help=help)  # fmt: skip


@cache
def _parser() -> tuple[Lark, _Builder]:
    builder = _Builder()
    return load_grammar("commands", builder, "tidelog.cli"), builder


class _Builder(TreeBuilder):
    """One method per alternative of the grammar; `c` are its children, punctuation included."""

    def begin(self, c: list[Any]) -> ShellCommand:
        return Start()

    def commit(self, c: list[Any]) -> ShellCommand:
        return Commit(len(c) > 1)

    def rollback(self, c: list[Any]) -> ShellCommand:
        return Rollback()

    def timestamp(self, c: list[Any]) -> ShellCommand:
        return Timestamp()

    def dump(self, c: list[Any]) -> ShellCommand:
        return Dump(str(c[1]) if len(c) > 1 else None)

    def clear(self, c: list[Any]) -> ShellCommand:
        return Clear(str(c[1]) if len(c) > 1 else None)

    def help(self, c: list[Any]) -> ShellCommand:
        return Help()

    def echo(self, c: list[Any]) -> ShellCommand:
        return Echo(str(c[0]).removeprefix("echo").lstrip())

    def log_level(self, c: list[Any]) -> ShellCommand:
        return LogLevel(self.integer(c[1:]))

    def profile(self, c: list[Any]) -> ShellCommand:
        return ProfileCommand(" ".join(c[1:]))

    def sleep(self, c: list[Any]) -> ShellCommand:
        return Sleep(self.integer(c[1:]))

    def leave(self, c: list[Any]) -> ShellCommand:
        return Exit()

    def change(self, c: list[Any]) -> ShellCommand:
        return ChangeCommand(str(c[0]) == "insert", str(c[1]), c[3])

    def keyed(self, c: list[Any]) -> ShellCommand:
        raise error("TL1112", f"`{c[0]}` needs a primary key, which relations here do not have", self.span(c[:2]),
                    help="delete the old fact and insert the new one")  # fmt: skip

    def indexed(self, c: list[Any]) -> ShellCommand:
        raise error("TL1112", f"`{c[0]}` needs a declared index, which programs here do not have", self.span(c[:2]),
                    help=f"ask a query, such as `{c[1]}(1, X)?`, or `dump {c[1]}`")  # fmt: skip

    # values

    def positional(self, c: list[Any]) -> tuple[Any, ...]:
        return tuple(v for v in c if not isinstance(v, Token))

    def by_name(self, c: list[Any]) -> dict[str, Any]:
        return dict(pair for pair in c if not isinstance(pair, Token))

    def named(self, c: list[Any]) -> tuple[str, Any]:
        return str(c[1]), c[3]

    def integer(self, c: list[Any]) -> int:
        digits = "".join(str(c[0]).split()).replace("_", "").lower()
        if len(digits) > _MOST_DIGITS:
            raise error("TL1113", f"this number has more than {_MOST_DIGITS} digits", self.span(c))
        return int(digits, 16 if "x" in digits else 10)

    def decimal(self, c: list[Any]) -> float:
        return float(c[0])

    def string(self, c: list[Any]) -> str:
        return unescape(c[0], self.source, self.report)

    def file_text(self, c: list[Any]) -> str:
        path = unescape(c[-1], self.source, self.report)
        try:
            return Path(path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as problem:
            why = problem.strerror if isinstance(problem, OSError) else "it is not UTF-8 text"
            raise error("TL1113", f"cannot read {path}: {why}", self.span(c)) from None

    def from_json(self, c: list[Any]) -> Any:
        return self._json(self.string(c[-1:]), c)

    def from_json_file(self, c: list[Any]) -> Any:
        return self._json(self.file_text(c[-1:]), c)

    def _json(self, text: str, c: list[Any]) -> Any:
        try:
            return json.loads(text)
        except ValueError as problem:
            raise error("TL1113", f"this is not JSON: {problem}", self.span(c)) from None

    def true(self, c: list[Any]) -> int:
        return 1

    def false(self, c: list[Any]) -> int:
        return 0

    def nil(self, c: list[Any]) -> None:
        return None

    def sequence(self, c: list[Any]) -> Any:
        return c[1]

    def struct(self, c: list[Any]) -> Struct:
        at = 1 if c[0] == "$" else 0
        return Struct(str(c[at]), c[at + 2] if len(c) > at + 1 else ())
