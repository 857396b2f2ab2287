"""Records and algebraic data types as text: `[1, [2, nil]]`, `$Branch(x, y)`.

Soufflé's syntax. A symbol inside is everything up to the next comma or closing bracket; if it begins with a double
quote, up to the next one, with backslashes before quotes and backslashes that belong to it. Nothing here recurses:
a list of a hundred thousand elements is nested that deeply.

A parsed record is a list of its fields' values, nil is None, a branch is a `BranchValue`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from enum import Enum
from functools import cache
from typing import Any, NamedTuple, TypeAlias

from tidelog.analysis.types import AdtType, BranchInfo, RecordType, SubsetType, Type, UnionType
from tidelog.io.numbers import NotANumber, float_text, number_of
from tidelog.values import Kind

Made: TypeAlias = RecordType | BranchInfo


class BranchValue(NamedTuple):
    branch: BranchInfo
    values: list[Any]


class MalformedRecord(ValueError):
    """A text that is no value of its type: what is wrong, and at which characters."""

    def __init__(self, message: str, start: int, end: int) -> None:
        super().__init__(message)
        self.start = start
        self.end = end


class Quotes(Enum):
    """Which symbols inside a record are printed with quotes."""

    NEVER = "never"  # as Soufflé prints; a symbol with a comma in it does not read back
    NEEDED = "needed"
    ALWAYS = "always"  # as Soufflé prints with rfc4180


@cache
def base_type(declared: Type) -> Type:
    """The record, ADT or constant type that a type comes down to."""
    while True:
        if isinstance(declared, SubsetType):
            declared = declared.base
        elif isinstance(declared, UnionType):
            declared = declared.members[0]
        else:
            return declared


def tree_of(made: Made, values: list[Any]) -> Any:
    """Makes parsed values as nested lists; see `parse`."""
    return values if isinstance(made, RecordType) else BranchValue(made, values)


BLANKS = r" \t\n\v\f\r"
_BLANK = re.compile(f"[{BLANKS}]*")
_NAME = re.compile(r"[A-Za-z0-9_?.]+")
_NUMBER = re.compile(rf"[^{BLANKS},\])]*")
_QUOTED = re.compile(r'"((?:[^"\\]++|\\.)*+)"', re.DOTALL)
_STOP = {"]": re.compile(r"[^,\]]*"), ")": re.compile(r"[^,)]*")}


class _Open(NamedTuple):
    """A record or branch of which some fields have been read."""

    made: Made
    types: Sequence[Type]
    values: list[Any]
    closing: str


def parse(text: str, root: Type, make: Callable[[Made, list[Any]], Any] = tree_of) -> Any:
    """The value that a text stands for; `make` is given each record and branch, the inner ones first."""
    stack: list[_Open] = []
    wanted, pos = base_type(root), 0
    while True:
        pos = _BLANK.match(text, pos).end()  # type: ignore[union-attr]
        opened: _Open | None = None
        if isinstance(wanted, RecordType):
            if text.startswith("nil", pos):
                value, pos = None, pos + 3
            else:
                pos = _expect(text, "[", pos)
                opened = _Open(wanted, wanted.types, [], "]")
        elif isinstance(wanted, AdtType):
            branch, pos = _branch(text, wanted, pos)
            if branch.types:
                pos = _expect(text, "(", pos)
                opened = _Open(branch, branch.types, [], ")")
            else:
                value, pos = make(branch, []), pos + 2 * text.startswith("()", pos)
        else:
            value, pos = _leaf(text, wanted.kind, pos, stack[-1].closing)
        if opened is not None:
            stack.append(opened)
            if opened.types:
                wanted = base_type(opened.types[0])
                continue
            pos = _expect(text, opened.closing, pos)
            value = make(stack.pop().made, [])
        while stack:
            top = stack[-1]
            top.values.append(value)
            if len(top.values) < len(top.types):
                pos = _expect(text, ",", pos)
                wanted = base_type(top.types[len(top.values)])
                break
            pos = _expect(text, top.closing, pos)
            value = make(stack.pop().made, top.values)
        else:
            rest = _BLANK.match(text, pos).end()  # type: ignore[union-attr]
            if rest < len(text):
                raise MalformedRecord("there is more text after the value", rest, len(text))
            return value


def _expect(text: str, char: str, pos: int) -> int:
    if text.startswith(char, pos):
        return pos + 1
    pos = _BLANK.match(text, pos).end()  # type: ignore[union-attr]
    if text.startswith(char, pos):
        return pos + 1
    if pos >= len(text):
        raise MalformedRecord(f"it ends where `{char}` should be", pos, pos + 1)
    raise MalformedRecord(f"`{text[pos]}` where `{char}` should be", pos, pos + 1)


def _branch(text: str, adt: AdtType, pos: int) -> tuple[BranchInfo, int]:
    start = pos
    pos = _expect(text, "$", pos)
    match = _NAME.match(text, _BLANK.match(text, pos).end())  # type: ignore[union-attr]
    name = match.group() if match else ""
    if name not in adt.branches:
        raise MalformedRecord(f"`${name}` is not a branch of type `{adt.name}`", start, match.end() if match else pos)
    assert match is not None
    return adt.branches[name], match.end()


def _leaf(text: str, kind: Kind, pos: int, closing: str) -> tuple[Any, int]:
    if kind is Kind.SYMBOL:
        if text.startswith('"', pos):
            quoted = _QUOTED.match(text, pos)
            if quoted is None:
                raise MalformedRecord("a quoted symbol that does not end", pos, len(text))
            return re.sub(r"\\(.)", r"\1", quoted.group(1), flags=re.DOTALL), quoted.end()
        plain = _STOP[closing].match(text, pos)
        assert plain is not None
        return plain.group(), plain.end()
    match = _NUMBER.match(text, pos)
    assert match is not None
    try:
        return number_of(match.group(), kind), match.end()
    except NotANumber as problem:
        raise MalformedRecord(f"`{match.group()}` {problem}", pos, match.end()) from None


class Opened(NamedTuple):
    """A record or branch to be printed: what stands before, between and behind its fields."""

    before: str
    types: Sequence[Type]
    values: Sequence[Any]
    behind: str


def render(
    root: Type, value: Any, take_apart: Callable[[Type, Any], Opened | str], leaf: Callable[[Kind, Any], str]
) -> str:
    """The text of a value; `take_apart` gives the fields of a record or branch, or the whole text (`nil`, an enum)."""
    out: list[str] = []
    todo: list[Any] = [(base_type(root), value)]
    while todo:
        item = todo.pop()
        if isinstance(item, str):
            out.append(item)
            continue
        kind, inner = item
        if kind.kind is not Kind.RECORD:
            out.append(leaf(kind.kind, inner))
            continue
        opened = take_apart(kind, inner)
        if isinstance(opened, str):
            out.append(opened)
            continue
        out.append(opened.before)
        todo.append(opened.behind)
        for i in range(len(opened.types) - 1, -1, -1):
            todo.append((base_type(opened.types[i]), opened.values[i]))
            if i:
                todo.append(", ")
    return "".join(out)


def opened_record(fields: RecordType, values: Sequence[Any]) -> Opened:
    return Opened("[", fields.types, values, "]")


def opened_branch(branch: BranchInfo, values: Sequence[Any]) -> Opened | str:
    return Opened(f"${branch.name}(", branch.types, values, ")") if branch.types else f"${branch.name}"


def leaf_text(quotes: Quotes) -> Callable[[Kind, Any], str]:
    """How to print the numbers and symbols inside a record."""

    def text(kind: Kind, value: Any) -> str:
        if kind is Kind.SYMBOL:
            return symbol_text(value, quotes)
        return float_text(value) if kind is Kind.FLOAT else str(value)

    return text


_SPECIAL = re.compile(rf'^[{BLANKS}"]|[,\])]')


def symbol_text(symbol: str, quotes: Quotes) -> str:
    if quotes is Quotes.NEVER or (quotes is Quotes.NEEDED and not _SPECIAL.search(symbol)):
        return symbol
    escaped = symbol.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _parts(declared: Type, value: Any) -> Opened | str:
    if value is None:
        return "nil"
    if isinstance(declared, RecordType):
        return opened_record(declared, value)
    return opened_branch(value.branch, value.values)


def text_of(value: Any, root: Type, quotes: Quotes = Quotes.NEEDED) -> str:
    """The text of a parsed value."""
    return render(root, value, _parts, leaf_text(quotes))


def requoted(text: str, root: Type, quotes: Quotes) -> str:
    """The same value with its symbols quoted in another way."""
    return text_of(parse(text, root), root, quotes)
