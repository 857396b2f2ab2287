"""Equal resources merged: what a graph then says, written out for all members, is what rules about equality derive."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from random import Random

import pytest

from tidelog.errors import TidelogError
from tidelog.rdf import Graph
from tidelog.rdf.axioms import SAME_AS, Triple
from tidelog.rdf.sparql import query, update
from tidelog.rdf.sparql.answers import SolutionRows

ONTOLOGY = """
@prefix : <http://e/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:mother a owl:FunctionalProperty . :account a owl:InverseFunctionalProperty .
:mother rdfs:subPropertyOf :parent . :parent rdfs:subPropertyOf :ancestor . :ancestor a owl:TransitiveProperty .
:Chief owl:equivalentClass [ a owl:Restriction ; owl:onProperty :leads ; owl:hasValue :i2 ] .
:Known rdfs:subClassOf :Person . :Person owl:hasKey ( :badge ) .
:i1 :leads :i3 . :i5 a :Known .
"""
RULES = "@prefix : <http://e/> .\n[?x, :namesake, ?y] :- [?x, :name, ?n], [?y, :name, ?n] .\n"
NAMES = [f"<http://e/i{number}>" for number in range(7)] + ["_:b"]
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"


def ex(name: str) -> str:
    return f"<http://e/{name}>"


def random_triple(rng: Random) -> Triple:
    kind = rng.randrange(9)
    one, other = rng.choice(NAMES), rng.choice(NAMES)
    if kind == 0:
        return one, SAME_AS, other
    if kind <= 5:
        return one, ex(rng.choice(["mother", "account", "badge", "leads", "parent", "likes"])), other
    if kind == 6:
        return one, TYPE, ex(rng.choice(["Known", "Person", "Chief"]))
    return one, ex("name"), f'"{rng.randrange(3)}"'


def triples_of(graph: Graph) -> set[Triple]:
    table = graph.to_arrow().to_pydict()
    return set(zip(table["subject"], table["predicate"], table["object"], strict=True))


def written_out(graph: Graph) -> set[Triple]:
    """What a merged graph says of all members of its classes; who is the same as whom included."""
    members: dict[str, list[str]] = {}
    for term, one in zip(*graph.representatives().to_pydict().values(), strict=True):
        members.setdefault(one, [one]).append(term)
    found = {
        (s, p, o)
        for subject, p, value in triples_of(graph)
        if p != SAME_AS
        for s, o in product(members.get(subject, [subject]), members.get(value, [value]))
    }
    equal = {(a, SAME_AS, b) for group in members.values() for a, b in product(group, group) if a != b}
    return found | equal


def expected(given: set[Triple], folder: Path) -> set[Triple]:
    with Graph(sorted(given), ontology=folder / "o.ttl", rules=RULES) as graph:
        return {triple for triple in triples_of(graph) if triple[1] != SAME_AS or triple[0] != triple[2]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "o.ttl").write_text(ONTOLOGY)
    return tmp_path


@pytest.mark.parametrize("durable", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_random_graphs_say_what_rules_about_equality_derive(seed: int, durable: bool, folder: Path) -> None:
    rng = Random(seed)
    given = {random_triple(rng) for _ in range(rng.randrange(4, 16))}
    state = folder / "kb" if durable else None
    graph = Graph(sorted(given), ontology=folder / "o.ttl", rules=RULES, same_as="representatives", state=state)
    try:
        assert written_out(graph) == expected(given, folder)
        for _ in range(4):
            gone = set(rng.sample(sorted(given), min(len(given), rng.randrange(3))))
            come = {random_triple(rng) for _ in range(rng.randrange(4))}
            given = (given - gone) | come
            graph.update(insert=sorted(come) or None, delete=sorted(gone) or None)
            assert written_out(graph) == expected(given, folder)
            if durable and rng.random() < 0.5:
                graph.close()
                graph = Graph(state=state)
                assert written_out(graph) == expected(given, folder)
        names = [set(map(tuple, part.tolist())) for part in graph.given()]
        assert sum(map(len, names)) == len(given)
    finally:
        graph.close()


def merged(given: list[Triple], folder: Path, **options: object) -> Graph:
    return Graph(given, ontology=folder / "o.ttl", same_as="representatives", **options)


def rows(text: str, graph: Graph) -> list[tuple[str | None, ...]]:
    found = query(f"PREFIX : <http://e/> PREFIX owl: <http://www.w3.org/2002/07/owl#> {text}", graph)
    assert isinstance(found, SolutionRows)
    return sorted(zip(*found.to_arrow().to_pydict().values(), strict=True))


def test_each_class_is_one_resource_with_the_triples_of_all(folder: Path) -> None:
    given = [(ex("b"), SAME_AS, ex("a")), (ex("b"), ex("likes"), ex("c")), (ex("a"), ex("name"), '"A"')]
    with merged(given, folder) as graph:
        assert graph.representatives().to_pydict() == {"term": [ex("b")], "representative": [ex("a")]}
        own = {(ex("i1"), ex("leads"), ex("i3")), (ex("i5"), TYPE, ex("Known")), (ex("i5"), TYPE, ex("Person"))}
        said = {(ex("a"), ex("likes"), ex("c")), (ex("a"), ex("name"), '"A"'), (ex("b"), SAME_AS, ex("a"))}
        assert triples_of(graph) == own | said
        assert len(graph) == 6


def test_a_query_may_name_any_member(folder: Path) -> None:
    given = [(ex("b"), SAME_AS, ex("a")), (ex("b"), ex("likes"), ex("c"))]
    with merged(given, folder) as graph:
        assert rows("SELECT ?y { :b :likes ?y }", graph) == [(ex("c"),)]
        assert rows("SELECT ?x { ?x :likes :c }", graph) == [(ex("a"),)]
        assert rows("SELECT ?x { VALUES ?x { :b } ?x :likes :c }", graph) == [(ex("a"),)]
        assert rows("SELECT ?x { ?x :likes :c FILTER(?x = :b) }", graph) == [(ex("a"),)]
        assert graph.match([(ex("b"), "?p", "?y")]).rows.shape == (1, 2)


def test_functional_properties_unite_and_a_deletion_takes_apart(folder: Path) -> None:
    given = [(ex("x"), ex("mother"), ex("m1")), (ex("x"), ex("mother"), ex("m2")), (ex("m2"), ex("name"), '"M"')]
    with merged(given, folder) as graph:
        assert rows("SELECT ?n { :m1 :name ?n }", graph) == [('"M"',)]
        done = graph.update(delete=[given[1]])
        assert (done.not_given, done.inserted, done.deleted) == (0, 0, 1)  # that m2 is the same as m1
        assert rows("SELECT ?n { :m1 :name ?n }", graph) == []
        assert rows("SELECT ?n { :m2 :name ?n }", graph) == [('"M"',)]
        assert len(graph.representatives()) == 0


def test_what_two_members_said_is_there_until_both_have_gone(folder: Path) -> None:
    given = [(ex("a"), SAME_AS, ex("b")), (ex("a"), ex("likes"), ex("c")), (ex("b"), ex("likes"), ex("c"))]
    with merged(given, folder) as graph:
        graph.update(delete=[given[1]])
        assert rows("SELECT ?x { ?x :likes :c }", graph) == [(ex("a"),)]
        assert graph.update(delete=[given[1]]).not_given == 1
        graph.update(delete=[given[2]])
        assert rows("SELECT ?x { ?x :likes :c }", graph) == []


def test_an_update_by_a_pattern_takes_what_was_said_of_any_member(folder: Path) -> None:
    with merged([(ex("b"), SAME_AS, ex("a")), (ex("b"), ex("likes"), ex("c"))], folder) as graph:
        update("PREFIX : <http://e/> DELETE { ?x :likes ?y } INSERT { ?x :knows ?y } WHERE { ?x :likes ?y }", graph)
        assert rows("SELECT ?p { :b ?p :c }", graph) == [(ex("knows"),)]


def test_equal_properties_and_classes_are_one_too(folder: Path) -> None:
    given = [(ex("loves"), SAME_AS, ex("mother")), (ex("x"), ex("loves"), ex("y")), (ex("z"), TYPE, ex("Prominent")),
             (ex("Known"), SAME_AS, ex("Prominent"))]  # fmt: skip
    with merged(given, folder) as graph:
        assert rows("SELECT ?y { :x :ancestor ?y }", graph) == [(ex("y"),)]
        graph.update(insert=[(ex("x"), ex("loves"), ex("w"))])
        assert (ex("y"), SAME_AS, ex("w")) in triples_of(graph)
        graph.update(delete=[(ex("x"), ex("loves"), ex("w"))])
        assert (ex("y"), SAME_AS, ex("w")) not in triples_of(graph)
        assert rows("SELECT ?x { ?x a :Person }", graph) == [(ex("i5"),), (ex("z"),)]


def test_different_resources_that_are_equal_are_a_violation(folder: Path) -> None:
    different = "<http://www.w3.org/2002/07/owl#differentFrom>"
    with merged([(ex("a"), different, ex("b")), (ex("b"), SAME_AS, ex("a"))], folder) as graph:
        assert [found.rule for found in graph.violations()] == ["eq-diff1"]
        graph.update(delete=[(ex("b"), SAME_AS, ex("a"))])
        assert graph.violations() == []


@pytest.mark.parametrize("durable", [False, True])
def test_axioms_that_change_unite_and_take_apart(durable: bool, folder: Path) -> None:
    (folder / "more.ttl").write_text(
        "@prefix : <http://e/> . @prefix owl: <http://www.w3.org/2002/07/owl#> . :likes a owl:FunctionalProperty ."
    )
    given = [(ex("x"), ex("likes"), ex("a")), (ex("x"), ex("likes"), ex("i3"))]
    with merged(given, folder, state=folder / "kb" if durable else None) as graph:
        assert len(graph.representatives()) == 0
        graph.update(insert_ontology=folder / "more.ttl")
        assert graph.representatives().to_pydict() == {"term": [ex("i3")], "representative": [ex("a")]}
        assert rows("SELECT ?y { :i1 :leads ?y }", graph) == [(ex("a"),)]
        graph.update(delete_ontology=folder / "more.ttl")
        assert len(graph.representatives()) == 0
        assert rows("SELECT ?y { :i1 :leads ?y }", graph) == [(ex("i3"),)]


def test_what_cannot_be_merged_is_refused(folder: Path) -> None:
    negated = "@prefix : <http://e/> .\n[?x, owl:sameAs, ?y] :- [?x, :likes, ?y], NOT [?x, :leads, ?y] .\n"
    for options in ({"rules": negated}, {"ruleset": "owl2rl"}):
        with pytest.raises(TidelogError, match="TL1419"):
            Graph([], same_as="representatives", **options)  # type: ignore[arg-type]
    with pytest.raises(TidelogError, match="TL1419"):
        Graph([], same_as="merge")
    Graph([(ex("a"), ex("likes"), ex("b"))], state=folder / "kb").close()
    with pytest.raises(TidelogError, match="TL1415"):
        Graph(state=folder / "kb", same_as="representatives")
