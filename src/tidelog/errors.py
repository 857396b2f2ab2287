"""Every user-facing error: code, message, source span, caret picture.

A user's mistake becomes one or more `Diagnostic`s. Stages collect them in a `Report` and raise a single
`TidelogError` that holds all of them, so that everything wrong is shown at once. A broken invariant of
our own is an `InternalError`; nothing else may reach a user.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from enum import Enum
from typing import NamedTuple

from tidelog.plain import dataclass, field


@dataclass(frozen=True)
class LineOrigin:
    """From this line of a source's text on, lines come from `name`, starting at its line `line`."""

    first: int
    name: str
    line: int


class Source:
    """A program text, and where its lines came from when includes or macros put it together."""

    def __init__(self, name: str, text: str, origins: Iterable[LineOrigin] = ()) -> None:
        self.name = name
        self.text = text
        self._origins = list(origins)
        self._starts: list[int] | None = None

    def _line_starts(self) -> list[int]:
        if self._starts is None:
            self._starts = [0]
            self._starts.extend(i + 1 for i, c in enumerate(self.text) if c == "\n")
        return self._starts

    def only(self, span: Span) -> Source:
        """This source with blanks before a span and nothing behind it: what is read there keeps its place."""
        before = "".join(c if c == "\n" else " " for c in self.text[: span.start])
        return Source(self.name, before + self.text[span.start : span.end], self._origins)

    def line_column(self, offset: int) -> tuple[int, int]:
        """1-based line and column of an offset in this text."""
        starts = self._line_starts()
        line = bisect_right(starts, offset)
        return line, offset - starts[line - 1] + 1

    def line_text(self, line: int) -> str:
        starts = self._line_starts()
        end = starts[line] - 1 if line < len(starts) else len(self.text)
        return self.text[starts[line - 1] : end].rstrip("\r")

    def origin(self, line: int) -> tuple[str, int]:
        """The file and line that the user wrote, for a line of this text."""
        index = bisect_right(self._origins, line, key=lambda o: o.first) - 1
        if index < 0:
            return self.name, line
        start = self._origins[index]
        return start.name, start.line + line - start.first


class Span(NamedTuple):
    """A stretch of a source text: offsets start (included) to end (excluded)."""

    source: Source
    start: int
    end: int

    def __str__(self) -> str:
        line, column = self.source.line_column(self.start)
        name, line = self.source.origin(line)
        return f"{name}:{line}:{column}"

    def to(self, other: Span | None) -> Span:
        return self if other is None else Span(self.source, self.start, max(self.end, other.end))


class Severity(Enum):
    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True)
class Diagnostic:
    """One thing to tell the user: what, where, and what to do about it."""

    code: str
    message: str
    span: Span | None = None
    help: str | None = None
    notes: tuple[tuple[str, Span | None], ...] = ()
    severity: Severity = Severity.ERROR

    def render(self) -> str:
        lines = [f"{self.severity.value}[{self.code}]: {self.message}"]
        if self.span is not None:
            lines += _picture(self.span)
        for text, span in self.notes:
            lines.append(f"  note: {text}")
            if span is not None:
                lines += _picture(span)
        if self.help:
            lines.append(f"  help: {self.help}")
        return "\n".join(lines)


