"""The functions of expressions: SPARQL's, over terms as texts.

Every function takes and gives terms; the empty text is an error, which every function but COALESCE passes on.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from decimal import Decimal, DivisionByZero, InvalidOperation
from functools import partial
from typing import Any, NamedTuple

from tidelog.lang import tree
from tidelog.lang.rules import XSD
from tidelog.rdf.terms import LANG_STRING, STRING, is_blank, is_iri, literal, parse_literal
from tidelog.rdf.values import (
    BOOLEAN,
    DATE,
    DATE_TIME,
    DECIMAL,
    DOUBLE,
    ERROR,
    FLOAT,
    INTEGER,
    KNOWN,
    OPERATORS,
    Number,
    billionths,
    compare,
    high,
    integer,
    kind,
    language_of,
    low,
    mean,
    number,
    place,
    real,
    term_of,
    total,
    unordered,
    value,
)  # fmt: skip


class TermFunction(NamedTuple):
    """A function of expressions, and how many arguments it takes."""

    run: Callable[..., str]
    least: int
    most: int

    def takes(self, count: int) -> bool:
        return self.least <= count <= self.most

    @property
    def arguments(self) -> str:
        return str(self.least) if self.least == self.most else f"{self.least} or more"


def _arithmetic(op: str, left: str, right: str) -> str:
    a, b = number(left), number(right)
    if a is None or b is None:
        return ERROR
    if isinstance(a, float) or isinstance(b, float):
        a, b = float(a), float(b)
    try:
        match op:
            case "+":
                return term_of(a + b)  # type: ignore[operator]
            case "-":
                return term_of(a - b)  # type: ignore[operator]
            case "*":
                return term_of(a * b)  # type: ignore[operator]
        if isinstance(a, float) and b == 0:
            return term_of(math.nan if a == 0 or math.isnan(a) else math.copysign(math.inf, a))
        return term_of(a / b if isinstance(a, float) else Decimal(a) / Decimal(b))  # type: ignore[operator]
    except (DivisionByZero, InvalidOperation, OverflowError):
        return ERROR


def _of_number(change: Callable[[Any], Number], term: str) -> str:
    found = number(term)
    if found is None or (isinstance(found, float) and not math.isfinite(found)):
        return ERROR
    changed = change(found)
    return term_of(type(found)(changed))


def _rounded(found: Any) -> Any:
    return math.floor(found + type(found)(1) / 2) if not isinstance(found, int) else found


def _text(term: str) -> str | None:
    """The text of a literal that is a string, with or without a language."""
    found = parse_literal(term)
    return found.text if found is not None and found.datatype in (STRING, LANG_STRING) else None


def _lexical(term: str) -> str | None:
    found = parse_literal(term)
    return found.text if found is not None else term[1:-1] if is_iri(term) else None


def _same_kind(term: str, text: str) -> str:
    found = parse_literal(term)
    assert found is not None
    return literal(text, found.datatype, found.language)


def _on_texts(run: Callable[..., str | bool | int], *terms: str) -> str:
    """A function of texts; what it gives is of the first one's kind."""
    texts = [_text(term) for term in terms]
    if any(text is None for text in texts):
        return ERROR
    found = run(*texts)
    return _same_kind(terms[0], found) if isinstance(found, str) else term_of(found)


def _substring(term: str, start: str, length: str | None = None) -> str:
    text, first = _text(term), number(start)
    count = math.inf if length is None else number(length)
    if text is None or first is None or count is None:
        return ERROR
    begin = round(first)
    end = len(text) + 1 if length is None else min(len(text) + 1, begin + round(count))
    return _same_kind(term, text[max(begin, 1) - 1 : max(end, 1) - 1])


_FLAGS = {"i": re.IGNORECASE, "s": re.DOTALL, "m": re.MULTILINE, "x": re.VERBOSE}


def _pattern(pattern: str, flags: str) -> re.Pattern[str] | None:
    text, letters = _text(pattern), _text(flags) if flags else ""
    if text is None or letters is None or any(letter not in _FLAGS for letter in letters):
        return None
    try:
        return re.compile(text, sum(_FLAGS[letter] for letter in set(letters)))
    except re.error:
        return None


def _matches(term: str, pattern: str, flags: str = '""') -> str:
    text, found = _text(term), _pattern(pattern, flags)
    return ERROR if text is None or found is None else term_of(found.search(text) is not None)


def _replaced(term: str, pattern: str, by: str, flags: str = '""') -> str:
    text, found, new = _text(term), _pattern(pattern, flags), _text(by)
    if text is None or found is None or new is None:
        return ERROR
    return _same_kind(term, found.sub(re.sub(r"\$(\d)", r"\\\1", new), text))


def _concatenated(*terms: str) -> str:
    texts = [_text(term) for term in terms]
    if any(text is None for text in texts):
        return ERROR
    languages = {language_of(term) for term in terms}
    return literal("".join(t for t in texts if t is not None), language=languages.pop() if len(languages) == 1 else "")


def _of_term(test: Callable[[str], bool], term: str) -> str:
    return term_of(test(term)) if term else ERROR


def _is_ill_typed(term: str) -> bool:
    """Whether a literal's text stands for no value of its datatype, if that is one whose values we know."""
    found = parse_literal(term)
    return found is not None and found.datatype in KNOWN and value(term) is None


def _datatype(term: str) -> str:
    found = parse_literal(term)
    return f"<{found.datatype}>" if found else ERROR


def _part_of_date(part: str, term: str) -> str:
    found = value(term)
    return term_of(int(getattr(found, part))) if isinstance(found, datetime) else ERROR


