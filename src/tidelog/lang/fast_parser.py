"""Lexing and LALR parsing in one loop, from lark's own tables, three times as fast as lark's drivers.

The grammar file stays the only definition of the language: terminals and parse tables are lark's. The terminals
become one regular expression, in lark's order (priority, then length); the tables become plain dictionaries; tokens
carry offsets only, since lines and columns are worked out when an error is shown. Every terminal may come
anywhere, so the terminals of the grammar must not overlap. Blanks before a token are part of its match.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken
from lark.lexer import TerminalDef
from lark.parse_tree_builder import ExpandSingleChild
from lark.parsers.lalr_analysis import Shift

END = "$END"


class Lexeme(Token):
    """A token with offsets only; made without Token's constructor, which would cost as much as the match."""

    __slots__ = ()
    line = column = end_line = end_column = 0


Reduction = tuple[Callable[[list[Any]], Any] | None, int, str]
"""What to call with how many values, and what that gives; None if the one value stays as it is."""

_BLANK = r"[ \t\r\n\v\f]"


class FastParser:
    """A lark LALR parser whose callbacks build the result, driven by `parse`."""

    def __init__(self, lark: Lark, start: str = "start") -> None:
        self._regex, self._keywords = _compile_terminals(lark)
        self._names = ["", *self._regex.groupindex]
        self._skipped = frozenset(lark.lexer_conf.ignore)
        table = lark.parser.parser._parse_table
        callbacks = lark.parser.parser.parser.callbacks
        self._start = table.start_states[start]
        self._end = table.end_states[start]
        self._states: dict[int, dict[str, int | Reduction]] = {}
        for state, actions in table.states.items():
            self._states[state] = {
                str(name): target
                if action is Shift
                else (_callback(callbacks[target], target), len(target.expansion), str(target.origin.name))
                for name, (action, target) in actions.items()
            }

    def parse(self, text: str, start: int) -> Any:
        """The value of the start rule for the text from `start` on; lark's exceptions for what does not fit.

        Such an exception has in `items_before` the list of items that were read before the error.
        """
        values: list[Any] = []
        try:
            return self._parse(text, start, values)
        except UnexpectedInput as problem:
            whole = values[0] if values else None
            problem.items_before = whole.children if isinstance(whole, Tree) else []  # type: ignore[attr-defined]
            raise

    def _parse(self, text: str, start: int, values: list[Any]) -> Any:
        states, match, names = self._states, self._regex.match, self._names
        skipped, keywords, new = self._skipped, self._keywords, str.__new__
        state_stack = [self._start]
        actions = states[self._start]
        position, end = start, len(text)
        while end > start and text[end - 1] in " \t\r\n\v\f":
            end -= 1
        while True:
            if position < end:
                found = match(text, position)
                if found is None:
                    raise UnexpectedCharacters(text, self._after_blanks(text, position), 0, 0)
                group = found.lastindex or 0
                kind = names[group]
                first, position = found.span(group)
                if kind in skipped:
                    continue
                word = found[group]
                if kind == "KEYWORD":
                    kind = keywords[word]
            else:
                kind, word, first = END, "", end
            token = new(Lexeme, word)
            token.type, token.start_pos, token.end_pos = kind, first, position
            while True:
                action = actions.get(kind)
                if action is None:
                    raise UnexpectedToken(token, self._accepted(state_stack))
                if action.__class__ is int:
                    state_stack.append(action)
                    values.append(token)
                    actions = states[action]
                    break
                callback, size, origin = action  # type: ignore[misc]
                if callback is None:
                    del state_stack[-1]
                elif size:
                    children = values[-size:]
                    del state_stack[-size:]
                    del values[-size:]
                    values.append(callback(children))
                else:
                    values.append(callback([]))
                following: Any = states[state_stack[-1]][origin]
                state_stack.append(following)
                actions = states[following]
                if kind == END and following == self._end:
                    return values[-1]

    @staticmethod
    def _after_blanks(text: str, position: int) -> int:
        found = re.compile(_BLANK + "*").match(text, position)
        return found.end() if found else position

    def _accepted(self, state_stack: list[int]) -> set[str]:
        """The terminals that could have come: those that lead to a shift."""
        return {name for name in self._states[state_stack[-1]] if name.isupper() and self._shifts(state_stack, name)}

    def _shifts(self, state_stack: list[int], kind: str) -> bool:
        stack = list(state_stack)
        while True:
            action = self._states[stack[-1]].get(kind)
            if action is None or isinstance(action, int):
                return action is not None
            _, size, origin = action
            if size:
                del stack[-size:]
            following = self._states[stack[-1]][origin]
            assert isinstance(following, int)
            stack.append(following)
            if stack[-1] == self._end:
                return kind == END


def _compile_terminals(lark: Lark) -> tuple[re.Pattern[str], dict[str, str]]:
    """One regular expression for all terminals; words among them are told apart afterwards.

    A terminal that looks behind must see the blanks before it; for all others they are passed over.
    """
    terminals = sorted(lark.terminals, key=lambda t: (-t.priority, -t.pattern.max_width, -len(t.pattern.value), t.name))
    keywords = {t.pattern.value: t.name for t in terminals if t.pattern.type == "str" and _is_word(t.pattern.value)}
    names = set(keywords.values())
    parts = [_group(t) for t in terminals if t.name not in names and not _looks_behind(t)]
    words = "|".join(sorted(map(re.escape, keywords), key=len, reverse=True))
    if words:
        parts.insert(0, f"(?P<KEYWORD>(?:{words})(?![_?a-zA-Z0-9]))")
    behind = [_group(t) for t in terminals if _looks_behind(t)]
    return re.compile("|".join([*behind, f"{_BLANK}*+(?:{'|'.join(parts)})"])), keywords


def _group(terminal: TerminalDef) -> str:
    return f"(?P<{terminal.name}>{terminal.pattern.to_regexp()})"


def _looks_behind(terminal: TerminalDef) -> bool:
    return "(?<" in terminal.pattern.value


def _callback(callback: Any, rule: Any) -> Callable[[list[Any]], Any] | None:
    """What lark calls for a rule, or None if that gives the one value of the rule back."""
    return None if len(rule.expansion) == 1 and isinstance(callback, ExpandSingleChild) else callback


def _is_word(text: str) -> bool:
    return re.fullmatch(r"[_?a-zA-Z][-_?a-zA-Z0-9]*", text) is not None
