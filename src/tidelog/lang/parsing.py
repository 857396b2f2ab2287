"""What the parsers of all dialects share: spans, syntax errors, resynchronisation, limits.

A parser is a lark LALR grammar whose callbacks build the tree directly. `parse_items` runs it over a text; after
a syntax error it skips to the next clause and goes on, so that one run reports every syntax error.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from importlib.resources import files
from typing import Any, TypeAlias

from lark import Lark, Token, Transformer
from lark.exceptions import UnexpectedCharacters, UnexpectedEOF, UnexpectedInput, UnexpectedToken
from lark.lexer import TextSlice

from tidelog.cache import cache_directory
from tidelog.errors import Diagnostic, Report, Source, Span
from tidelog.lang.advice import Advice, advise
from tidelog.lang.depth import check_brackets, deep_recursion

MOST_SYNTAX_ERRORS = 20


class TreeBuilder(Transformer):  # type: ignore[type-arg]
    """Base of the callbacks that turn parsed pieces into tree nodes; `source` is the text being parsed."""

    source: Source
    report: Report

    def __default_token__(self, token: Token) -> Token:
        return token

    def span(self, children: list[Any]) -> Span:
        """From the first to the last of these tokens and nodes."""
        first, last = children[0], children[-1]
        start = first.start_pos if isinstance(first, Token) else _start(first)
        end = last.end_pos if isinstance(last, Token) else _end(last)
        return Span(self.source, start or 0, end or 0)


def _start(piece: Any) -> int:
    if isinstance(piece, (list, tuple)):
        return _start(piece[0]) if piece else 0
    if isinstance(piece, Token):
        return piece.start_pos or 0
    return piece.span.start if piece is not None and piece.span else 0


def _end(piece: Any) -> int:
    if isinstance(piece, (list, tuple)):
        return _end(piece[-1]) if piece else 0
    if isinstance(piece, Token):
        return piece.end_pos or 0
    return piece.span.end if piece is not None and piece.span else 0


def load_grammar(name: str, builder: TreeBuilder, package: str = "tidelog.lang", **options: Any) -> Lark:
    """The LALR parser for a grammar file of a package; its tables are kept in the user's cache.

    They are named after what they are made from: versions of Tidelog side by side do not overwrite each other's.
    """
    grammar = (files(package) / f"{name}.lark").read_text(encoding="utf-8")
    settings = dict(parser="lalr", transformer=builder, keep_all_tokens=True, maybe_placeholders=False, **options)
    cache = cache_directory()
    try:
        cache.mkdir(parents=True, exist_ok=True)
    except OSError:
        return Lark(grammar, **settings)
    version = hashlib.sha256(grammar.encode()).hexdigest()[:16]
    return Lark(grammar, cache=str(cache / f"grammar-{name}-{options.get('start', 'start')}-{version}"), **settings)


Parse: TypeAlias = Callable[[str, int], Any]
"""The items of a text from an offset on; raises lark's UnexpectedInput."""


def whole_text(parser: Lark) -> Parse:
    """A Parse that lark itself drives."""
    return lambda text, start: parser.parse(TextSlice(text, start, len(text)))


def parse_items(
    parse: Parse,
    builder: TreeBuilder,
    source: Source,
    text: str,
    report: Report,
    resume: Callable[[str, int], int],
    advice: Sequence[Advice] = (),
) -> list[Any]:
    """The items of `text`, which is the source's text or has blanks for what the grammar shall not see.

    Syntax errors go to the report; after one, parsing goes on at `resume(text, offset)`.
    """
    if not check_brackets(text, source, report):
        report.incomplete = True
        return []
    builder.source, builder.report = source, report
    start, errors = 0, 0
    items: list[Any] = []
    with deep_recursion():
        while errors < MOST_SYNTAX_ERRORS:
            try:
                items.extend(parse(text, start))
                break
            except UnexpectedInput as problem:
                found = advise(syntax_error(problem, source), text, advice)
                before = [item for item in getattr(problem, "items_before", ()) if item is not None]
            items.extend(before)
            report.diagnostics.append(found)
            errors += 1
            at = found.span.start if found.span else len(text)
            lost = _end(before[-1]) if before else start
            start = resume(text, max(at, start + 1))
            report.unread.update(_WORD.findall(text, lost, start if errors < MOST_SYNTAX_ERRORS else len(text)))
            if start >= len(text):
                break
    return items


