"""SPARQL's functions: terms in, a term out, None for an error.

Each function of `FUNCTIONS` takes terms, never None: an argument that is an error makes an error before it is called.
What has its own way with errors (IF, COALESCE, BOUND, &&, ||, IN) is in `expressions.py`.
"""

from __future__ import annotations

import hashlib
import re
import uuid
from collections.abc import Callable
from functools import lru_cache
from typing import TypeAlias
from urllib.parse import quote

import pyarrow as pa
import pyarrow.compute as pc

from tidelog.rdf.sparql import moments
from tidelog.rdf.sparql.moments import Moment, zone_duration
from tidelog.rdf.sparql.numbers import absolute, rounded
from tidelog.rdf.sparql.terms import (
    DURATION,
    EMPTY,
    STRING,
    RdfTerm,
    TermKind,
    boolean,
    iri,
    literal,
    number,
)

Function: TypeAlias = Callable[..., RdfTerm | None]

FUNCTIONS: dict[str, Function] = {}


def _named(*names: str) -> Callable[[Function], Function]:
    def put(function: Function) -> Function:
        FUNCTIONS.update(dict.fromkeys(names, function))
        return function

    return put


def _like(model: RdfTerm, lexical: str) -> RdfTerm:
    """A text with the language of another."""
    return literal(lexical, STRING, model.language)


def _fit(text: RdfTerm, part: RdfTerm) -> bool:
    """Whether a part can be looked for in a text: it has no language, or the same."""
    return text.is_text and part.is_text and (not part.language or part.language == text.language)


@_named("STR")
def _str(term: RdfTerm) -> RdfTerm | None:
    return None if term.kind is TermKind.BLANK else literal(term.lexical)


@_named("LANG")
def _lang(term: RdfTerm) -> RdfTerm | None:
    return literal(term.language) if term.kind is TermKind.LITERAL else None


@_named("DATATYPE")
def _datatype(term: RdfTerm) -> RdfTerm | None:
    return iri(term.datatype) if term.kind is TermKind.LITERAL else None


@_named("LANGMATCHES")
def _langmatches(tag: RdfTerm, wanted: RdfTerm) -> RdfTerm | None:
    if not tag.datatype == wanted.datatype == STRING:
        return None
    has, wants = tag.lexical.lower(), wanted.lexical.lower()
    return boolean(bool(has) if wants == "*" else has == wants or has.startswith(wants + "-"))


@_named("SAMETERM")
def _sameterm(a: RdfTerm, b: RdfTerm) -> RdfTerm:
    return boolean(a.text == b.text)


@_named("ISIRI", "ISURI")
def _isiri(term: RdfTerm) -> RdfTerm:
    return boolean(term.kind is TermKind.IRI)


@_named("ISBLANK")
def _isblank(term: RdfTerm) -> RdfTerm:
    return boolean(term.kind is TermKind.BLANK)


@_named("ISLITERAL")
def _isliteral(term: RdfTerm) -> RdfTerm:
    return boolean(term.kind is TermKind.LITERAL)


@_named("ISNUMERIC")
def _isnumeric(term: RdfTerm) -> RdfTerm:
    return boolean(term.number is not None)


@_named("STRDT")
def _strdt(text: RdfTerm, datatype: RdfTerm) -> RdfTerm | None:
    return (
        literal(text.lexical, datatype.lexical) if text.datatype == STRING and datatype.kind is TermKind.IRI else None
    )


@_named("STRLANG")
def _strlang(text: RdfTerm, tag: RdfTerm) -> RdfTerm | None:
    is_tag = tag.datatype == STRING and re.fullmatch(r"[a-zA-Z]+(-[a-zA-Z0-9]+)*", tag.lexical)
    return literal(text.lexical, STRING, tag.lexical) if text.datatype == STRING and is_tag else None


@_named("ABS")
def _abs(term: RdfTerm) -> RdfTerm | None:
    value = term.number
    return None if value is None else number(absolute(value))


def _rounding(how: str) -> Function:
    def function(term: RdfTerm) -> RdfTerm | None:
        value = term.number
        return None if value is None else number(rounded(value, how))

    return function


FUNCTIONS.update({how: _rounding(how) for how in ("CEIL", "FLOOR", "ROUND")})


@_named("CONCAT")
def _concat(*texts: RdfTerm) -> RdfTerm | None:
    if not all(text.is_text for text in texts):
        return None
    languages = {text.language for text in texts}
    return literal("".join(t.lexical for t in texts), STRING, languages.pop() if len(languages) == 1 else "")


@_named("STRLEN")
def _strlen(text: RdfTerm) -> RdfTerm | None:
    return number(len(text.lexical)) if text.is_text else None


@_named("UCASE")
def _ucase(text: RdfTerm) -> RdfTerm | None:
    return _like(text, text.lexical.upper()) if text.is_text else None


@_named("LCASE")
def _lcase(text: RdfTerm) -> RdfTerm | None:
    return _like(text, text.lexical.lower()) if text.is_text else None


@_named("ENCODE_FOR_URI")
def _encode(text: RdfTerm) -> RdfTerm | None:
    return literal(quote(text.lexical, safe="-_.~")) if text.is_text else None


@_named("CONTAINS")
def _contains(text: RdfTerm, part: RdfTerm) -> RdfTerm | None:
    return boolean(part.lexical in text.lexical) if _fit(text, part) else None


