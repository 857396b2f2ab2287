"""Materialisations agree with those of owlrl and reasonable; each kind of difference is named, as in docs/rdf.md."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random
from typing import Any

import pytest
from owl_cases import PREFIXES

from tidelog.rdf import Graph

owlrl = pytest.importorskip("owlrl")
rdflib = pytest.importorskip("rdflib")
reasonable = pytest.importorskip("reasonable")

OWL, RDF, RDFS = rdflib.OWL, rdflib.RDF, rdflib.RDFS
FAMILY = Path(__file__).with_name("family.ttl")
SCHEMA = (str(OWL), str(RDFS), str(RDF), str(rdflib.XSD))
SEEDS = 4 * int(os.environ.get("TIDELOG_FUZZ", "1"))


def materialised(source: Any, **how: Any) -> set[Any]:
    with Graph(source, **how) as graph:
        return set(graph.to_rdflib())


def by_owlrl(source: Any) -> set[Any]:
    """Without literals as subjects, which are no RDF."""
    closed = rdflib.Graph()
    closed += source
    owlrl.DeductiveClosure(owlrl.OWLRL_Semantics).expand(closed)
    return {t for t in closed if not isinstance(t[0], rdflib.Literal)}


def comparable(triples: set[Any]) -> set[Any]:
    """Without what is said of the vocabulary itself (owlrl knows four datatypes that OWL 2 RL does not list: rdf:HTML,
    rdf:langString, xsd:date and xsd:time), and without eq-ref: that each resource is itself, owlrl writes down."""
    return {t for t in triples if not str(t[0]).startswith(SCHEMA) and not (t[1] == OWL.sameAs and t[0] == t[2])}


def about_individuals(triples: set[Any], source: Any) -> set[Any]:
    """What is said of individuals with the ontology's own classes and properties."""
    schema = {s for s, p, o in source if p == RDF.type and str(o).startswith(SCHEMA)}
    return {
        t
        for t in triples
        if t[0] not in schema
        and isinstance(t[0], rdflib.URIRef)
        and not str(t[0]).startswith(SCHEMA)
        and (str(t[1]) == str(RDF.type) or t[1] == OWL.sameAs or not str(t[1]).startswith(SCHEMA))
        and not (t[1] == RDF.type and (isinstance(t[2], rdflib.BNode) or t[2] == OWL.Thing))
        and not (t[1] == OWL.sameAs and t[0] == t[2])
    }


def test_the_rule_table_agrees_with_owlrl_on_a_family() -> None:
    source = rdflib.Graph().parse(FAMILY)
    found = materialised(source, ruleset="owl2rl")
    assert comparable(found) == comparable(by_owlrl(source))
    assert len(found) > 2 * len(source)


def test_the_rule_table_agrees_with_reasonable_about_individuals() -> None:
    """reasonable has neither keys nor chains of properties nor the rules about the schema; it makes everything an
    owl:Thing, and writes plain texts with the datatype xsd:string."""
    source = rdflib.Graph().parse(FAMILY)
    reasoner = reasonable.PyReasoner()
    reasoner.from_graph(source)
    theirs = {(s, p, _plain(o)) for s, p, o in reasoner.reason()}
    ours = materialised(source, ruleset="owl2rl")
    names = {rdflib.URIRef(f"http://a.org/{name}") for name in ("dora", "dorothy", "grandparentOf")}
    both = [{t for t in about_individuals(found, source) if names.isdisjoint(t)} for found in (ours, theirs)]
    assert both[0] == both[1]


def _plain(term: Any) -> Any:
    is_string = isinstance(term, rdflib.Literal) and term.datatype == rdflib.XSD.string
    return rdflib.Literal(str(term)) if is_string else term


def test_an_ontology_that_became_rules_agrees_with_the_table_about_individuals() -> None:
    source = rdflib.Graph().parse(FAMILY)
    table = about_individuals(materialised(source, ruleset="owl2rl"), source)
    assert about_individuals(materialised([], ontology=FAMILY), source) == table


CLASSES, PROPERTIES = [f":C{i}" for i in range(4)], [f":p{i}" for i in range(4)]


def random_ontology(random: Random) -> str:
    """Declarations, some axioms of every kind, and individuals."""

    def c() -> str:
        return random.choice(CLASSES)

    def p() -> str:
        return random.choice(PROPERTIES)

    restrictions = ("owl:someValuesFrom {c}", "owl:allValuesFrom {c}", "owl:hasValue :i1", "owl:maxCardinality 1")
    characteristics = ("Symmetric", "Transitive", "Functional", "InverseFunctional")
    kinds = [
        lambda: f"{c()} rdfs:subClassOf {c()} .", lambda: f"{c()} owl:equivalentClass {c()} .",
        lambda: f"{p()} rdfs:subPropertyOf {p()} .", lambda: f"{p()} owl:inverseOf {p()} .",
        lambda: f"{p()} rdfs:domain {c()} .", lambda: f"{p()} rdfs:range {c()} .",
        lambda: f"{p()} a owl:{random.choice(characteristics)}Property .",
        lambda: f"{p()} owl:propertyChainAxiom ({p()} {p()}) .", lambda: f"{c()} owl:unionOf ({c()} {c()}) .",
        lambda: f"{c()} owl:intersectionOf ({c()} {c()}) .", lambda: f"{c()} owl:hasKey ({p()}) .",
        lambda: f"{c()} rdfs:subClassOf [ a owl:Restriction ; owl:onProperty {p()} ; "
        f"{random.choice(restrictions[1:]).format(c=c())} ] .",
        lambda: f"[ a owl:Restriction ; owl:onProperty {p()} ; "
        f"{random.choice((restrictions[0], restrictions[2])).format(c=c())} ] rdfs:subClassOf {c()} .",
    ]  # fmt: skip
    lines = [f"{name} a owl:Class ." for name in CLASSES] + [f"{name} a owl:ObjectProperty ." for name in PROPERTIES]
    lines += [random.choice(kinds)() for _ in range(5)]
    for _ in range(6):
        i, j = random.randrange(5), random.randrange(5)
        lines.append(f":i{i} a {c()} ." if random.random() < 0.4 else f":i{i} {p()} :i{j} .")
    return PREFIXES + "\n".join(lines)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_random_ontologies_agree_with_owlrl(seed: int, tmp_path: Path) -> None:
    text = random_ontology(Random(seed))
    path = tmp_path / "o.ttl"
    path.write_text(text)
    source = rdflib.Graph().parse(path)
    found = materialised(source, ruleset="owl2rl")
    assert comparable(found) == comparable(by_owlrl(source)), text
    rules = about_individuals(materialised([], ontology=path), source)
    assert rules == about_individuals(found, source), text