_WORD = re.compile(r"[_?a-zA-Z][_?a-zA-Z0-9]*")
_COMMENT_PIECES = re.compile(r'"(?:\\.|[^"\\\n]++)*+"|//[^\n]*|/\*|\*/', re.DOTALL)


def blank_comments(source: Source, report: Report) -> str:
    """The text with block comments turned to spaces, so that offsets stay.

    Block comments may nest. Where nesting would leave one open to the end, it ends at the first `*/`, as in C.
    """
    text = source.text
    if "/*" not in text:
        return text
    ends = _comment_ends(text)
    pieces, position = [], 0
    while (opening := _next_opening(text, position)) >= 0:
        closing = ends.get(opening, -1)
        if closing < 0:
            closing = text.find("*/", opening + 2) + 2
            if closing < 2:
                report.error("TL0114", "this comment is not closed", Span(source, opening, opening + 2),
                             help="close it with `*/`")  # fmt: skip
                closing = len(text)
        pieces.append(text[position:opening])
        pieces.append(re.sub(r"[^\n]", " ", text[opening:closing]))
        position = closing
    return "".join(pieces) + text[position:]


def _next_opening(text: str, position: int) -> int:
    for found in _COMMENT_PIECES.finditer(text, position):
        if found[0] == "/*":
            return found.start()
    return -1


def _comment_ends(text: str) -> dict[int, int]:
    """Where each comment ends, by where it begins, if it and all comments inside it are closed."""
    ends: dict[int, int] = {}
    open_comments: list[int] = []
    for found in re.finditer(r"/\*|\*/", text):
        if found[0] == "/*":
            open_comments.append(found.start())
        elif open_comments:
            ends[open_comments.pop()] = found.end()
    return ends


def syntax_error(problem: UnexpectedInput, source: Source) -> Diagnostic:
    """A lark error in plain words."""
    if isinstance(problem, UnexpectedCharacters):
        at = problem.pos_in_stream
        return Diagnostic(
            "TL0101", f"unexpected character {source.text[at : at + 1]!r}", Span(source, at, at + 1),
            help=_expected(problem.allowed),
        )  # fmt: skip
    if isinstance(problem, UnexpectedToken) and problem.token.type != "$END":
        token = problem.token
        return Diagnostic(
            "TL0101", f"unexpected {_shorten(str(token))}", Span(source, token.start_pos, token.end_pos),
            help=_expected(problem.accepts or problem.expected),
        )  # fmt: skip
    end = len(source.text.rstrip())
    expected = getattr(problem, "accepts", None) or getattr(problem, "expected", ())
    if not isinstance(problem, (UnexpectedToken, UnexpectedEOF)):
        expected = ()
    return Diagnostic(
        "TL0102", "unexpected end of the program", Span(source, max(0, end - 1), end), help=_expected(expected)
    )


def _shorten(text: str) -> str:
    text = text if len(text) <= 40 else text[:37] + "..."
    return f"`{text}`"


_READABLE = {
    "IDENT": "a name", "NUMBER": "a number", "UNSIGNED": "a number", "FLOAT": "a number", "IP": "a number",
    "STRING": "a string", "VARIABLE": "a variable", "$END": "the end of the program", "DOT": "`.`", "COMMA": "`,`",
    "MATH": "a name", "LPAR": "`(`", "RPAR": "`)`", "LBRACE": "`{`", "RBRACE": "`}`", "LSQB": "`[`", "RSQB": "`]`",
    "COLON": "`:`", "SEMICOLON": "`;`", "EQUAL": "`=`", "__ANON_0": "", "LESSTHAN": "`<`", "MORETHAN": "`>`",
    "VBAR": "`|`", "IF": "`:-`",
}  # fmt: skip


def _expected(names: Any) -> str | None:
    """What could have come, if that is few enough to be of use."""
    readable = sorted({_READABLE[n] for n in names or () if _READABLE.get(n)})
    unknown = [n for n in names or () if n not in _READABLE]
    if not readable or len(unknown) > 6 or len(readable) > 6:
        return None
    return "expected " + " or ".join(readable)