@_named("STRSTARTS")
def _strstarts(text: RdfTerm, part: RdfTerm) -> RdfTerm | None:
    return boolean(text.lexical.startswith(part.lexical)) if _fit(text, part) else None


@_named("STRENDS")
def _strends(text: RdfTerm, part: RdfTerm) -> RdfTerm | None:
    return boolean(text.lexical.endswith(part.lexical)) if _fit(text, part) else None


@_named("STRBEFORE")
def _strbefore(text: RdfTerm, part: RdfTerm) -> RdfTerm | None:
    if not _fit(text, part):
        return None
    before, found, _ = text.lexical.partition(part.lexical) if part.lexical else ("", True, "")
    return _like(text, before) if found else EMPTY


@_named("STRAFTER")
def _strafter(text: RdfTerm, part: RdfTerm) -> RdfTerm | None:
    if not _fit(text, part):
        return None
    _, found, after = text.lexical.partition(part.lexical) if part.lexical else ("", True, text.lexical)
    return _like(text, after) if found else EMPTY


@_named("SUBSTR")
def _substr(text: RdfTerm, start: RdfTerm, length: RdfTerm | None = None) -> RdfTerm | None:
    """Characters from `start`, counted from 1, as fn:substring has it: whatever lies outside is not there."""
    first = start.number
    count = None if length is None else length.number
    if not text.is_text or first is None or (length is not None and count is None):
        return None
    try:
        begin = int(rounded(first, "ROUND"))
        end = len(text.lexical) + 1 if count is None else begin + int(rounded(count, "ROUND"))
    except (ValueError, OverflowError):  # not a number, or infinite
        return None
    return _like(text, text.lexical[max(begin, 1) - 1 : max(end, 1) - 1])


@_named("REGEX")
def _regex(text: RdfTerm, pattern: RdfTerm, flags: RdfTerm = EMPTY) -> RdfTerm | None:
    if not text.is_text or pattern.datatype != STRING or flags.datatype != STRING:
        return None
    re2 = _re2(pattern.lexical, flags.lexical)
    if re2 is None:
        return None
    try:
        return boolean(pc.match_substring_regex(pa.scalar(text.lexical), pattern=re2).as_py())
    except pa.ArrowInvalid:
        return None


@_named("REPLACE")
def _replace(text: RdfTerm, pattern: RdfTerm, by: RdfTerm, flags: RdfTerm = EMPTY) -> RdfTerm | None:
    if not text.is_text or not pattern.datatype == by.datatype == flags.datatype == STRING:
        return None
    re2 = _re2(pattern.lexical, flags.lexical)
    if re2 is None:
        return None
    if "q" in flags.lexical:
        made = by.lexical.replace("\\", "\\\\")
    else:
        made = re.sub(r"\\([\\$])|\$([0-9])|\\", _replacement, by.lexical)
    try:
        found = pc.replace_substring_regex(pa.scalar(text.lexical), pattern=re2, replacement=made).as_py()
    except pa.ArrowInvalid:
        return None
    return _like(text, found)


def _replacement(found: re.Match[str]) -> str:
    """RE2's way to write what stands for a group, or for itself."""
    if found[2]:
        return f"\\{found[2]}"
    return "$" if found[1] == "$" else "\\\\"


@lru_cache(maxsize=256)
def _re2(pattern: str, flags: str) -> str | None:
    """The pattern for RE2, which needs no backtracking; None if a flag is unknown."""
    if set(flags) - set("ismxq"):
        return None
    if "q" in flags:
        pattern = re.sub(r"([^\w\s])", r"\\\1", pattern, flags=re.ASCII)
    elif "x" in flags:
        pattern = re.sub(r"(\[(?:\\.|[^\]])*\])|(\\.)|\s+", lambda found: found[1] or found[2] or "", pattern)
    set_here = "".join(flag for flag in "ism" if flag in flags)
    return f"(?{set_here}){pattern}" if set_here else pattern


def _part(name: str) -> Function:
    def function(term: RdfTerm) -> RdfTerm | None:
        value = term.value
        if not isinstance(value, Moment):
            return None
        has_date, has_time = value.kind != moments.TIME, value.kind != moments.DATE
        if not (has_date if name in ("year", "month", "day") else has_time):
            return None
        return number(getattr(value, name))

    return function


for _name, _field in (
    ("YEAR", "year"), ("MONTH", "month"), ("DAY", "day"), ("HOURS", "hour"), ("MINUTES", "minute"),
    ("SECONDS", "second"),
):  # fmt: skip
    FUNCTIONS[_name] = _part(_field)


@_named("TZ")
def _tz(term: RdfTerm) -> RdfTerm | None:
    return literal(term.value.zone) if isinstance(term.value, Moment) else None


@_named("TIMEZONE")
def _timezone(term: RdfTerm) -> RdfTerm | None:
    found = zone_duration(term.value.zone) if isinstance(term.value, Moment) else None
    return None if found is None else literal(found, DURATION)


def _digest(name: str) -> Function:
    def function(text: RdfTerm) -> RdfTerm | None:
        return literal(hashlib.new(name, text.lexical.encode()).hexdigest()) if text.datatype == STRING else None

    return function


FUNCTIONS.update({name: _digest(name.lower()) for name in ("MD5", "SHA1", "SHA256", "SHA384", "SHA512")})


@_named("UUID")
def _uuid() -> RdfTerm:
    return iri(f"urn:uuid:{uuid.uuid4()}")


@_named("STRUUID")
def _struuid() -> RdfTerm:
    return literal(str(uuid.uuid4()))
