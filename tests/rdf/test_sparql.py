"""Every construct of SPARQL, on a few triples."""

from __future__ import annotations

import pytest
from naive_triples import NaiveTriples

from tidelog.errors import TidelogError
from tidelog.rdf.sparql.answers import MadeTriples, SolutionRows, ask

ox = pytest.importorskip("pyoxigraph")

DATA = """
@prefix : <http://e/> .
:ann :knows :bob ; :age 30 ; :name "Ann" ; :likes :tea .
:bob :knows :cid ; :age 25 ; :name "Bob"@en .
:cid :knows :ann , :dee ; :age 41.5 .
:dee :name "Dee" ; :likes :tea , :rum ; :home [ :city "Oslo" ] .
"""


@pytest.fixture(scope="module")
def triples() -> NaiveTriples:
    quads = ox.parse(input=DATA, format=ox.RdfFormat.TURTLE)
    return NaiveTriples((str(quad.subject), str(quad.predicate), str(quad.object)) for quad in quads)


def shown(rows: SolutionRows) -> list[tuple[str | None, ...]]:
    """The rows with short texts: what stands behind the prefix, or the literal's own text."""
    return [tuple(term and term.lexical.removeprefix("http://e/") for term in row) for row in rows.terms()]


def asked(query: str, triples: NaiveTriples) -> list[tuple[str | None, ...]]:
    found = ask(f"PREFIX : <http://e/> {query}", triples)
    assert isinstance(found, SolutionRows)
    return shown(found)


