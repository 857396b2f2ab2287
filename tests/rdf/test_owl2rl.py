"""Every rule of OWL 2 RL/RDF, by the rule tables and by ontologies that become rules; and what is outside of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from owl_cases import DERIVED, GENERIC, PREFIXES, TERMS, Case

from tidelog.errors import TidelogError
from tidelog.rdf import Graph
from tidelog.rdf.grammar import parse
from tidelog.rdf.ontology import Ontology

Triples = set[tuple[str, str, str]]


def triples_of(turtle: str) -> Triples:
    return {one[:3] for one in parse((PREFIXES + turtle).encode(), "ttl")}  # type: ignore[misc]


def all_of(graph: Graph) -> Triples:
    table = graph.to_arrow()
    return set(zip(*(table.column(i).to_pylist() for i in range(3)), strict=True))


def check_case(graph: Graph, rule: str, case: Case) -> None:
    if not case.violation:
        assert triples_of(case.derived) <= all_of(graph)
        assert not graph.violations()
        return
    (expected,) = triples_of(case.derived + " .")
    found = graph.violations()
    assert any(expected in (v.triple, v.other) for v in found), found
    assert {v.rule for v in found} <= _names(rule)


def _names(rule: str) -> set[str]:
    """The rules that may report a case: a list of different things becomes pairs, Thing is as good as no class."""
    return {rule, *({"eq-diff1"} if rule.startswith("eq-diff") else ())} | (
        {"cls-maxc1", "cls-maxqc1", "cls-maxqc2"} if rule.startswith("cls-max") else set()
    )


@pytest.mark.parametrize("rule", [*DERIVED, *GENERIC])
def test_the_rule_table_reads_the_ontology_as_data(rule: str, tmp_path: Path) -> None:
    case = (DERIVED | GENERIC)[rule]
    (tmp_path / "all.ttl").write_text(PREFIXES + case.ontology + case.data)
    with Graph(tmp_path / "all.ttl", ruleset="owl2rl") as graph:
        check_case(graph, rule, case)


@pytest.mark.parametrize("rule", DERIVED)
def test_an_ontology_becomes_rules(rule: str, tmp_path: Path) -> None:
    case = DERIVED[rule]
    (tmp_path / "ontology.ttl").write_text(PREFIXES + (case.ontology or ":o a owl:Ontology ."))
    (tmp_path / "data.ttl").write_text(PREFIXES + case.data)
    with Graph(tmp_path / "data.ttl", ontology=tmp_path / "ontology.ttl") as graph:
        assert not graph.program.layout.whole
        check_case(graph, rule, case)


@pytest.mark.parametrize("rule", TERMS)
def test_the_rules_about_every_term(rule: str) -> None:
    given, derived = TERMS[rule]
    with Graph(given, ruleset="owl2rl-terms") as graph:
        assert derived in all_of(graph)


def test_a_literal_without_a_value_of_its_datatype_is_a_violation() -> None:
    given = ("<x:a>", "<x:p>", '"300"^^<http://www.w3.org/2001/XMLSchema#byte>')
    with Graph([given], ruleset="owl2rl-terms") as graph:
        assert ("dt-not-type", given, given) in graph.violations()


RDFS = {
    "rdfD2": (":a :p :b .", ":p a rdf:Property ."),
    "rdfs2": (":p rdfs:domain :C . :a :p :b .", ":a a :C ."),
    "rdfs3": (":p rdfs:range :C . :a :p :b .", ":b a :C ."),
    "rdfs5": (":p rdfs:subPropertyOf :q . :q rdfs:subPropertyOf :r .", ":p rdfs:subPropertyOf :r ."),
    "rdfs6": (":p a rdf:Property .", ":p rdfs:subPropertyOf :p ."),
    "rdfs7": (":p rdfs:subPropertyOf :q . :a :p :b .", ":a :q :b ."),
    "rdfs9": (":C rdfs:subClassOf :D . :a a :C .", ":a a :D ."),
    "rdfs10": (":C a rdfs:Class .", ":C rdfs:subClassOf :C ."),
    "rdfs11": (":C rdfs:subClassOf :D . :D rdfs:subClassOf :E .", ":C rdfs:subClassOf :E ."),
    "rdfs12": (":p a rdfs:ContainerMembershipProperty .", ":p rdfs:subPropertyOf rdfs:member ."),
    "rdfs13": (":d a rdfs:Datatype .", ":d rdfs:subClassOf rdfs:Literal ."),
}


@pytest.mark.parametrize("rule", RDFS)
def test_the_rules_of_rdf_schema(rule: str, tmp_path: Path) -> None:
    given, derived = RDFS[rule]
    (tmp_path / "all.ttl").write_text(PREFIXES + given)
    with Graph(tmp_path / "all.ttl", ruleset="rdfs") as graph:
        assert triples_of(derived) <= all_of(graph)


@pytest.mark.parametrize(
    ("axiom", "why"),
    [
        (":C rdfs:subClassOf [ owl:onProperty :p ; owl:someValuesFrom :D ] .", "owl:someValuesFrom on the right"),
        (":C rdfs:subClassOf [ owl:unionOf (:D :E) ] .", "owl:unionOf on the right"),
        (":C rdfs:subClassOf [ owl:onProperty :p ; owl:minCardinality 2 ] .", "owl:minCardinality on the right"),
        (":C rdfs:subClassOf [ owl:onProperty :p ; owl:maxCardinality 2 ] .", "owl:maxCardinality on the right"),
        ("[ owl:onProperty :p ; owl:allValuesFrom :D ] rdfs:subClassOf :C .", "owl:allValuesFrom on the left"),
        ("[ owl:onProperty :p ; owl:hasSelf true ] rdfs:subClassOf :C .", "owl:hasSelf on the left"),
        ("owl:Thing rdfs:subClassOf :C .", "owl:Thing on the left"),
        (":p a owl:ReflexiveProperty .", "owl:ReflexiveProperty is not in OWL 2 RL"),
        (":C owl:disjointUnionOf (:D :E) .", "a union on the right"),
        (":p rdfs:range xsd:integer .", "datatypes of values are not checked"),
        (":C owl:hasKey [ rdf:first :p ] .", "a list that has no end"),
    ],
)
def test_what_is_outside_of_the_profile_is_listed_with_its_reason(axiom: str, why: str) -> None:
    outside = Ontology(sorted(triples_of(axiom))).outside
    assert len(outside) == 1
    assert why in outside[0]


def test_what_stands_beside_something_outside_is_translated() -> None:
    axiom = ":C owl:equivalentClass [ owl:intersectionOf (:D [ owl:onProperty :p ; owl:someValuesFrom :E ]) ] ."
    ontology = Ontology(sorted(triples_of(axiom)))
    assert [line.rpartition(": ")[2] for line in ontology.outside] == ["owl:someValuesFrom on the right"]
    heads = [rule.heads[0].args for rule in ontology.rules]
    assert [h[2].value for h in heads if getattr(h[2], "value", "").startswith("x:")] in (
        ["x:D", "x:C"],
        ["x:C", "x:D"],
    )


def test_two_values_of_a_functional_data_property_are_a_violation(tmp_path: Path) -> None:
    (tmp_path / "o.ttl").write_text(PREFIXES + ":p a owl:FunctionalProperty, owl:DatatypeProperty .")
    (tmp_path / "d.ttl").write_text(PREFIXES + ':a :p 1, 1.0 . :b :p "x", "y" .')
    with Graph(tmp_path / "d.ttl", ontology=tmp_path / "o.ttl") as graph:
        assert {v.triple[0] for v in graph.violations()} == {"<x:b>"}


def test_equal_resources_share_triples_of_every_relation_and_deletion_takes_them_back(tmp_path: Path) -> None:
    (tmp_path / "o.ttl").write_text(PREFIXES + ":p rdfs:domain :C .")
    same = ("<x:a>", "<http://www.w3.org/2002/07/owl#sameAs>", "<x:b>")
    given = [same, ("<x:a>", "<x:p>", "<x:c>"), ("<x:d>", "<x:unnamed>", "<x:b>")]
    with Graph(given, ontology=tmp_path / "o.ttl") as graph:
        expected = {("<x:b>", "<x:p>", "<x:c>"), ("<x:d>", "<x:unnamed>", "<x:a>")} | triples_of(":b a :C .")
        assert expected <= all_of(graph)
        graph.update(delete=[same])
        assert all_of(graph) == set(given[1:]) | triples_of(":a a :C .")


def test_an_unknown_ruleset_is_refused() -> None:
    with pytest.raises(TidelogError, match=r"TL1414.*owl2rk"):
        Graph([], ruleset="owl2rk")


@pytest.mark.parametrize("durable", [False, True], ids=["memory", "state"])
def test_rules_about_equality_are_there_once_something_may_be_equal(tmp_path: Path, durable: bool) -> None:
    (tmp_path / "o.ttl").write_text(PREFIXES + ":p rdfs:domain :C .")
    same = ("<x:a>", "<http://www.w3.org/2002/07/owl#sameAs>", "<x:b>")
    state = tmp_path / "kb" if durable else None
    with Graph([("<x:a>", "<x:p>", "<x:c>")], ontology=tmp_path / "o.ttl", state=state) as graph:
        assert not graph.program.same_as
        graph.update(insert=iter([same]))
        assert graph.program.same_as
        assert triples_of(":b :p :c ; a :C ; owl:sameAs :a .") <= all_of(graph)
        graph.update(delete=[same])
        assert all_of(graph) == triples_of(":a :p :c ; a :C .")
