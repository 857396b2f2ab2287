"""From files to one text: C preprocessor directives, `.include` and `.once`.

The result is a `Source` that knows which file and line each of its lines came from, so that errors point at what
the user wrote. Texts without directives pass through untouched.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from tidelog.errors import LineOrigin, Report, Source, Span
from tidelog.lang.parsing import blank_comments

_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(?:include|define|undef|if|ifdef|ifndef|elif|else|endif|error|warning)\b", re.M)
_LINE_MARK = re.compile(r'^[ \t]*#[ \t]*(?:line[ \t]+)?([0-9]+)(?:[ \t]+"([^"]*)")?.*$')
_INCLUDE = re.compile(r'\.include\s*"((?:\\.|[^"\\\n]++)*+)"|\.once\b|"(?:\\.|[^"\\\n]++)*+"|//[^\n]*')
DEEPEST_INCLUDE = 100
MOST_INCLUDES = 5_000
PREDEFINED = {"RAM_DOMAIN_SIZE": "64"}
"""Macros that every program has: numbers have 64 bits."""


def load(
    path: str | Path, report: Report, include_dirs: Iterable[str | Path] = (), macros: Mapping[str, str] | None = None
) -> Source:
    """The program in a file, with everything it includes."""
    loader = _Loader(report, [Path(d) for d in include_dirs], dict(macros or {}))
    return loader.load(Path(path), None)


def preprocess_text(
    text: str,
    name: str,
    report: Report,
    include_dirs: Iterable[str | Path] = (),
    macros: Mapping[str, str] | None = None,
) -> Source:
    """The same for a text that is not in a file; it may include files relative to the working directory."""
    return _Loader(report, [Path(d) for d in include_dirs], dict(macros or {})).expand(text, name, Path("."))


class _Loader:
    def __init__(self, report: Report, include_dirs: list[Path], macros: dict[str, str]) -> None:
        self.report = report
        self.include_dirs = include_dirs
        self.macros = macros
        self.once: set[Path] = set()
        self.depth = 0
        self.too_deep = False
        self.included = 0

    def one_more(self) -> str | None:
        """See c_preprocessor.Includes."""
        self.included += 1
        return f"more than {MOST_INCLUDES:,} files are included" if self.included > MOST_INCLUDES else None

    def load(self, path: Path, span: Span | None) -> Source:
        try:
            text = path.read_text(encoding="utf-8-sig", errors="surrogateescape")
        except OSError as problem:
            self.report.error("TL0115", f"cannot read {path}: {problem.strerror}", span)
            text = ""
        return self.expand(text, str(path), path.parent)

    def expand(self, text: str, name: str, folder: Path) -> Source:
        source = Source(name, text)
        if self.macros or _DIRECTIVE.search(text):
            source = self._c_preprocess(source, folder)
        elif re.search(r"^[ \t]*#", text, re.M):
            source = _read_line_marks(source)
        if ".include" in source.text or ".once" in source.text:
            source = self._include(source, folder)
        return source

    def _c_preprocess(self, source: Source, folder: Path) -> Source:
        from tidelog.lang import c_preprocessor

        text = c_preprocessor.run(
            source, self.report, (folder, *self.include_dirs), {**PREDEFINED, **self.macros}, self
        )
        return _read_line_marks(Source(source.name, text))

    def _include(self, source: Source, folder: Path) -> Source:
        """Put included texts where `.include` stands."""
        blanked = blank_comments(source, Report())
        pieces: list[tuple[str, str, int]] = []  # text, file, line of its first line
        position = 0

        def take(end: int) -> None:
            if end > position:
                name, line = source.origin(source.line_column(position)[0])
                pieces.append((source.text[position:end], name, line))

        for found in _INCLUDE.finditer(blanked):
            if found[0][0] in '"/':
                continue
            span = Span(source, found.start(), found.end())
            take(found.start())
            position = found.end()
            if found[0] == ".once":
                here = Path(source.name).resolve()
                if here in self.once:
                    return _join(source.name, pieces)
                self.once.add(here)
                continue
            if self.too_deep:
                continue
            target = self._find(found[1], folder)
            if target is None:
                self.report.error("TL0115", f"cannot find {found[1]}", span, help="add its folder with -I")
            elif self.depth >= DEEPEST_INCLUDE:
                self.report.error("TL0117", f"includes nest more than {DEEPEST_INCLUDE} deep", span,
                                  help="does a file include itself? `.once` in it prevents that")  # fmt: skip
                self.too_deep = True
            elif (why := self.one_more()) is not None:
                self.report.error("TL0191", why, span, help="do files include each other, each several times?")
                self.too_deep = True
            else:
                self.depth += 1
                included = self.load(target, span)
                self.depth -= 1
                pieces.append(("\n", *source.origin(source.line_column(found.start())[0])))
                pieces.extend(_pieces_of(included))
                pieces.append(("\n", *source.origin(source.line_column(found.end())[0])))
        take(len(source.text))
        return _join(source.name, pieces)

    def _find(self, name: str, folder: Path) -> Path | None:
        return next((d / name for d in (folder, *self.include_dirs) if (d / name).is_file()), None)


def _read_line_marks(source: Source) -> Source:
    """Turn `#line` and `# 1 "file"` lines into origins; the text keeps its lines."""
    origins, lines = [], source.text.split("\n")
    name = source.name
    for index, line in enumerate(lines):
        mark = _LINE_MARK.match(line)
        if mark:
            name = mark[2] or name
            origins.append(LineOrigin(index + 2, name, int(mark[1])))
            lines[index] = ""
        elif line.lstrip().startswith("#"):
            lines[index] = ""
    return Source(source.name, "\n".join(lines), origins)


def _pieces_of(source: Source) -> list[tuple[str, str, int]]:
    """The text line by line with origins, joined where lines follow each other in one file."""
    pieces: list[tuple[str, str, int]] = []
    start, expected = 0, None
    lines = source.text.splitlines(keepends=True)
    for index, _ in enumerate(lines):
        origin = source.origin(index + 1)
        if expected != origin:
            if index > start:
                pieces.append(("".join(lines[start:index]), *source.origin(start + 1)))
            start = index
        expected = (origin[0], origin[1] + 1)
    if lines:
        pieces.append(("".join(lines[start:]), *source.origin(start + 1)))
    return pieces


def _join(name: str, pieces: list[tuple[str, str, int]]) -> Source:
    """One text from pieces; a piece that begins mid-line continues the line before it."""
    origins, line = [], 1
    for text, file, first in pieces:
        origins.append(LineOrigin(line, file, first))
        line += text.count("\n")
    return Source(name, "".join(text for text, _, _ in pieces), origins)
