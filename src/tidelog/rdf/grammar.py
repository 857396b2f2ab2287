"""Every RDF format, with all of its grammar and its error messages: pyoxigraph's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from tidelog.errors import error

if TYPE_CHECKING:
    from pyoxigraph import Quad

FORMATS = {
    "nt": "N_TRIPLES", "nq": "N_QUADS", "ttl": "TURTLE", "trig": "TRIG", "rdf": "RDF_XML", "owl": "RDF_XML",
    "xml": "RDF_XML", "jsonld": "JSON_LD", "n3": "N3",
}  # fmt: skip
"""By the suffix of a file, pyoxigraph's name of its format."""

TOGETHER = 512  # lines parsed at once

Terms = tuple[str, str, str, str]
"""Subject, predicate, object and graph name, each as its canonical text; the default graph is the empty text."""


class Malformed(NamedTuple):
    """What is wrong with a text: the line, from 1, the characters in it if they are known, and pyoxigraph's words."""

    line: int
    start: int
    end: int | None
    message: str


def parser() -> Any:
    """The module pyoxigraph."""
    try:
        import pyoxigraph
    except ImportError:
        raise error("TL1401", "reading RDF needs pyoxigraph, which is not installed",
                    help="pip install 'tidelog[rdf]'") from None  # fmt: skip
    return pyoxigraph


def parse(source: BinaryIO | bytes, suffix: str, base: str | None = None) -> Iterator[Terms | Malformed]:
    """The triples of a text. What is malformed ends it, as the last thing it gives."""
    pyoxigraph = parser()
    form = getattr(pyoxigraph.RdfFormat, FORMATS[suffix])
    try:
        for quad in pyoxigraph.parse(input=source, format=form, base_iri=base):
            yield _terms(quad)
    except SyntaxError as problem:
        yield _malformed(problem)


def parse_lines(lines: Sequence[bytes], suffix: str) -> Iterator[Terms | Malformed]:
    """The triples of lines of N-Triples or N-Quads, and what is malformed.

    A malformed line costs itself only: the lines around it are parsed one by one.
    """
    for first in range(0, len(lines), TOGETHER):
        some = lines[first : first + TOGETHER]
        found = list(parse(b"".join(some), suffix))
        if found and isinstance(found[-1], Malformed):
            found = [one for number, line in enumerate(some, first + 1) for one in _parse_line(line, number, suffix)]
        yield from found


def _parse_line(line: bytes, number: int, suffix: str) -> list[Terms | Malformed]:
    """Of a malformed line only that it is: pyoxigraph gives a triple before it misses the dot behind it."""
    found = list(parse(line, suffix))
    last = found[-1] if found else None
    return [last._replace(line=number)] if isinstance(last, Malformed) else found


def _terms(quad: Quad) -> Terms:
    graph = str(quad.graph_name)
    return str(quad.subject), str(quad.predicate), str(quad.object), "" if graph == "DEFAULT" else graph


def _malformed(problem: SyntaxError) -> Malformed:
    """pyoxigraph says where before what; the place is shown as a picture."""
    start = (problem.offset or 1) - 1
    end = problem.end_offset - 1 if problem.end_offset and problem.end_lineno == problem.lineno else None
    return Malformed(problem.lineno or 1, start, end, problem.msg.partition(": ")[2] or problem.msg)
