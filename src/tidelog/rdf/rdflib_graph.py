"""Triples as an rdflib graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tidelog.errors import error
from tidelog.evaluate.bindings import Words
from tidelog.rdf.terms import STRING, is_blank, is_iri, parse_literal


def rdflib_graph(triples: Iterable[Words], texts: Callable[[Words], Any]) -> Any:
    """The graph of some triples; each term is made once."""
    try:
        import rdflib
    except ImportError:
        raise error(
            "TL1401", "an rdflib graph needs rdflib, which is not installed", help="pip install rdflib"
        ) from None
    graph, known = rdflib.Graph(), dict[str, Any]()

    def term(text: str) -> Any:
        if text not in known:
            known[text] = _term(rdflib, text)
        return known[text]

    for words in triples:
        columns = [map(term, texts(words[:, i]).to_pylist()) for i in range(3)]
        graph.addN((*triple, graph) for triple in zip(*columns, strict=True))
    return graph


def _term(rdflib: Any, text: str) -> Any:
    if is_iri(text):
        return rdflib.URIRef(text[1:-1])
    if is_blank(text):
        return rdflib.BNode(text[2:])
    found = parse_literal(text)
    assert found is not None
    if found.language:
        return rdflib.Literal(found.text, lang=found.language)
    datatype = None if found.datatype == STRING else rdflib.URIRef(found.datatype)
    return rdflib.Literal(found.text, datatype=datatype, normalize=False)
