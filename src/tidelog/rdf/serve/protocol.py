"""The SPARQL 1.1 Protocol: what a request asks for, and the form in which it wants the answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import parse_qs

from tidelog.rdf.sparql.answers import Answer, MadeTriples

ROWS = {
    "application/sparql-results+json": "json",
    "application/sparql-results+xml": "xml",
    "text/csv": "csv",
    "text/tab-separated-values": "tsv",
    "application/json": "json",
    "application/xml": "xml",
    "text/xml": "xml",
    "text/plain": "table",
}
TRIPLES = {
    "application/n-triples": "nt",
    "text/turtle": "ttl",
    "application/rdf+xml": "rdf",
    "application/ld+json": "jsonld",
    "application/n-quads": "nq",
    "application/trig": "trig",
    "text/plain": "nt",
}
FORM, QUERY, UPDATE = "application/x-www-form-urlencoded", "application/sparql-query", "application/sparql-update"


class RefusedRequest(Exception):
    """A request that is answered with a status other than 200 and a text."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message


class Asked(NamedTuple):
    """A query or an update."""

    text: str
    is_update: bool


def asked(method: str, query_string: str, content_type: str, body: bytes) -> Asked:
    """What a request asks for."""
    given = _fields(query_string)
    kind = content_type.partition(";")[0].strip().lower()
    try:
        if method == "POST" and kind == FORM:
            given = _merged(given, _fields(body.decode()))
        elif method == "POST" and kind in (QUERY, UPDATE):
            if "query" in given or "update" in given:
                raise RefusedRequest(400, "the text is in the body and in the address")
            given = {**given, "query" if kind == QUERY else "update": [body.decode()]}
        elif method == "POST":
            raise RefusedRequest(415, f"the body is {kind or 'of no type'}; there are {FORM}, {QUERY} and {UPDATE}")
    except UnicodeDecodeError:
        raise RefusedRequest(400, "the body is no UTF-8") from None
    for name in ("default-graph-uri", "named-graph-uri", "using-graph-uri", "using-named-graph-uri"):
        if name in given:
            raise RefusedRequest(400, f"{name}: there is one graph, and all is about that")
    texts = [(name, text) for name in ("query", "update") for text in given.get(name, [])]
    if len(texts) != 1:
        raise RefusedRequest(
            400, "a request has one query or one update" if texts else "there is no query and no update"
        )
    (name, text), *_ = texts
    if name == "update" and method != "POST":
        raise RefusedRequest(405, "an update is sent with POST")
    return Asked(text, name == "update")


def chosen(answer: Answer, accept: str) -> tuple[str, str]:
    """The media type and the format that the client likes best of those that there are."""
    offered = TRIPLES if isinstance(answer, MadeTriples) else ROWS
    if isinstance(answer, bool):
        offered = {kind: form for kind, form in ROWS.items() if form != "tsv"}
    best: tuple[float, int] | None = None
    found = ""
    wanted = _preferences(accept) or {"*/*": 1.0}
    for place, kind in enumerate(offered):
        quality = next((wanted[w] for w in (kind, f"{kind.partition('/')[0]}/*", "*/*") if w in wanted), 0.0)
        if quality > 0 and (best is None or (quality, -place) > best):
            best, found = (quality, -place), kind
    if not found:
        raise RefusedRequest(406, f"there are {', '.join(offered)}")
    return found, offered[found]


def _preferences(accept: str) -> Mapping[str, float]:
    """By media type how much it is liked, from 0 to 1."""
    found = {}
    for part in accept.split(","):
        kind, *options = (text.strip() for text in part.split(";"))
        quality = 1.0
        for option in options:
            name, _, value = option.partition("=")
            if name.strip() == "q":
                try:
                    quality = float(value)
                except ValueError:
                    quality = 0.0
        if kind:
            found[kind.lower()] = quality
    return found


def _fields(text: str) -> dict[str, list[str]]:
    try:
        return parse_qs(text, keep_blank_values=True, errors="strict")
    except ValueError:
        raise RefusedRequest(400, "the fields cannot be read") from None


def _merged(a: dict[str, list[str]], b: dict[str, list[str]]) -> dict[str, list[str]]:
    return {name: a.get(name, []) + b.get(name, []) for name in {*a, *b}}