SELECTS = {
    "a pattern": ("SELECT ?x { ?x :likes :rum }", [("dee",)]),
    "several patterns": (
        "SELECT ?x ?n { ?x :knows ?y . ?y :name ?n }",
        [("ann", "Bob"), ("cid", "Ann"), ("cid", "Dee")]),
    "a variable predicate": ("SELECT ?p { :ann ?p :bob }", [("knows",)]),
    "one variable twice": ("SELECT ?x { ?x :knows ?x }", []),
    "a blank node": ("SELECT ?c { ?x :home [ :city ?c ] }", [("Oslo",)]),
    "all variables": ("SELECT * { ?x :likes ?y FILTER(?y = :rum) }", [("dee", "rum")]),
    "no pattern": ("SELECT (1 AS ?x) {}", [("1",)]),
    "a term that is nowhere": ("SELECT ?x { ?x :likes :gin }", []),
    "FILTER": ("SELECT ?x { ?x :age ?a FILTER(?a > 28) }", [("ann",), ("cid",)]),
    "FILTER that is an error": ("SELECT ?x { ?x :name ?n FILTER(?n > 28) }", []),
    "FILTER by a constant": ("SELECT ?x { ?x :likes :rum FILTER(0) }", []),
    "FILTER by a constant that is true": ("SELECT ?x { ?x :likes :rum FILTER('no') }", [("dee",)]),
    "FILTER with zero": ("SELECT ?x { ?x :age ?a FILTER(?a - 30 > 0) }", [("cid",)]),
    "OPTIONAL that never is": (
        "SELECT ?x ?n { ?x :likes :rum OPTIONAL { ?x :name ?n FILTER(false) } }",
        [("dee", None)]),
    "FILTER IN": ("SELECT ?x { ?x :age ?a FILTER(?a IN (25, 30.0)) }", [("ann",), ("bob",)]),
    "OPTIONAL": (
        "SELECT ?x ?n { ?x :age ?a OPTIONAL { ?x :name ?n } }",
        [("ann", "Ann"), ("bob", "Bob"), ("cid", None)]),
    "OPTIONAL with its own condition": (
        "SELECT ?x ?n { ?x :age ?a OPTIONAL { ?x :name ?n FILTER(?a > 28) } }",
        [("ann", "Ann"), ("bob", None), ("cid", None)],
    ),
    "OPTIONAL in OPTIONAL": (
        "SELECT ?x ?y ?n { ?x :age ?a OPTIONAL { ?x :knows ?y OPTIONAL { ?y :name ?n } } FILTER(?x != :cid) }",
        [("ann", "bob", "Bob"), ("bob", "cid", None)],
    ),
    "UNION": ("SELECT ?x ?a ?l { { ?x :age ?a FILTER(?a < 26) } UNION { ?x :likes ?l FILTER(?l = :rum) } }",
              [("bob", "25", None), ("dee", None, "rum")]),
    "MINUS": ("SELECT ?x { ?x :name ?n MINUS { ?x :age ?a } }", [("dee",)]),
    "MINUS that shares nothing": ("SELECT ?x { ?x :likes :rum MINUS { ?y :age ?a } }", [("dee",)]),
    "EXISTS": ("SELECT ?x { ?x :name ?n FILTER EXISTS { ?x :likes ?l } }", [("ann",), ("dee",)]),
    "NOT EXISTS": ("SELECT ?x { ?x :name ?n FILTER NOT EXISTS { ?x :likes ?l } }", [("bob",)]),
    "EXISTS whose filter sees the outside": (
        "SELECT ?x { ?x :age ?a FILTER EXISTS { ?x :knows ?y . ?y :age ?b FILTER(?b > ?a) } }", [("bob",)]),
    "EXISTS as a value": (
        "SELECT ?x (EXISTS { ?x :age ?a } AS ?e) { ?x :likes :tea }",
        [("ann", "true"), ("dee", "false")]),
    "VALUES": ("SELECT ?x ?a { VALUES ?x { :ann :cid :nobody } ?x :age ?a }", [("ann", "30"), ("cid", "41.5")]),
    "VALUES with UNDEF": (
        "SELECT ?x ?k { VALUES (?x ?k) { (:ann 1) (UNDEF 2) } ?x :age 30 }",
        [("ann", "1"), ("ann", "2")]),
    "VALUES behind the query": ("SELECT ?x { ?x :age ?a } VALUES ?a { 30 }", [("ann",)]),
    "VALUES without rows": ("SELECT ?x { ?x :age ?a VALUES ?a { } }", []),
    "numbers keep their spelling": (
        "SELECT (STR(?v) AS ?s) { VALUES ?v { -2.0E0 +03 -01.50 +1.5 +2e0 007 1.0 } }",
        [("-2.0E0",), ("+03",), ("-01.50",), ("+1.5",), ("+2e0",), ("007",), ("1.0",)],
    ),
    "BIND": ("SELECT ?x ?b { ?x :age ?a BIND(?a * 2 AS ?b) }", [("ann", "60"), ("bob", "50"), ("cid", "83")]),
    "BIND of an error": (
        "SELECT ?x ?b { ?x :name ?n BIND(?n * 2 AS ?b) }",
        [("ann", None), ("bob", None), ("dee", None)]),
    "an expression": ("SELECT (?a + 1 AS ?b) { :ann :age ?a }", [("31",)]),
    "path: inverse": ("SELECT ?x { :bob ^:knows ?x }", [("ann",)]),
    "path: sequence": ("SELECT ?x { :ann :knows/:knows ?x }", [("cid",)]),
    "path: alternative": ("SELECT ?x { :ann (:knows|:likes) ?x }", [("bob",), ("tea",)]),
    "path: one or more": ("SELECT ?x { :bob :knows+ ?x }", [("ann",), ("bob",), ("cid",), ("dee",)]),
    "path: none or more": ("SELECT ?x { :dee :knows* ?x }", [("dee",)]),
    "path: backwards to a term": ("SELECT ?x { ?x :knows+ :dee }", [("ann",), ("bob",), ("cid",)]),
    "path: none or one": ("SELECT ?x { :ann :knows? ?x }", [("ann",), ("bob",)]),
    "path: from a term that is nowhere": ("SELECT ?x { :zed :knows* ?x }", [("zed",)]),
    "path: negated": ("SELECT ?x { :ann !(:knows|:age) ?x }", [("Ann",), ("tea",)]),
    "path: negated inverse": ("SELECT ?x { :tea !^:knows ?x }", [("ann",), ("dee",)]),
    "path: of paths": ("SELECT ?x { :ann (:knows/:knows)+ ?x }", [("ann",), ("bob",), ("cid",), ("dee",)]),
    "path: between two terms": ("SELECT (1 AS ?yes) { :ann :knows+ :dee }", [("1",)]),
    "path: round in a circle": ("SELECT ?x { ?x :knows+ ?x }", [("ann",), ("bob",), ("cid",)]),
    "COUNT": ("SELECT (COUNT(*) AS ?n) (COUNT(?l) AS ?m) { ?x :name ?y OPTIONAL { ?x :likes ?l } }", [("4", "3")]),
    "COUNT of nothing": ("SELECT (COUNT(*) AS ?n) { ?x :likes :gin }", [("0",)]),
    "COUNT DISTINCT": ("SELECT (COUNT(DISTINCT ?l) AS ?n) { ?x :likes ?l }", [("2",)]),
    "SUM, AVG, MIN, MAX": ("SELECT (SUM(?a) AS ?s) (AVG(?a) AS ?v) (MIN(?a) AS ?l) (MAX(?a) AS ?m) { ?x :age ?a }",
                           [("96.5", "32.166666666666666666", "25", "41.5")]),
    "SUM of an error": ("SELECT (SUM(?n) AS ?s) { ?x :name ?n }", [(None,)]),
    "GROUP_CONCAT": ("SELECT (GROUP_CONCAT(?n; separator=', ') AS ?s) { SELECT ?n { ?x :name ?n } ORDER BY ?n }",
                     [("Ann, Dee, Bob",)]),
    "SAMPLE": ("SELECT (SAMPLE(?n) AS ?s) { :dee :name ?n }", [("Dee",)]),
    "GROUP BY": ("SELECT ?l (COUNT(?x) AS ?n) { ?x :likes ?l } GROUP BY ?l", [("rum", "1"), ("tea", "2")]),
    "GROUP BY of nothing": ("SELECT ?l (COUNT(?x) AS ?n) { ?x :likes ?l FILTER(false) } GROUP BY ?l", []),
    "GROUP BY an expression": (
        "SELECT ?old (COUNT(*) AS ?n) { ?x :age ?a } GROUP BY (?a > 28 AS ?old)",
        [("false", "1"), ("true", "2")]),
    "HAVING": ("SELECT ?l { ?x :likes ?l } GROUP BY ?l HAVING (COUNT(?x) > 1)", [("tea",)]),
    "aggregates in an expression": ("SELECT (MAX(?a) - MIN(?a) AS ?d) { ?x :age ?a }", [("16.5",)]),
    "DISTINCT": ("SELECT DISTINCT ?l { ?x :likes ?l }", [("rum",), ("tea",)]),
    "REDUCED": ("SELECT REDUCED ?l { ?x :likes ?l FILTER(?l = :tea) }", [("tea",)]),
    "a subquery": ("SELECT ?x ?a { ?x :age ?a { SELECT (MAX(?b) AS ?a) { ?y :age ?b } } }", [("cid", "41.5")]),
    "a subquery sees nothing of the outside": (
        "SELECT ?x { ?x :age 30 { SELECT (COUNT(?x) AS ?n) { ?x :age ?b } } FILTER(?n = 3) }",
        [("ann",)]),
}  # fmt: skip