def _picture(span: Span) -> list[str]:
    """The place, the source line, and carets under the span (its first line only)."""
    line, column = span.source.line_column(span.start)
    text = span.source.line_text(line).replace("\t", " ")
    name, number = span.source.origin(line)
    window = 160
    shift = max(0, column - 1 - window // 2) if len(text) > window else 0
    shown = ("…" if shift else "") + text[shift : shift + window] + ("…" if len(text) > shift + window else "")
    end_line, end_column = span.source.line_column(max(span.end - 1, span.start))
    last = end_column if end_line == line else len(text)
    width = max(1, min(last, shift + window) - column + 1)
    gutter = " " * len(str(number))
    caret_at = column - 1 - shift + (1 if shift else 0)
    return [
        f"{gutter} --> {name}:{number}:{column}",
        f"{number} | {shown}",
        f"{gutter} | {' ' * caret_at}{'^' * width}",
    ]


class TidelogError(Exception):
    """One or more user-facing problems. `str()` shows all of them with their pictures."""

    def __init__(self, diagnostics: Diagnostic | Iterable[Diagnostic]) -> None:
        single = isinstance(diagnostics, Diagnostic)
        self.diagnostics: tuple[Diagnostic, ...] = (diagnostics,) if single else tuple(diagnostics)  # type: ignore[assignment,arg-type]
        super().__init__(self.diagnostics)

    def __str__(self) -> str:
        return render(self.diagnostics)

    @property
    def codes(self) -> tuple[str, ...]:
        return tuple(d.code for d in self.diagnostics)


class TidelogWarning(UserWarning):
    """What a query warns of, which has nothing but its answer to say it with, and what those should see, too, who do
    not look at the warnings of an epoch (Python's `warnings`)."""


class InternalError(Exception):
    """A broken invariant of Tidelog itself: a bug to report, never the user's mistake."""


def error(code: str, message: str, span: Span | None = None, **extra: object) -> TidelogError:
    """A TidelogError of one diagnostic, for places where nothing else can be collected."""
    return TidelogError(Diagnostic(code, message, span, **extra))  # type: ignore[arg-type]


@dataclass
class Report:
    """Collects diagnostics over a stage; `check()` raises once if there were errors.

    `unread` are the names in stretches of the program that could not be parsed; `incomplete` says that a part of the
    program is not there at all, such as a file that cannot be read. What is declared there nobody knows.
    """

    diagnostics: list[Diagnostic] = field(default_factory=list)
    unread: set[str] = field(default_factory=set)
    incomplete: bool = False

    def may_be_declared(self, name: str) -> bool:
        """Whether a name that was not found may be declared in what could not be read."""
        return self.incomplete or not self.unread.isdisjoint((name, *name.split(".")))

    def error(self, code: str, message: str, span: Span | None = None, **extra: object) -> None:
        self.diagnostics.append(Diagnostic(code, message, span, **extra))  # type: ignore[arg-type]

    def warn(self, code: str, message: str, span: Span | None = None, **extra: object) -> None:
        self.diagnostics.append(Diagnostic(code, message, span, severity=Severity.WARNING, **extra))  # type: ignore[arg-type]

    def forget(self, code: str) -> None:
        """Nothing of this code was found."""
        self.diagnostics = [d for d in self.diagnostics if d.code != code]

    @property
    def errors(self) -> list[Diagnostic]:
        return [d for d in self.diagnostics if d.severity is Severity.ERROR]

    @property
    def warnings(self) -> list[Diagnostic]:
        return [d for d in self.diagnostics if d.severity is Severity.WARNING]

    def check(self) -> None:
        """Raise the errors, in the order of their places in the program."""
        if self.errors:
            raise TidelogError(in_source_order(self.errors))

    def check_in_order(self) -> None:
        """Raise the errors in the order in which they were found: facts have no place in the program."""
        if self.errors:
            raise TidelogError(self.errors)


def in_source_order(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Sorted by place; the same text at the same place only once."""
    seen: dict[tuple[str, str, int], Diagnostic] = {}
    for d in diagnostics:
        seen.setdefault((d.code, d.message, d.span.start if d.span else -1), d)
    return sorted(seen.values(), key=lambda d: d.span.start if d.span else -1)


SHOWN_OF_A_KIND = 5
NAMES_SHOWN = 5


def condensed(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """The first few of each kind, and then one that says how many more there are and where."""
    kinds: dict[str, list[Diagnostic]] = {}
    for d in diagnostics:
        kinds.setdefault(d.code, []).append(d)
    result: list[Diagnostic] = []
    for code, found in kinds.items():
        most = SHOWN_OF_A_KIND if len(found) > SHOWN_OF_A_KIND + 1 else len(found)
        result += found[:most]
        rest = found[most:]
        if rest:
            places = [str(d.span) for d in rest if d.span is not None]
            where = f", at {listed(places)}" if places else ""
            result.append(Diagnostic(code, f"{len(rest):,} more of this kind{where}", severity=rest[0].severity))
    return result


def listed(names: Sequence[str]) -> str:
    """`a, b and 25 more`: a few of them, and how many there are besides."""
    shown = names if len(names) <= NAMES_SHOWN + 1 else names[:NAMES_SHOWN]
    more = f" and {len(names) - len(shown):,} more" if len(shown) < len(names) else ""
    return ", ".join(shown) + more


def amount(number: int, what: str) -> str:
    """`no fields`, `1 field`, `2 fields`."""
    return f"{number or 'no'} {what}{'' if number == 1 else 's'}"


def render(diagnostics: Iterable[Diagnostic]) -> str:
    return "\n".join(d.render() for d in diagnostics)
