"""Updates are change sets: one epoch each, seen by what follows from the triples."""

from __future__ import annotations

import pytest

from tidelog.errors import TidelogError
from tidelog.rdf.graph import Graph
from tidelog.rdf.sparql.answers import SolutionRows, ask
from tidelog.rdf.sparql.graph_triples import GraphTriples
from tidelog.rdf.sparql.update import Updated, update

pytest.importorskip("rdflib")

P = "PREFIX : <http://e/> "
RULES = """@prefix : <http://e/> .
[?x, :reaches, ?y] :- [?x, :to, ?y] .
[?x, :reaches, ?z] :- [?x, :reaches, ?y], [?y, :to, ?z] .
"""


@pytest.fixture
def graph() -> Graph:
    names = ("a", "b"), ("b", "c")
    return Graph([(f"<http://e/{x}>", "<http://e/to>", f"<http://e/{y}>") for x, y in names], rules=RULES)


def pairs(graph: Graph, predicate: str) -> set[str]:
    rows = ask(f"{P}SELECT ?x ?y {{ ?x :{predicate} ?y }}", GraphTriples(graph))
    assert isinstance(rows, SolutionRows)
    return {" ".join(term.lexical.removeprefix("http://e/") for term in row if term) for row in rows.terms()}


def test_insert_data_and_what_follows(graph: Graph) -> None:
    assert update(P + "INSERT DATA { :c :to :d }", graph) == Updated(1, 1, 0)
    assert pairs(graph, "reaches") == {"a b", "a c", "a d", "b c", "b d", "c d"}


def test_delete_data_takes_what_followed_with_it(graph: Graph) -> None:
    update(P + "DELETE DATA { :b :to :c }", graph)
    assert pairs(graph, "reaches") == {"a b"}


def test_a_triple_that_follows_cannot_be_deleted(graph: Graph) -> None:
    update(P + "DELETE DATA { :a :reaches :c }", graph)
    assert "a c" in pairs(graph, "reaches")


def test_delete_insert_where_sees_the_triples_before_it(graph: Graph) -> None:
    assert update(P + "DELETE { ?x :to ?y } INSERT { ?y :to ?x } WHERE { ?x :to ?y }", graph) == Updated(1, 2, 2)
    assert pairs(graph, "to") == {"b a", "c b"}
    assert pairs(graph, "reaches") == {"b a", "c b", "c a"}


def test_what_is_deleted_and_inserted_is_there(graph: Graph) -> None:
    update(P + "DELETE { ?x :to ?y } INSERT { ?x :to ?y } WHERE { ?x :to ?y }", graph)
    assert pairs(graph, "to") == {"a b", "b c"}


def test_delete_where(graph: Graph) -> None:
    update(P + "DELETE WHERE { :a :to ?y }", graph)
    assert pairs(graph, "to") == {"b c"}


def test_a_condition_that_never_holds_changes_nothing(graph: Graph) -> None:
    assert update(P + "DELETE { ?x :to ?y } WHERE { ?x :to ?y FILTER(false) }", graph) == Updated(0, 0, 0)
    assert pairs(graph, "to") == {"a b", "b c"}


def test_operations_see_those_before_them(graph: Graph) -> None:
    done = update(P + "INSERT DATA { :c :to :d } ; INSERT { ?y :from ?x } WHERE { ?x :to ?y }", graph)
    assert done == Updated(2, 4, 0)
    assert pairs(graph, "from") == {"b a", "c b", "d c"}


def test_data_that_is_inserted_and_then_deleted_is_not_there(graph: Graph) -> None:
    assert update(P + "INSERT DATA { :c :to :d } ; DELETE DATA { :c :to :d }", graph).epochs == 1
    assert pairs(graph, "to") == {"a b", "b c"}


def test_a_label_is_one_new_blank_node_in_an_operation(graph: Graph) -> None:
    update(P + "INSERT DATA { _:x :p :a . _:x :q :b } ; INSERT DATA { _:y :r :c }", graph)
    rows = ask(P + "SELECT ?x { ?x :p :a ; :q :b }", GraphTriples(graph))
    assert isinstance(rows, SolutionRows)
    assert len(rows) == 1


def test_a_label_of_two_operations_is_refused(graph: Graph) -> None:
    with pytest.raises(TidelogError, match="_:x cannot be shared"):
        update(P + "INSERT DATA { _:x :p :a } ; INSERT DATA { _:x :r :c }", graph)


@pytest.mark.parametrize("text", ["", "# nothing", "PREFIX : <http://e/>"])
def test_an_update_without_operations_changes_nothing(text: str, graph: Graph) -> None:
    before = len(graph)
    assert update(text, graph) == (0, 0, 0)
    assert len(graph) == before


def test_clear_takes_everything(graph: Graph) -> None:
    update("CLEAR ALL", graph)
    assert len(graph) == 0


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("INSERT DATA { GRAPH :g { :a :p :b } }", "TL1455"),
        ("WITH :g DELETE { ?x ?y ?z } WHERE { ?x ?y ?z }", "TL1455"),
        ("CLEAR GRAPH :g", "TL1455"),
        ("LOAD <http://e/x>", "TL1455"),
        ("DELETE DATA { _:x :p :a }", "TL1454"),
        ("INSERT DATA { ?x :p :a }", "TL1454"),
        ("INSERT DATA { :a :p", "TL1454"),
    ],
)
def test_what_cannot_be_done_is_refused_and_changes_nothing(text: str, code: str, graph: Graph) -> None:
    with pytest.raises(TidelogError, match=code):
        update(f"{P}INSERT DATA {{ :n :e :w }} ; {text}", graph)
    assert pairs(graph, "e") == set()