@pytest.mark.parametrize("name", SELECTS)
def test_select(name: str, triples: NaiveTriples) -> None:
    query, expected = SELECTS[name]
    assert sorted(asked(query, triples), key=str) == sorted(expected, key=str)


ORDERED = {
    "by a number": ("SELECT ?x { ?x :age ?a } ORDER BY ?a", [("bob",), ("ann",), ("cid",)]),
    "down": ("SELECT ?x { ?x :age ?a } ORDER BY DESC(?a)", [("cid",), ("ann",), ("bob",)]),
    "by two": ("SELECT ?x ?l { ?x :likes ?l } ORDER BY DESC(?l) ?x", [("ann", "tea"), ("dee", "tea"), ("dee", "rum")]),
    "by an expression": ("SELECT ?x { ?x :age ?a } ORDER BY (-?a)", [("cid",), ("ann",), ("bob",)]),
    "what is unbound is first": (
        "SELECT ?x ?n { ?x :age ?a OPTIONAL { ?x :name ?n } } ORDER BY ?n",
        [("cid", None), ("ann", "Ann"), ("bob", "Bob")]),
    "kinds of terms": (
        'SELECT ?v { VALUES ?v { "b" 10 :i 9.5 "a" UNDEF true } } ORDER BY ?v',
        [(None,), ("i",), ("9.5",), ("10",), ("a",), ("b",), ("true",)]),
    "LIMIT": ("SELECT ?x { ?x :age ?a } ORDER BY ?a LIMIT 2", [("bob",), ("ann",)]),
    "OFFSET": ("SELECT ?x { ?x :age ?a } ORDER BY ?a LIMIT 1 OFFSET 1", [("ann",)]),
    "LIMIT 0": ("SELECT ?x { ?x :age ?a } LIMIT 0", []),
    "OFFSET behind the end": ("SELECT ?x { ?x :age ?a } OFFSET 7", []),
    "by an aggregate": ("SELECT ?l { ?x :likes ?l } GROUP BY ?l ORDER BY COUNT(?x)", [("rum",), ("tea",)]),
}  # fmt: skip


