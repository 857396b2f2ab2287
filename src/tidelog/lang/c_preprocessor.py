"""C preprocessor directives (pcpp does the work), its complaints turned into diagnostics.

Long literals are hidden from pcpp, which needs three hundred bytes for each of their characters: it is given a short
one for each, and what it makes of the program has the long ones again.
"""

from __future__ import annotations

import io
import re
import secrets
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol

from pcpp import Action, OutputDirective, Preprocessor

from tidelog.errors import Report, Source, Span

DEEPEST_INCLUDE = 100
DEEPEST_CONDITION = 100
MOST_EXPANDED = 1 << 22
"""How much macros may make, in characters, besides 64 for each of the program's; a token counts as eight."""

LONG = 256
"""A literal with more characters is hidden."""
_LITERAL = re.compile(r'//[^\n]*|/\*(?:[^*]++|\*(?!/))*+\*/|"((?:[^"\\\n]++|\\(?:.|\n))*+)"')
_CONDITION = re.compile(r"^[ \t]*#[ \t]*(if|endif)", re.MULTILINE)


class Includes(Protocol):
    """Counts the files that a program includes."""

    def one_more(self) -> str | None:
        """Why this one is too many, None if it is not."""
        ...


def run(source: Source, report: Report, folders: Iterable[Path], macros: Mapping[str, str], includes: Includes) -> str:
    """The text with its directives carried out; `#line` marks say where lines came from."""
    if not _check_conditions(source, report):
        return ""
    driver = _Driver(source, report, includes)
    for folder in folders:
        driver.add_path(str(folder))
    out = io.StringIO()
    try:
        for name, value in macros.items():
            driver.define(f"{name} {value}")
        driver.parse(driver.hidden.hide(source.text), source.name)
        driver.write(out)
    except _TooMuch as problem:
        driver.complain(problem.code, problem.message, help=problem.help)
    except (OutputDirective, ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
        # pcpp trips over directives that lack an argument
        driver.complain("TL0116", "preprocessor: this directive is malformed")
    return driver.hidden.show(out.getvalue())


class _Hidden:
    """Long literals, and the short ones that stand for them: a number, with a name before it that no program has."""

    def __init__(self) -> None:
        self._name = f"tidelog-{secrets.token_hex(8)}-"
        self._literals: list[str] = []

    def hide(self, text: str) -> str:
        return _LITERAL.sub(self._short, text) if len(text) > LONG else text

    def _short(self, found: re.Match[str]) -> str:
        literal = found[1]
        if literal is None or len(literal) <= LONG or "\n" in literal:  # pcpp counts the lines
            return found[0]
        self._literals.append(literal)
        return f'"{self._name}{len(self._literals) - 1}"'

    def show(self, text: str) -> str:
        return re.sub(rf'(\\")?{self._name}([0-9]+)', self._long, text) if self._literals else text

    def _long(self, found: re.Match[str]) -> str:
        literal = self._literals[int(found[2])]
        if found[1] is None:
            return literal
        return found[1] + literal.replace("\\", "\\\\").replace('"', r"\"")  # a macro has made a text of a literal


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


class _TooMuch(Exception):
    """What the directives ask for has no end worth waiting for."""

    def __init__(self, code: str, message: str, help: str) -> None:
        self.code, self.message, self.help = code, message, help


class _Driver(Preprocessor):  # type: ignore[misc]
    def __init__(self, top: Source, report: Report, includes: Includes) -> None:
        super().__init__()
        self.includes = includes
        self.hidden = _Hidden()
        self.expanding = self.expanded = 0
        self.most = MOST_EXPANDED + 64 * len(top.text)
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

    def on_file_open(self, is_system_include: bool, includepath: str) -> Any:
        with super().on_file_open(is_system_include, includepath) as file:
            return io.StringIO(self.hidden.hide(file.read()))

    def on_include_not_found(self, is_malformed: bool, is_system_include: bool, curdir: str, includepath: str) -> None:
        what = "malformed #include" if is_malformed else f"cannot find {includepath}"
        self.complain("TL0115", what, help="add its folder with -I")
        raise OutputDirective(Action.IgnoreAndRemove)

    def expand_macros(self, tokens: list[Any], expanding_from: list[str] = []) -> list[Any]:  # noqa: B006  as pcpp has it
        """pcpp's, which calls itself for whatever a macro gives; that must not grow without bounds."""
        if self.expanding:
            self.expanded += sum(8 + len(str(token.value)) for token in tokens)
            if self.expanded > self.most:
                raise _TooMuch(
                    "TL0190",
                    f"macros expand to more than {self.most // 8:,} tokens",
                    "does a macro double itself, through others?",
                )
        self.expanding += 1
        try:
            return super().expand_macros(tokens, expanding_from)  # type: ignore[no-any-return]
        finally:
            self.expanding -= 1

    def on_directive_handle(self, directive: Any, toks: Any, ifpassthru: bool, precedingtoks: Any) -> Any:
        self.lastdirective = directive
        if directive.value == "include" and self.include_depth > DEEPEST_INCLUDE and not self.too_deep:
            self.too_deep = True
            self.complain("TL0117", f"includes nest more than {DEEPEST_INCLUDE} deep",
                          help="does a file include itself? `#ifndef` in it prevents that")  # fmt: skip
        if directive.value == "include" and self.too_deep:
            raise OutputDirective(Action.IgnoreAndRemove)
        if directive.value == "include" and (why := self.includes.one_more()):
            raise _TooMuch("TL0191", why, "do files include each other, each several times?")
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
