"""Terms as texts: the canonical N-Triples of what rules, ontologies and queries name.

The texts are those that reading gives (`grammar.py`), so that a constant of a rule is the term of a file.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from tidelog.lang import tree
from tidelog.lang.rules import RDF, XSD

RDFS, OWL = "http://www.w3.org/2000/01/rdf-schema#", "http://www.w3.org/2002/07/owl#"
STRING, LANG_STRING = XSD + "string", RDF + "langString"

_ESCAPED = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}
_TO_ESCAPE = re.compile(r'["\\\x00-\x1f\x7f]')
_PLAIN = {escape[1]: character for character, escape in _ESCAPED.items()}
_ESCAPE = re.compile(r'\\(?:([tbnrf"\\])|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8}))')


class LiteralParts(NamedTuple):
    """A literal: its text, its datatype's IRI, and its language or the empty text."""

    text: str
    datatype: str = STRING
    language: str = ""


def iri(value: str) -> str:
    return f"<{value}>"


def literal(text: str, datatype: str = STRING, language: str = "") -> str:
    """The canonical text of a literal."""
    quoted = f'"{_TO_ESCAPE.sub(_escape, text)}"'
    if language:
        return f"{quoted}@{language.lower()}"
    return quoted if datatype == STRING else f"{quoted}^^<{datatype}>"


def _escape(match: re.Match[str]) -> str:
    return _ESCAPED.get(match[0]) or f"\\u{ord(match[0]):04X}"


@lru_cache(1 << 16)
def parse_literal(term: str) -> LiteralParts | None:
    """The literal that a text is; None if it is an IRI or a blank node."""
    if not term.startswith('"'):
        return None
    end = term.rindex('"')
    text = _ESCAPE.sub(_unescape, term[1:end]) if "\\" in term else term[1:end]
    rest = term[end + 1 :]
    if rest.startswith("@"):
        return LiteralParts(text, LANG_STRING, rest[1:])
    return LiteralParts(text, rest[3:-1]) if rest else LiteralParts(text)


def _unescape(match: re.Match[str]) -> str:
    return _PLAIN[match[1]] if match[1] else chr(int(match[2] or match[3], 16))


def is_iri(term: str) -> bool:
    return term.startswith("<")


def is_blank(term: str) -> bool:
    return term.startswith("_:")


def constant(term: tree.Term) -> str | None:
    """The text of a constant of the triple rules; None for what is no constant."""
    match term:
        case tree.Iri(value=value):
            return iri(value)
        case tree.String(value=value):
            return literal(value)
        case tree.RdfLiteral(text=text, datatype=datatype, language=language):
            return literal(text, datatype or STRING, language or "")
    return None
