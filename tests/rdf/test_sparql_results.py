"""Answers in the SPARQL results formats, read back by others."""

from __future__ import annotations

import io
import json

import pytest
from naive_triples import NaiveTriples

from tidelog.errors import TidelogError
from tidelog.rdf.sparql.answers import ask
from tidelog.rdf.sparql.results import write_answer

ox = pytest.importorskip("pyoxigraph")

TRIPLES = [
    ("<http://e/a>", "<http://e/p>", '"x, \\"y\\"\\n<z>&"'),
    ("<http://e/a>", "<http://e/q>", '"1"^^<http://www.w3.org/2001/XMLSchema#integer>'),
    ("<http://e/a>", "<http://e/r>", '"ciao"@it'),
    ("_:b", "<http://e/p>", "<http://e/a>"),
]
SELECT = "SELECT ?s ?o ?none { ?s ?p ?o } ORDER BY ?s ?p"


def written(query: str, form: str, triples: list[tuple[str, str, str]] = TRIPLES) -> str:
    stream = io.BytesIO()
    write_answer(ask(query, NaiveTriples(triples)), form, stream)
    return stream.getvalue().decode()


def test_csv_has_plain_texts() -> None:
    assert written(SELECT, "csv") == (
        's,o,none\r\n_:b,http://e/a,\r\nhttp://e/a,"x, ""y""\n<z>&",\r\nhttp://e/a,1,\r\nhttp://e/a,ciao,\r\n'
    )


def test_tsv_has_terms() -> None:
    assert written(SELECT, "tsv") == (
        "?s\t?o\t?none\n"
        "_:b\t<http://e/a>\t\n"
        '<http://e/a>\t"x, \\"y\\"\\n<z>&"\t\n'
        '<http://e/a>\t"1"^^<http://www.w3.org/2001/XMLSchema#integer>\t\n'
        '<http://e/a>\t"ciao"@it\t\n'
    )


def test_json_has_types_languages_and_only_what_is_bound() -> None:
    found = json.loads(written(SELECT, "json"))
    assert found["head"]["vars"] == ["s", "o", "none"]
    assert found["results"]["bindings"] == [
        {"s": {"type": "bnode", "value": "b"}, "o": {"type": "uri", "value": "http://e/a"}},
        {"s": {"type": "uri", "value": "http://e/a"}, "o": {"type": "literal", "value": 'x, "y"\n<z>&'}},
        {
            "s": {"type": "uri", "value": "http://e/a"},
            "o": {"type": "literal", "value": "1", "datatype": "http://www.w3.org/2001/XMLSchema#integer"},
        },
        {"s": {"type": "uri", "value": "http://e/a"}, "o": {"type": "literal", "value": "ciao", "xml:lang": "it"}},
    ]


@pytest.mark.parametrize(("form", "theirs"), [("json", "JSON"), ("xml", "XML"), ("tsv", "TSV")])
def test_others_read_what_is_written(form: str, theirs: str) -> None:
    results = ox.parse_query_results(
        input=written(SELECT, form).encode(), format=getattr(ox.QueryResultsFormat, theirs)
    )
    assert [variable.value for variable in results.variables] == ["s", "o", "none"]
    rows = [[None if term is None else str(term) for term in row] for row in results]
    assert [row[1:] for row in rows[1:]] == [[obj, None] for _, _, obj in TRIPLES[:3]]


def test_a_table_is_aligned() -> None:
    assert written("SELECT ?o { <http://e/a> ?p ?o FILTER(isNumeric(?o)) }", "table") == (
        '?o\n------------------------------------------------\n"1"^^<http://www.w3.org/2001/XMLSchema#integer>\n'
    ).replace("-" * 48, "-" * 47)


@pytest.mark.parametrize("form", ["csv", "json", "xml", "tsv", "table"])
def test_no_solutions_are_written_too(form: str) -> None:
    assert "x" in written("SELECT ?x { ?x <http://e/none> ?y }", form)


def test_ask_is_true_or_false() -> None:
    assert json.loads(written("ASK {}", "json")) == {"head": {}, "boolean": True}
    xml = written("ASK { ?x <http://e/none> 1 }", "xml").encode()
    assert not ox.parse_query_results(input=xml, format=ox.QueryResultsFormat.XML)
    assert written("ASK {}", "csv") == "true\n"


@pytest.mark.parametrize("form", ["nt", "ttl", "rdf"])
def test_triples_are_written_in_rdf_formats(form: str) -> None:
    text = written("CONSTRUCT { ?s <http://e/is> ?o } { ?s <http://e/q> ?o }", form)
    kind = {"nt": ox.RdfFormat.N_TRIPLES, "ttl": ox.RdfFormat.TURTLE, "rdf": ox.RdfFormat.RDF_XML}[form]
    assert [str(quad.object) for quad in ox.parse(input=text.encode(), format=kind)] == [TRIPLES[1][2]]


def test_a_format_that_does_not_fit_is_refused() -> None:
    for query, form in (("ASK {}", "tsv"), ("CONSTRUCT {} {}", "csv"), (SELECT, "ttl")):
        with pytest.raises(TidelogError, match="TL1456"):
            written(query, form)


def test_a_character_that_xml_cannot_have_is_refused() -> None:
    triples = [("<http://e/a>", "<http://e/p>", '"\\u0001"')]
    assert json.loads(written(SELECT, "json", triples))["results"]["bindings"][0]["o"]["value"] == "\x01"
    with pytest.raises(TidelogError, match="TL1457"):
        written(SELECT, "xml", triples)
