"""RDF terms and their values.

A term is known by its canonical N-Triples text, as everywhere in Tidelog; here it is taken apart. What is always true:
two terms are the same if and only if their texts are; a value is computed once per term, when it is asked for.
"""

from __future__ import annotations

import re
from enum import Enum, IntEnum
from typing import Any, TypeAlias

from tidelog.rdf.sparql import moments
from tidelog.rdf.sparql.moments import Moment, parse_moment
from tidelog.rdf.sparql.numbers import NUMERIC, TYPES, XSD, Number, format_number, parse_number

STRING, BOOLEAN = XSD + "string", XSD + "boolean"
LANG_STRING = "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString"
DURATION = XSD + "dayTimeDuration"


class TermKind(IntEnum):
    """In the order of ORDER BY."""

    BLANK = 1
    IRI = 2
    LITERAL = 3


class Strange(Enum):
    """What a literal is that has no value: of a type that is not known here, or malformed for its type."""

    UNKNOWN = "unknown"
    MALFORMED = "malformed"


Value: TypeAlias = Number | bool | str | Moment | Strange

_ESCAPED = re.compile(r'[\x00-\x1f"\\\x7f\ufffe\uffff]')
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))")
_SHORT = {"\t": "\\t", "\b": "\\b", "\n": "\\n", "\r": "\\r", "\f": "\\f", '"': '\\"', "\\": "\\\\"}
_LONG = {short[1]: char for char, short in _SHORT.items()}


class RdfTerm:
    """An IRI, a blank node or a literal. `lexical` is its text without what makes it a term: `http://a`, `b1`, `12`."""

    __slots__ = ("_value", "datatype", "kind", "language", "lexical", "text")

    def __init__(
        self, kind: TermKind, lexical: str, datatype: str = "", language: str = "", text: str | None = None
    ) -> None:
        self.kind, self.lexical, self.datatype, self.language = kind, lexical, datatype, language
        self.text = _text(kind, lexical, datatype, language) if text is None else text
        self._value: Value | None = None

    @property
    def value(self) -> Value:
        """What a literal stands for; of texts with a language, and of other terms, the text itself."""
        if self._value is None:
            self._value = _value(self)
        return self._value

    @property
    def number(self) -> Number | None:
        """The value, if it is a number."""
        if self.datatype not in NUMERIC:
            return None
        value = self.value
        return None if isinstance(value, Strange) else value  # type: ignore[return-value]

    @property
    def is_text(self) -> bool:
        """Whether it is a text, with a language or without."""
        return self.datatype in (STRING, LANG_STRING)

    def __repr__(self) -> str:
        return f"Term({self.text})"


def parse_term(text: str) -> RdfTerm:
    """The term of a canonical text."""
    if text[0] == "<":
        return RdfTerm(TermKind.IRI, text[1:-1], text=text)
    if text[0] == "_":
        return RdfTerm(TermKind.BLANK, text[2:], text=text)
    end = text.rindex('"')
    lexical, behind = text[1:end], text[end + 1 :]
    if "\\" in lexical:
        lexical = _ESCAPE.sub(_unescaped, lexical)
    if not behind:
        return RdfTerm(TermKind.LITERAL, lexical, STRING, text=text)
    if behind[0] == "@":
        return RdfTerm(TermKind.LITERAL, lexical, LANG_STRING, behind[1:], text)
    return RdfTerm(TermKind.LITERAL, lexical, behind[3:-1], text=text)


def iri(lexical: str) -> RdfTerm:
    return RdfTerm(TermKind.IRI, lexical)


def blank(label: str) -> RdfTerm:
    return RdfTerm(TermKind.BLANK, label)


def literal(lexical: str, datatype: str = STRING, language: str = "") -> RdfTerm:
    return RdfTerm(TermKind.LITERAL, lexical, LANG_STRING if language else datatype, language.lower())


def number(value: Number) -> RdfTerm:
    return RdfTerm(TermKind.LITERAL, format_number(value), TYPES[type(value)])


def boolean(value: bool) -> RdfTerm:
    return TRUE if value else FALSE


def from_rdflib(node: Any) -> RdfTerm:
    """The term of an rdflib node."""
    import rdflib

    if isinstance(node, rdflib.Literal):
        return literal(str(node), str(node.datatype or STRING), node.language or "")
    return blank(str(node)) if isinstance(node, rdflib.BNode) else iri(str(node))


def _text(kind: TermKind, lexical: str, datatype: str, language: str) -> str:
    if kind is TermKind.IRI:
        return f"<{lexical}>"
    if kind is TermKind.BLANK:
        return f"_:{lexical}"
    if _ESCAPED.search(lexical):
        lexical = _ESCAPED.sub(lambda found: _SHORT.get(found[0]) or f"\\u{ord(found[0]):04X}", lexical)
    if language:
        return f'"{lexical}"@{language}'
    return f'"{lexical}"' if datatype == STRING else f'"{lexical}"^^<{datatype}>'


def _unescaped(found: re.Match[str]) -> str:
    if found[3]:
        return _LONG[found[3]]
    return chr(int(found[1] or found[2], 16))


def _value(term: RdfTerm) -> Value:
    if term.kind is not TermKind.LITERAL or term.datatype in (STRING, LANG_STRING):
        return term.lexical
    if term.datatype in NUMERIC:
        found = parse_number(term.lexical, term.datatype)
        return Strange.MALFORMED if found is None else found
    if term.datatype == BOOLEAN:
        return {"true": True, "1": True, "false": False, "0": False}.get(term.lexical, Strange.MALFORMED)
    if term.datatype in moments.TYPES:
        return parse_moment(term.lexical, term.datatype) or Strange.MALFORMED
    return Strange.UNKNOWN


TRUE, FALSE = literal("true", BOOLEAN), literal("false", BOOLEAN)
EMPTY = literal("")