def _chosen(condition: str, then: str, otherwise: str) -> str:
    found = value(condition)
    if isinstance(found, (str, int, float, Decimal)):
        return then if found else otherwise
    return ERROR


def _first(*terms: str) -> str:
    return next((term for term in terms if term), ERROR)


def _cast(datatype: str, term: str) -> str:
    text = _lexical(term)
    if text is None or (is_iri(term) and datatype != STRING):
        return ERROR
    if datatype == STRING:
        return literal(text)
    found = value(term)
    if isinstance(found, (int, Decimal, float)):
        return _cast_number(datatype, found)
    made = literal(text.strip(), datatype)
    return made if value(made) is not None else ERROR


def _cast_number(datatype: str, found: Number) -> str:
    try:
        match datatype:
            case _ if datatype == INTEGER:
                return term_of(int(found))
            case _ if datatype == DECIMAL:
                return term_of(
                    Decimal(
                        repr(found) if isinstance(found, float) else int(found) if isinstance(found, bool) else found
                    )
                )
            case _ if datatype in (DOUBLE, FLOAT):
                return term_of(float(found)).replace(DOUBLE, datatype)
            case _ if datatype == BOOLEAN:
                return term_of(bool(found) and found == found)
    except (ValueError, OverflowError, InvalidOperation):
        return ERROR
    return ERROR


def _between(side: int, term: str, mark: str) -> str:
    text, by = _text(term), _text(mark)
    if text is None or by is None:
        return ERROR
    parts = text.partition(by) if by else ("", "", text)
    return _same_kind(term, parts[side]) if parts[1] or not by else literal("")


def _table(**functions: tuple[Callable[..., str], int, int]) -> dict[str, TermFunction]:
    return {name: TermFunction(*entry) for name, entry in functions.items()}


_CASTABLE = (INTEGER, DECIMAL, FLOAT, DOUBLE, BOOLEAN, STRING, DATE, DATE_TIME)
CASTS = {datatype: f"xsd:{datatype.removeprefix(XSD)}" for datatype in _CASTABLE}
"""By the IRI of a datatype, the function that makes a literal of it."""

_PARTS = ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE")

FUNCTIONS: Mapping[str, TermFunction] = {
    **{op: TermFunction(partial(_arithmetic, op), 2, 2) for op in "+-*/"},
    **{name: TermFunction(partial(_cast, datatype), 1, 1) for datatype, name in CASTS.items()},
    **{part: TermFunction(partial(_part_of_date, part.lower()), 1, 1) for part in _PARTS},
    **_table(
        neg=(partial(_arithmetic, "-", '"0"^^<' + INTEGER + ">"), 1, 1),
        ABS=(partial(_of_number, abs), 1, 1), CEIL=(partial(_of_number, math.ceil), 1, 1),
        FLOOR=(partial(_of_number, math.floor), 1, 1), ROUND=(partial(_of_number, _rounded), 1, 1),
        STR=(lambda term: literal(text) if (text := _lexical(term)) is not None else ERROR, 1, 1),
        LANG=(lambda term: literal(language_of(term)) if term.startswith('"') else ERROR, 1, 1),
        DATATYPE=(_datatype, 1, 1),
        STRLEN=(partial(_on_texts, len), 1, 1),
        UCASE=(partial(_on_texts, str.upper), 1, 1), LCASE=(partial(_on_texts, str.lower), 1, 1),
        SUBSTR=(_substring, 2, 3), CONCAT=(_concatenated, 1, 99),
        CONTAINS=(partial(_on_texts, str.__contains__), 2, 2),
        STRSTARTS=(partial(_on_texts, str.startswith), 2, 2), STRENDS=(partial(_on_texts, str.endswith), 2, 2),
        STRBEFORE=(partial(_between, 0), 2, 2), STRAFTER=(partial(_between, 2), 2, 2),
        REGEX=(_matches, 2, 3), REPLACE=(_replaced, 3, 4),
        ISIRI=(partial(_of_term, is_iri), 1, 1), ISURI=(partial(_of_term, is_iri), 1, 1),
        ISBLANK=(partial(_of_term, is_blank), 1, 1),
        ISLITERAL=(partial(_of_term, lambda term: term.startswith('"')), 1, 1),
        ISNUMERIC=(partial(_of_term, lambda term: number(term) is not None), 1, 1),
        ISILLTYPED=(partial(_of_term, _is_ill_typed), 1, 1),
        SAMETERM=(lambda left, right: term_of(left == right) if left and right else ERROR, 2, 2),
        IF=(_chosen, 3, 3), COALESCE=(_first, 1, 99),
    ),
}  # fmt: skip

_OTHERS: dict[str, Callable[..., Any]] = {
    **{op: partial(compare, op) for op in OPERATORS},
    "kind": kind, "high": high,
    "low": low, "billionths": billionths, "real": real, "place": place, "unordered": unordered,
    "sum": total, "mean": mean, "integer": integer,
}  # fmt: skip
_SPELLED = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide"}


def functor_name(op: str, arity: int) -> str:
    """The name of a program's functor for a function; the number of arguments is a part of it."""
    return f"rdf_{_SPELLED.get(op, op.replace(':', '_'))}_{arity}"


_BY_NAME = {functor_name(op, 0)[:-2]: op for op in (*FUNCTIONS, *_OTHERS)}


def functors_of(program: tree.Program) -> dict[str, Callable[..., Any]]:
    """The Python functions of the functors that a program declares."""
    found: dict[str, Callable[..., Any]] = {}
    for decl in program.of(tree.FunctorDecl):
        op = _BY_NAME.get(decl.name.rpartition("_")[0])
        if op is not None:
            found[decl.name] = _OTHERS[op] if op in _OTHERS else FUNCTIONS[op].run
    return found
