"""Text facts line by line: the slow reader that knows exactly what is wrong with which line.

It runs only over stretches of a file that the fast reader (`text_read`) could not read. A line is split as Soufflé
splits it: at each delimiter; when the delimiter has a comma, not inside square brackets; with rfc4180, fields may be
quoted. Unlike in Soufflé a quoted field may also contain line ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import pyarrow as pa

from tidelog.analysis.types import RelationInfo, Type, TypeSystem
from tidelog.io.bad_rows import BadRows, FactLine
from tidelog.io.numbers import ARROW_TYPES, NotANumber, number_of
from tidelog.io.place import Place
from tidelog.io.record_text import MalformedRecord, parse
from tidelog.plain import dataclass, field
from tidelog.values import Kind


@dataclass(frozen=True)
class TextLayout:
    """How a relation's facts are written in a text file."""

    info: RelationInfo
    types: tuple[Type, ...]  # of the attributes
    positions: tuple[int, ...]  # the file's column that each attribute stands in
    file: str
    delimiter: str
    rfc4180: bool
    chosen: bool  # whether the columns were named by the directive

    @property
    def width(self) -> int:
        """How many columns of the file are needed."""
        return max(self.positions) + 1

    @property
    def kinds(self) -> tuple[Kind, ...]:
        return self.info.kinds


def layout_of(place: Place, info: RelationInfo, types: TypeSystem) -> TextLayout:
    declared = tuple(types.types[name] for name in info.types)
    positions = place.columns or tuple(range(info.arity))
    return TextLayout(
        info, declared, positions, place.shown, place.delimiter, place.rfc4180, chosen=place.columns is not None
    )


class Field(NamedTuple):
    """A field of a line: its text, and where in the line it stands."""

    text: str
    start: int
    end: int


class BadLine(ValueError):
    """What is wrong with a line, and at which characters."""

    def __init__(self, code: str, message: str, start: int, end: int, help: str | None = None) -> None:
        super().__init__(message)
        self.code, self.message, self.start, self.end, self.help = code, message, start, end, help


class OpenQuote(BadLine):
    """A quoted field does not end on its line."""


def split_line(line: str, layout: TextLayout) -> list[Field]:
    """The fields of a line."""
    if layout.rfc4180:
        return _split_quoted(line, layout.delimiter)
    if "," in layout.delimiter and ("[" in line or "]" in line):
        return _split_bracketed(line, layout.delimiter)
    fields, start = [], 0
    for text in line.split(layout.delimiter):
        fields.append(Field(text, start, start + len(text)))
        start += len(text) + len(layout.delimiter)
    return fields


def _split_bracketed(line: str, delimiter: str) -> list[Field]:
    """Delimiters inside square brackets belong to a record."""
    fields, start, pos, depth = [], 0, 0, 0
    while pos < len(line):
        if depth == 0 and line.startswith(delimiter, pos):
            fields.append(Field(line[start:pos], start, pos))
            start = pos = pos + len(delimiter)
            continue
        depth += (line[pos] == "[") - (line[pos] == "]")
        if depth < 0:
            raise BadLine("TL0624", "`]` closes no record", pos, pos + 1)
        pos += 1
    if depth > 0:
        raise BadLine("TL0624", "a record does not end: `]` is missing", start, len(line))
    return [*fields, Field(line[start:], start, len(line))]


def _split_quoted(line: str, delimiter: str) -> list[Field]:
    fields, start = [], 0
    while True:
        if not line.startswith('"', start):
            end = line.find(delimiter, start)
            end = len(line) if end < 0 else end
            fields.append(Field(line[start:end], start, end))
        else:
            end = start + 1
            while True:
                end = line.find('"', end)
                if end < 0:
                    raise OpenQuote("TL0624", "a quoted field does not end", start, len(line))
                if line.startswith('""', end):
                    end += 2
                    continue
                break
            end += 1
            if end < len(line) and not line.startswith(delimiter, end):
                raise BadLine("TL0624", "a quoted field goes on after its closing quote", end, end + 1)
            fields.append(Field(line[start + 1 : end - 1].replace('""', '"'), start, end))
        if end >= len(line):
            return fields
        start = end + len(delimiter)


