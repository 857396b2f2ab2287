"""How deeply programs may nest: far beyond what people write, and little enough for every recursive pass."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

from tidelog.errors import Report, Source, Span
from tidelog.lang import tree

DEEPEST = 400
_HELP = "split this clause"
_FRAMES = 20  # of Python's stack, at most, that a pass takes for a level

_PIECES = re.compile(
    r'"(?:\\.|[^"\\]++)*+"|//[^\n]*|(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<end>\.[ \t]*\n)'
    rf"|(?P<run>(?:(?:[-!]|\b(?:[bl]not|sum|min|max|mean)\b)\s*){{{DEEPEST}}})"
)

N = TypeVar("N", bound=tree.SyntaxNode)


def check_brackets(text: str, source: Source, report: Report) -> bool:
    """Whether brackets and prefixes nest little enough to be parsed at all; if not, the report says where."""
    if sum(map(text.count, ("(", "[", "{", "-", "!", "not", "sum", "m"))) < DEEPEST:
        return True
    depth = 0
    for found in _PIECES.finditer(text):
        kind = found.lastgroup
        if kind == "open":
            depth += 1
        elif kind == "close":
            depth = max(0, depth - 1)
        elif kind == "end":
            depth = 0
        if depth > DEEPEST or kind == "run":
            _refuse(Span(source, found.start(), found.start() + 1), report)
            return False
    return True


def shallow(items: list[N], report: Report) -> list[N]:
    """The items without those that nest deeper than DEEPEST, which are reported."""
    return [item for item in items if _is_shallow(item, report)]


def _is_shallow(item: tree.SyntaxNode, report: Report) -> bool:
    if item.span is not None and item.span.end - item.span.start < DEEPEST:
        return True  # every level takes a character at least
    level: list[tree.SyntaxNode] = [item]
    for _ in range(DEEPEST):
        level = [child for node in level for child in node.children()]
        if not level:
            return True
    _refuse(item.span, report)
    return False


def _refuse(span: Span | None, report: Report) -> None:
    report.error("TL0103", f"nested more than {DEEPEST} levels deep", span, help=_HELP)


@contextmanager
def deep_recursion() -> Iterator[None]:
    """Room for recursive passes over trees of up to DEEPEST levels."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _FRAMES * DEEPEST))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
