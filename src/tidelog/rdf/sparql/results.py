"""Answers as texts: the SPARQL results formats for SELECT and ASK, RDF formats for triples.

A term is written once for each of its distinct numbers in a column, however many rows have it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import BinaryIO
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from tidelog.errors import error
from tidelog.rdf.grammar import FORMATS
from tidelog.rdf.sparql.answers import Answer, MadeTriples, SolutionRows
from tidelog.rdf.sparql.terms import STRING, RdfTerm, TermKind
from tidelog.rdf.write import write_texts

ROWS = ("table", "csv", "tsv", "json", "xml")
TRIPLES = tuple(FORMATS)
AT_ONCE = 10_000

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def formats_of(answer: Answer) -> tuple[str, ...]:
    """In which formats an answer can be written, the usual one first."""
    if isinstance(answer, MadeTriples):
        return TRIPLES
    return ROWS if isinstance(answer, SolutionRows) else tuple(form for form in ROWS if form != "tsv")


def write_answer(answer: Answer, form: str, stream: BinaryIO) -> None:
    """Write an answer in one of its formats."""
    if form not in formats_of(answer):
        kind = (
            "triples"
            if isinstance(answer, MadeTriples)
            else "solutions"
            if isinstance(answer, SolutionRows)
            else "yes or no"
        )
        raise error("TL1456", f"the answer is {kind}, which cannot be written as {form}",
                    help=f"there are {', '.join(formats_of(answer))}")  # fmt: skip
    if isinstance(answer, MadeTriples):
        write_texts(stream, [answer.to_arrow()], form)
    elif isinstance(answer, bool):
        stream.write(_boolean(answer, form).encode())
    elif form == "table":
        stream.write(_table(answer).encode())
    else:
        writer = {"csv": _csv, "tsv": _tsv, "json": _json, "xml": _xml}[form]
        pieces = writer(answer)
        while some := list(islice(pieces, AT_ONCE)):
            stream.write("".join(some).encode())


def _boolean(answer: bool, form: str) -> str:
    text = "true" if answer else "false"
    if form == "json":
        return f'{{"head":{{}},"boolean":{text}}}\n'
    return f"{_XML_HEAD}<head></head><boolean>{text}</boolean></sparql>\n" if form == "xml" else f"{text}\n"


def _cells(rows: SolutionRows, write: Callable[[RdfTerm | None], str]) -> Iterator[tuple[str, ...]]:
    """The rows with each term written."""
    columns = []
    for name in rows.names:
        distinct, where = np.unique(rows.found.column(name), return_inverse=True)
        texts = [write(term) for term in rows.dictionary.terms(distinct)]
        columns.append(map(texts.__getitem__, where.tolist()))
    return zip(*columns, strict=True) if columns else iter([()] * len(rows))


def _table(rows: SolutionRows) -> str:
    cells = list(_cells(rows, lambda term: "" if term is None else term.text))
    lines = [tuple(f"?{name}" for name in rows.names), *cells]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    lines.insert(1, tuple("-" * width for width in widths))
    return "".join("  ".join(map(str.ljust, line, widths)).rstrip() + "\n" for line in lines)


def _csv(rows: SolutionRows) -> Iterator[str]:
    yield ",".join(rows.names) + "\r\n"
    for row in _cells(rows, _csv_cell):
        yield ",".join(row) + "\r\n"


def _csv_cell(term: RdfTerm | None) -> str:
    if term is None:
        return ""
    text = f"_:{term.lexical}" if term.kind is TermKind.BLANK else term.lexical
    return '"' + text.replace('"', '""') + '"' if re.search('[",\r\n]', text) else text


def _tsv(rows: SolutionRows) -> Iterator[str]:
    yield "\t".join(f"?{name}" for name in rows.names) + "\n"
    for row in _cells(rows, lambda term: "" if term is None else term.text):
        yield "\t".join(row) + "\n"


def _json(rows: SolutionRows) -> Iterator[str]:
    yield f'{{"head":{{"vars":{json.dumps(rows.names)}}},"results":{{"bindings":['
    names = [json.dumps(name) for name in rows.names]
    between = "\n"
    for row in _cells(rows, _json_term):
        yield between + "{" + ",".join(f"{name}:{text}" for name, text in zip(names, row, strict=True) if text) + "}"
        between = ",\n"
    yield "\n]}}\n"


def _json_term(term: RdfTerm | None) -> str:
    if term is None:
        return ""
    kind = {TermKind.IRI: "uri", TermKind.BLANK: "bnode", TermKind.LITERAL: "literal"}[term.kind]
    found = {"type": kind, "value": term.lexical}
    if term.language:
        found["xml:lang"] = term.language
    elif term.kind is TermKind.LITERAL and term.datatype != STRING:
        found["datatype"] = term.datatype
    return json.dumps(found, ensure_ascii=False)


_XML_HEAD = '<?xml version="1.0"?>\n<sparql xmlns="http://www.w3.org/2005/sparql-results#">'


def _xml(rows: SolutionRows) -> Iterator[str]:
    yield (
        _XML_HEAD + "<head>" + "".join(f"<variable name={quoteattr(n)}/>" for n in rows.names) + "</head>\n<results>\n"
    )
    names = [f"<binding name={quoteattr(name)}>" for name in rows.names]
    for row in _cells(rows, _xml_term):
        cells = (f"{name}{text}</binding>" for name, text in zip(names, row, strict=True) if text)
        yield f"<result>{''.join(cells)}</result>\n"
    yield "</results></sparql>\n"


def _xml_term(term: RdfTerm | None) -> str:
    if term is None:
        return ""
    if _NOT_XML.search(term.lexical):
        raise error("TL1457", f"{term.text} has a character that XML cannot have", help="ask for json")
    text = escape(term.lexical, {"\r": "&#13;"})
    if term.kind is TermKind.IRI:
        return f"<uri>{text}</uri>"
    if term.kind is TermKind.BLANK:
        return f"<bnode>{text}</bnode>"
    if term.language:
        return f"<literal xml:lang={quoteattr(term.language)}>{text}</literal>"
    of = "" if term.datatype == STRING else f" datatype={quoteattr(term.datatype)}"
    return f"<literal{of}>{text}</literal>"
