"""Random queries give what pyoxigraph's own SPARQL gives; `TIDELOG_FUZZ=5000` tries ten thousand (`make fuzz`)."""

from __future__ import annotations

import os
from collections import Counter
from random import Random
from typing import Any

import pytest
from naive_triples import NaiveTriples
from random_queries import RandomQuery, random_expressions, random_turtle, random_update

from tidelog.rdf.graph import Graph
from tidelog.rdf.sparql import update
from tidelog.rdf.sparql.answers import SolutionRows, ask
from tidelog.rdf.sparql.terms import RdfTerm, TermKind, parse_term

ox = pytest.importorskip("pyoxigraph")

CASES = int(os.environ.get("TIDELOG_FUZZ", "200"))
BATCH = 50


def comparable(term: RdfTerm | None) -> Any:
    """A term as both write it: numbers by their value, since pyoxigraph spells doubles in its own way."""
    if term is None or term.kind is TermKind.BLANK:
        return term and term.text
    value = term.number
    if isinstance(value, float):
        return term.datatype, repr(float(value))
    return (term.datatype, value) if value is not None else term.text


def by_tidelog(query: str, triples: NaiveTriples) -> Any:
    found = ask(query, triples)
    if isinstance(found, SolutionRows):
        return Counter(tuple(map(comparable, row)) for row in found.terms())
    return found


def by_pyoxigraph(query: str, store: Any) -> Any:
    found = store.query(query)
    if isinstance(found, ox.QueryBoolean):
        return bool(found)
    texts = ((None if term is None else str(term) for term in row) for row in found)
    return Counter(tuple(comparable(None if t is None else parse_term(t)) for t in row) for row in texts)


@pytest.mark.parametrize("first", range(0, CASES, BATCH))
def test_random_queries_agree_with_pyoxigraph(first: int) -> None:
    for seed in range(first, first + BATCH):
        chance = Random(seed)
        quads = list(ox.parse(input=random_turtle(chance), format=ox.RdfFormat.TURTLE))
        store = ox.Store()
        store.extend(quads)
        triples = NaiveTriples((str(q.subject), str(q.predicate), str(q.object)) for q in quads)
        for _ in range(2):
            query = RandomQuery(chance).text
            assert by_tidelog(query, triples) == by_pyoxigraph(query, store), f"seed {seed}\n{query}"


@pytest.mark.parametrize("first", range(0, CASES // 2, BATCH))
def test_random_expressions_agree_with_pyoxigraph(first: int) -> None:
    store, triples = ox.Store(), NaiveTriples([])
    for seed in range(first, first + BATCH):
        query = random_expressions(Random(seed))
        assert by_tidelog(query, triples) == by_pyoxigraph(query, store), f"seed {seed}\n{query}"


def test_random_updates_agree_with_pyoxigraph() -> None:
    changed = 0
    for seed in range(CASES // 8):
        chance = Random(seed)
        quads = list(ox.parse(input=random_turtle(chance), format=ox.RdfFormat.TURTLE))
        store = ox.Store()
        store.extend(quads)
        with Graph([(str(q.subject), str(q.predicate), str(q.object)) for q in quads]) as graph:
            for _ in range(4):
                text = random_update(chance)
                before = len(store)
                store.update(text)
                changed += len(store) != before
                update(text, graph)
                found = {tuple(row.values()) for row in graph.to_arrow().to_pylist()}
                expected = {(str(q.subject), str(q.predicate), str(q.object)) for q in store}
                found, expected = (
                    {tuple(comparable(parse_term(t)) for t in row) for row in s} for s in (found, expected)
                )
                assert found == expected, f"seed {seed}\n{text}"
    assert changed > CASES // 16