@dataclass
class FactLineReader:
    """Reads lines into columns of values; malformed ones go to `bad`."""

    layout: TextLayout
    bad: BadRows
    columns: list[list[Any]] = field(init=False)
    wide: FactLine | None = None  # the first line with more fields than attributes

    def __post_init__(self) -> None:
        self.columns = [[] for _ in self.layout.kinds]

    def read(self, data: bytes, first: int) -> list[pa.Array]:
        """The columns of the good lines in a stretch of text; `first` is the number of its first line."""
        for number, line in _logical_lines(data, first, self.layout, self.bad):
            try:
                values = self.values(line, number)
            except BadLine as problem:
                place = FactLine(self.layout.file, number, line)
                self.bad.add(problem.code, problem.message, place, problem.start, problem.end, problem.help)
                continue
            for column, value in zip(self.columns, values, strict=True):
                column.append(value)
        kinds = self.layout.kinds
        return [pa.array(c, ARROW_TYPES[k]) for c, k in zip(self.columns, kinds, strict=True)]

    def values(self, line: str, number: int) -> list[Any]:
        layout = self.layout
        fields = split_line(line, layout)
        if len(fields) < layout.width:
            raise self.too_few(line, fields)
        if len(fields) > layout.width and not layout.chosen and self.wide is None:
            self.wide = FactLine(layout.file, number, line)
        return [self.value(fields[p], attribute) for attribute, p in enumerate(layout.positions)]

    def value(self, found: Field, attribute: int) -> Any:
        kind = self.layout.kinds[attribute]
        if kind is Kind.SYMBOL:
            return found.text
        info = self.layout.info
        what = f"(attribute `{info.attributes[attribute]}` of `{info.name}`)"
        try:
            if kind is Kind.RECORD:
                parse(found.text, self.layout.types[attribute])
                return found.text
            return number_of(found.text, kind)
        except MalformedRecord as problem:
            shift = found.start + (self.layout.rfc4180 and found.end - found.start > len(found.text))
            end = min(shift + problem.end, found.end)
            message = f"`{_short(found.text)}` is not a `{info.types[attribute]}` {what}: {problem}"
            raise BadLine("TL0621", message, min(shift + problem.start, end), end) from None
        except NotANumber as problem:
            message = f"`{_short(found.text)}` {problem} {what}" if found.text.strip() else f"a value {problem} {what}"
            raise BadLine("TL0621", message, found.start, found.end) from None

    def too_few(self, line: str, fields: list[Field]) -> BadLine:
        layout = self.layout
        attributes = "attribute" if layout.info.arity == 1 else "attributes"
        wanted = f"relation `{layout.info.name}` has {layout.info.arity} {attributes}"
        if layout.chosen:
            wanted = f"column {layout.width - 1} is asked for, counted from 0"
        have = "an empty line" if not line else f"{len(fields)} value" + ("s" if len(fields) != 1 else "")
        return BadLine("TL0622", f"{have}, but {wanted}", 0, len(line), _other_delimiter(line, layout))


def _other_delimiter(line: str, layout: TextLayout) -> str | None:
    """What to do if the line would split well at another delimiter."""
    if not line:
        return "delete the line"
    used = {"\t": "a tab", " ": "a space"}.get(layout.delimiter, f"`{layout.delimiter}`")
    for other, escaped in (("\t", "\\t"), (",", ","), (";", ";"), ("|", "|"), (" ", " ")):
        if other != layout.delimiter and line.count(other) + 1 == layout.width:
            return f'the delimiter is {used}; for this file, write `.input {layout.info.name}(delimiter="{escaped}")`'
    return f"the delimiter between values is {used}"


def _logical_lines(data: bytes, first: int, layout: TextLayout, bad: BadRows) -> Iterator[tuple[int, str]]:
    """The lines with their numbers; with rfc4180, those that belong to one quoted field are joined."""
    lines = data.split(b"\n")
    if not lines[-1]:
        lines.pop()
    at = 0
    while at < len(lines):
        line = _decoded(lines[at], first + at, layout, bad)
        count = 1
        if line is not None and layout.rfc4180 and '"' in line:
            joined = _joined(line, lines[at + 1 : at + 1000], layout)
            if joined is not None:
                line, count = joined
        if line is not None:
            yield first + at, line
        at += count


def _joined(line: str, following: list[bytes], layout: TextLayout) -> tuple[str, int] | None:
    """The line with those after it that its open quoted field reaches into, and how many lines that is."""
    for count in range(len(following) + 1):
        if count:
            line = f"{line}\n{following[count - 1].decode(errors='replace')}"
        try:
            _split_quoted(line, layout.delimiter)
            return line.removesuffix("\r"), count + 1
        except OpenQuote:
            continue
        except BadLine:
            return None
    return None


def _decoded(raw: bytes, number: int, layout: TextLayout, bad: BadRows) -> str | None:
    if not (layout.rfc4180 and raw.count(b'"') % 2):  # in an open field it is part of the value
        raw = raw.removesuffix(b"\r")
    try:
        return raw.decode()
    except UnicodeDecodeError as problem:
        line = FactLine(layout.file, number, raw.decode(errors="replace"))
        start = len(raw[: problem.start].decode(errors="replace"))
        message = f"byte 0x{raw[problem.start]:02x} is not valid UTF-8"
        bad.add("TL0623", message, line, start, start + 1, "fact files are read as UTF-8; convert the file")
        return None


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:59] + "…"
