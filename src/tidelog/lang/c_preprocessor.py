"""C preprocessor directives (pcpp does the work), its complaints turned into diagnostics."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pcpp import Action, OutputDirective, Preprocessor

from tidelog.errors import Report, Source, Span

DEEPEST_INCLUDE = 100
DEEPEST_CONDITION = 100

_CONDITION = re.compile(r"^[ \t]*#[ \t]*(if|endif)", re.MULTILINE)


def run(source: Source, report: Report, folders: Iterable[Path], macros: Mapping[str, str]) -> str:
    """The text with its directives carried out; `#line` marks say where lines came from."""
    if not _check_conditions(source, report):
        return ""
    driver = _Driver(source, report)
    for folder in folders:
        driver.add_path(str(folder))
    out = io.StringIO()
    try:
        for name, value in macros.items():
            driver.define(f"{name} {value}")
        driver.parse(source.text, source.name)
        driver.write(out)
    except (OutputDirective, ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
        # pcpp trips over directives that lack an argument
        driver.complain("TL0116", "preprocessor: this directive is malformed")
    return out.getvalue()


def _check_conditions(source: Source, report: Report) -> bool:
    """Whether `#if` nests little enough for pcpp."""
    depth = 0
    for found in _CONDITION.finditer(source.text):
        depth += 1 if found[1] == "if" else -1
        if depth > DEEPEST_CONDITION:
            report.error("TL0103", f"`#if` is nested more than {DEEPEST_CONDITION} levels deep",
                         Span(source, found.start(), found.end()))  # fmt: skip
            return False
    return True


class _Driver(Preprocessor):  # type: ignore[misc]
    def __init__(self, top: Source, report: Report) -> None:
        super().__init__()
        self.top = top
        self.report = report
        self.too_deep = False
        self.line_directive = "#line"
        self.compress = 0

    def complain(self, code: str, message: str, at: Any = None, help: str | None = None) -> None:
        at = at or self.lastdirective
        span = None if at is None else _line_span(self.top, at.source or self.top.name, at.lineno)
        self.report.error(code, message, span, help=help)

    def on_error(self, file: str, line: int, msg: str) -> None:
        self.report.error("TL0116", f"preprocessor: {msg}", _line_span(self.top, file, line))

    def on_include_not_found(self, is_malformed: bool, is_system_include: bool, curdir: str, includepath: str) -> None:
        what = "malformed #include" if is_malformed else f"cannot find {includepath}"
        self.complain("TL0115", what, help="add its folder with -I")
        raise OutputDirective(Action.IgnoreAndRemove)

    def on_directive_handle(self, directive: Any, toks: Any, ifpassthru: bool, precedingtoks: Any) -> Any:
        self.lastdirective = directive
        if directive.value == "include" and self.include_depth > DEEPEST_INCLUDE and not self.too_deep:
            self.too_deep = True
            self.complain("TL0117", f"includes nest more than {DEEPEST_INCLUDE} deep",
                          help="does a file include itself? `#ifndef` in it prevents that")  # fmt: skip
        if directive.value == "include" and self.too_deep:
            raise OutputDirective(Action.IgnoreAndRemove)
        return super().on_directive_handle(directive, toks, ifpassthru, precedingtoks)

    def on_directive_unknown(self, directive: Any, toks: Any, ifpassthru: bool, precedingtoks: Any) -> Any:
        text = "".join(token.value for token in toks).strip()
        if directive.value == "error":
            self.complain("TL0116", f"#error {text}", directive)
            return True
        if directive.value == "warning":
            self.report.warn("TL0116", f"#warning {text}", _line_span(self.top, directive.source, directive.lineno))
            return True
        return None


def _line_span(top: Source, file: str, line: int) -> Span | None:
    """A line of the program or of a file that it includes."""
    source = top
    if file != top.name:
        try:
            source = Source(file, Path(file).read_text(encoding="utf-8", errors="surrogateescape"))
        except OSError:
            return None
    lines = source.text.split("\n")
    if not 1 <= line <= len(lines):
        return None
    start = sum(len(text) + 1 for text in lines[: line - 1])
    return Span(source, start, start + max(1, len(lines[line - 1])))