@pytest.mark.parametrize("name", ORDERED)
def test_order(name: str, triples: NaiveTriples) -> None:
    query, expected = ORDERED[name]
    assert asked(query, triples) == expected


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("SELECT * { ?y :p ?x OPTIONAL { ?x :q ?z } MINUS { ?y :r ?w } }", ["y", "x", "z"]),
        ("SELECT DISTINCT* { ?y :p ?x FILTER(?v > 1) }", ["y", "x"]),
        ("# SELECT ?a\nSELECT ?b ?none ?a ?b { { SELECT * { ?a :p ?b } } }", ["b", "none", "a"]),
        ("SELECT ?x (1 AS ?one) { ?x :p '# SELECT *' }", ["x", "one"]),
    ],
)
def test_the_columns_are_those_that_are_asked_for_in_order(query: str, names: list[str], triples: NaiveTriples) -> None:
    found = ask(f"PREFIX : <http://e/>\n{query}", triples)
    assert isinstance(found, SolutionRows)
    assert found.to_arrow().column_names == names


def test_sequences_and_alternatives_keep_duplicates(triples: NaiveTriples) -> None:
    assert asked("SELECT ?x { ?x (:likes|:likes) :rum }", triples) == [("dee",), ("dee",)]
    assert asked("SELECT ?l { :cid :knows/:likes ?l }", triples) == [("tea",), ("tea",), ("rum",)]


@pytest.mark.parametrize(("query", "expected"), [("ASK { :ann :age 30 }", True), ("ASK { :ann :age 31 }", False)])
def test_ask(query: str, expected: bool, triples: NaiveTriples) -> None:
    assert ask(f"PREFIX : <http://e/> {query}", triples) is expected


def made(query: str, triples: NaiveTriples) -> list[tuple[str, ...]]:
    found = ask(f"PREFIX : <http://e/> {query}", triples)
    assert isinstance(found, MadeTriples)
    rows = found.to_arrow().select(["subject", "predicate", "object"]).to_pylist()
    return sorted(tuple(row.values()) for row in rows)


