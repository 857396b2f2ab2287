"""Lexing and LALR parsing in one loop, from lark's own tables, three times as fast as lark's drivers.

The grammar file stays the only definition of the language: terminals and parse tables are lark's. The terminals
become one regular expression, in lark's order (priority, then length); the tables become plain dictionaries; tokens
carry offsets only, since lines and columns are worked out when an error is shown. Every terminal may come
anywhere, so the terminals of the grammar must not overlap.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from lark import Lark, Token
from lark.exceptions import UnexpectedCharacters, UnexpectedToken
from lark.parsers.lalr_analysis import Shift

END = "$END"


class Lexeme(Token):
    """A token with offsets only; made without Token's constructor, which would cost as much as the match."""

    __slots__ = ()
    line = column = end_line = end_column = 0


Reduction = tuple[Callable[[list[Any]], Any], int, str]


class FastParser:
    """A lark LALR parser whose callbacks build the result, driven by `parse`."""

    def __init__(self, lark: Lark, start: str = "start") -> None:
        self._regex, self._keywords = _compile_terminals(lark)
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
                else (callbacks[target], len(target.expansion), str(target.origin.name))
                for name, (action, target) in actions.items()
            }

    def parse(self, text: str, start: int) -> Any:
        """The value of the start rule for the text from `start` on; lark's exceptions for what does not fit."""
        states, match = self._states, self._regex.match
        skipped, keywords = self._skipped, self._keywords
        state_stack, values = [self._start], []
        position, end = start, len(text)
        while True:
            if position < end:
                found = match(text, position)
                if found is None:
                    raise UnexpectedCharacters(text, position, 0, 0)
                kind = found.lastgroup or ""
                first, position = position, found.end()
                if kind in skipped:
                    continue
                word = found[0]
                if kind == "KEYWORD":
                    kind = keywords[word]
            else:
                kind, word, first = END, "", end
            token = str.__new__(Lexeme, word)
            token.type, token.start_pos, token.end_pos = kind, first, position
            while True:
                actions = states[state_stack[-1]]
                action = actions.get(kind)
                if action is None:
                    raise UnexpectedToken(token, self._accepted(state_stack))
                if isinstance(action, int):
                    state_stack.append(action)
                    values.append(token)
                    break
                callback, size, origin = action
                if size:
                    children = values[-size:]
                    del state_stack[-size:]
                    del values[-size:]
                else:
                    children = []
                values.append(callback(children))
                state_stack.append(states[state_stack[-1]][origin])
                if kind == END and state_stack[-1] == self._end:
                    return values[-1]

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
    """One regular expression for all terminals; words among them are told apart afterwards."""
    terminals = sorted(lark.terminals, key=lambda t: (-t.priority, -t.pattern.max_width, -len(t.pattern.value), t.name))
    keywords = {t.pattern.value: t.name for t in terminals if t.pattern.type == "str" and _is_word(t.pattern.value)}
    names = set(keywords.values())
    parts = [f"(?P<{t.name}>{t.pattern.to_regexp()})" for t in terminals if t.name not in names]
    words = "|".join(sorted(map(re.escape, keywords), key=len, reverse=True))
    if words:
        parts.insert(0, f"(?P<KEYWORD>(?:{words})(?![_?a-zA-Z0-9]))")
    return re.compile("|".join(parts)), keywords


def _is_word(text: str) -> bool:
    return re.fullmatch(r"[_?a-zA-Z][-_?a-zA-Z0-9]*", text) is not None