def test_construct_leaves_out_what_is_no_triple(triples: NaiveTriples) -> None:
    found = made("CONSTRUCT { ?x :old ?a . ?n :of ?x } { ?x :age ?a OPTIONAL { ?x :knows ?n } }", triples)
    assert ("<http://e/bob>", "<http://e/of>", "<http://e/ann>") in found
    assert len(found) == 3 + 4
    assert made("CONSTRUCT { ?n :of ?x } { ?x :name ?n }", triples) == []


def test_construct_makes_blank_nodes_for_each_solution(triples: NaiveTriples) -> None:
    found = made("CONSTRUCT { _:b :of ?x ; :is ?a } { ?x :age ?a }", triples)
    assert len({subject for subject, *_ in found}) == 3


def test_construct_where_is_its_own_template(triples: NaiveTriples) -> None:
    assert made("CONSTRUCT WHERE { ?x :likes :rum }", triples) == [
        ("<http://e/dee>", "<http://e/likes>", "<http://e/rum>")
    ]


def test_describe_goes_through_blank_nodes(triples: NaiveTriples) -> None:
    assert len(made("DESCRIBE :dee", triples)) == 5
    assert len(made("DESCRIBE ?x { ?x :age 25 }", triples)) == 3
    assert made("DESCRIBE :nobody", triples) == []


def test_a_blank_node_of_bnode_is_one_in_a_solution(triples: NaiveTriples) -> None:
    rows = asked('SELECT (BNODE("a") AS ?x) (BNODE("a") AS ?y) (BNODE("b") AS ?z) { ?s :age ?a }', triples)
    assert all(x == y != z for x, y, z in rows)
    assert len({x for x, *_ in rows}) == 3


def test_now_is_one_moment_and_rand_many(triples: NaiveTriples) -> None:
    rows = asked("SELECT (NOW() AS ?n) (RAND() AS ?r) { ?s :age ?a }", triples)
    assert len({now for now, _ in rows}) == 1
    assert len({rand for _, rand in rows}) == 3


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("SELECT ?x { ?x :p }", "TL1454"),
        ("SELECT ?x { ?x nope:p ?y }", "TL1454"),
        ("SELECT ?x { GRAPH :g { ?x :p ?y } }", "TL1455"),
        ("SELECT ?x FROM :g { ?x :p ?y }", "TL1455"),
        ("SELECT ?x { SERVICE :s { ?x :p ?y } }", "TL1455"),
        ("SELECT (:f(1) AS ?x) {}", "TL1453"),
    ],
)
def test_what_is_not_there_is_refused(query: str, code: str, triples: NaiveTriples) -> None:
    with pytest.raises(TidelogError, match=code):
        ask(f"PREFIX : <http://e/> {query}", triples)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("SELECT ?o { ?s :p ?o } GROUP BY ?s", "a variable that is unbound"),
        ("SELECT (1 AS ?x) (2 AS ?x) { }", "duplicated variable name"),
        ("SELECT * { VALUES (?a ?b) { (1) } }", "a value has no variable"),
        ("SELECT * { VALUES ?a { 1 } BIND(2 AS ?a) }", "a variable is bound that had"),
        ("SELECT * { ?s other:p ?o }", "prefix not found"),
        ("SELECT * { ?s foaf:name ?o }", "prefix not found"),
        ("SELECT * { ?s :p ?o", "it ends too early"),
        ("SELECT * { ?s :p ?o } LIMIT x", "it cannot be read from here on"),
        ("", "it ends too early"),
    ],
)
def test_what_rdflib_would_let_pass_is_refused_too(text: str, said: str, triples: NaiveTriples) -> None:
    with pytest.raises(TidelogError, match=said) as problem:
        ask(f"PREFIX : <http://e/>\n{text}" if text else text, triples)
    assert problem.value.diagnostics[0].code == "TL1454"


def test_a_malformed_query_shows_its_place(triples: NaiveTriples) -> None:
    with pytest.raises(TidelogError) as problem:
        ask("SELECT ?x {\n  ?x ?y }", triples)
    assert "<query>:" in str(problem.value)
