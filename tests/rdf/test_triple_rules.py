"""What FILTER, BIND, NOT and AGGREGATE of triple rules mean, and what is refused."""

from __future__ import annotations

import pytest

from tidelog.errors import TidelogError
from tidelog.rdf import Graph

DATA = """
@prefix : <x:> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:ann :age 40 ; :name "Ann" ; :born "1984-05-01"^^xsd:date ; :weight 60.5 ; a :Person .
:bob :age "7"^^xsd:int ; :name "Bob"@en ; :born "2017-01-31"^^xsd:date ; :weight 2.5e1 ; a :Person .
:cid :age "old" ; :name "Cid" ; :knows :ann, :bob ; a :Person .
"""
XSD = "http://www.w3.org/2001/XMLSchema#"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("rules") / "data.ttl"
    path.write_text(DATA)
    return str(path)


def derived(data: str, rules: str) -> list[tuple[str, str]]:
    """Subjects and objects of the triples of :r."""
    with Graph(data, rules=f"@prefix : <x:> .\n{rules}") as graph:
        found = graph.match([("?s", "<x:r>", "?o")])
        columns = [[_short(t) for t in graph.texts(found.rows[:, i]).to_pylist()] for i in (0, 1)]
        return sorted(zip(*columns, strict=True))


def _short(term: str) -> str:
    return term.replace(f"^^<{XSD}", "^^").replace("<x:", ":").rstrip(">")


@pytest.mark.parametrize(
    ("condition", "holds_for"),
    [
        ("?a > 10", [":ann"]), ("?a <= 7.0", [":bob"]), ("?a = 40", [":ann"]), ("?a = 7.0e0", [":bob"]),
        ("?a != 7", [":ann"]), ("!(?a > 10)", [":bob"]), ("?a > 10 || ?a < 10", [":ann", ":bob"]),
        ("?a > 5 && ?a * 2 < 20", [":bob"]), ('?a = "old"', [":cid"]), ('?a < "p"', [":cid"]),
        ("?x = :ann", [":ann"]), ("?x != :ann", [":bob", ":cid"]), ("-?a < -20", [":ann"]),
        ("isNumeric(?a)", [":ann", ":bob"]), ("xsd:integer(?a) - 7 = 0", [":bob"]), ("?a / 0 > 1", []),
        ('REGEX(?n, "^b", "i")', [":bob"]), ("STRLEN(?n) = 3", [":ann", ":bob", ":cid"]), ('LANG(?n) = "en"', [":bob"]),
        ('CONTAINS(?n, "i") || STRSTARTS(?n, "A")', [":ann", ":cid"]), ("YEAR(?b) > 2000", [":bob"]),
        ('?b < "2000-01-01"^^xsd:date', [":ann"]), ("DATATYPE(?a) = xsd:int", [":bob"]),
    ],
)  # fmt: skip
def test_a_filter_keeps_what_its_condition_holds_for(data: str, condition: str, holds_for: list[str]) -> None:
    born = ", [?x, :born, ?b]" if "?b" in condition else ""
    rule = f"[?x, :r, ?x] :- [?x, :age, ?a], [?x, :name, ?n]{born}, FILTER({condition}) ."
    assert [s for s, _ in derived(data, rule)] == holds_for


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("?a + 1", [(":ann", '"41"^^integer'), (":bob", '"8"^^integer')]),
        ("?a / 2", [(":ann", '"20.0"^^decimal'), (":bob", '"3.5"^^decimal')]),
        ("?a * 1.5e0", [(":ann", '"6.0E1"^^double'), (":bob", '"1.05E1"^^double')]),
        ("xsd:string(?a)", [(":ann", '"40"'), (":bob", '"7"'), (":cid", '"old"')]),
        ("IF(isNumeric(?a), ?a, 0)", [(":ann", '"40"^^integer'), (":bob", '"7"^^int'), (":cid", '"0"^^integer')]),
        ("COALESCE(?a + 1, 0)", [(":ann", '"41"^^integer'), (":bob", '"8"^^integer'), (":cid", '"0"^^integer')]),
        ('CONCAT(STR(?a), "!")', [(":ann", '"40!"'), (":bob", '"7!"'), (":cid", '"old!"')]),
        ("ROUND(?a / 3)", [(":ann", '"13.0"^^decimal'), (":bob", '"2.0"^^decimal')]),
    ],
)
def test_bind_gives_a_variable_its_value_and_nothing_where_it_is_an_error(
    data: str, expression: str, expected: list[tuple[str, str]]
) -> None:
    assert derived(data, f"[?x, :r, ?y] :- [?x, :age, ?a], BIND({expression} AS ?y) .") == expected


def test_a_value_that_was_bound_can_be_compared_and_bound_again(data: str) -> None:
    rule = "[?x, :r, ?z] :- [?x, :age, ?a], BIND(?a + 1 AS ?y), FILTER(?y = 8.0), BIND(?y * 2 AS ?z) ."
    assert derived(data, rule) == [(":bob", '"16"^^integer')]


@pytest.mark.parametrize(
    ("literal", "holds_for"),
    [
        ("NOT [:cid, :knows, ?x]", [":cid"]), ("NOT EXISTS ?y IN [?x, :knows, ?y]", [":ann", ":bob"]),
        ("NOT EXISTS ?y, ?n IN ([?x, :knows, ?y], [?y, :age, 40])", [":ann", ":bob"]),
        ("NOT EXISTS ?y IN ([?x, :weight, ?y], FILTER(?y > 30))", [":bob", ":cid"]),
        ("NOT EXISTS ?y IN [?y, :knows, ?y]", [":ann", ":bob", ":cid"]),
    ],
)  # fmt: skip
def test_not_keeps_what_has_no_match(data: str, literal: str, holds_for: list[str]) -> None:
    assert [s for s, _ in derived(data, f"[?x, :r, ?x] :- [?x, a, :Person], {literal} .")] == holds_for


@pytest.mark.parametrize(
    ("aggregate", "expected"),
    [
        ("AGGREGATE([?x, :knows, ?y] ON ?x BIND COUNT(?y) AS ?n)", [(":cid", '"2"^^integer')]),
        ("AGGREGATE([?x, a, ?c] ON ?c BIND COUNT(*) AS ?n), BIND(?c AS ?x)", [(":Person", '"3"^^integer')]),
        ("AGGREGATE([?x, :knows, ?y], [?y, :age, ?a] ON ?x BIND SUM(?a) AS ?n)", [(":cid", '"47"^^integer')]),
        ("AGGREGATE([?x, :knows, ?y], [?y, :weight, ?a] ON ?x BIND SUM(?a) AS ?n)", [(":cid", '"8.55E1"^^double')]),
        ("AGGREGATE([?x, :knows, ?y], [?y, :age, ?a] ON ?x BIND AVG(?a) AS ?n)", [(":cid", '"23.5"^^decimal')]),
        ("AGGREGATE([?x, :knows, ?y], [?y, :born, ?a] ON ?x BIND MIN(?a) AS ?n)", [(":cid", '"1984-05-01"^^date')]),
        ("AGGREGATE([?x, :knows, ?y], [?y, :age, ?a] ON ?x BIND MAX(?a) AS ?n)", [(":cid", '"40"^^integer')]),
        ("[?x, :name, \"Cid\"], AGGREGATE([?z, :age, ?a] BIND SUM(?a) AS ?n)", []),
        ("[?x, :name, \"Cid\"], AGGREGATE([?z, :age, ?a] BIND COUNT(?a + 1) AS ?n)", [(":cid", '"2"^^integer')]),
        ("AGGREGATE([?x, :knows, ?y], [?z, a, ?c] ON ?x BIND COUNT(DISTINCT ?c) AS ?n)", [(":cid", '"1"^^integer')]),
    ],
)  # fmt: skip
def test_an_aggregate_is_over_the_matches_of_its_group(
    data: str, aggregate: str, expected: list[tuple[str, str]]
) -> None:
    assert derived(data, f"[?x, :r, ?n] :- {aggregate} .") == expected


def test_sums_of_large_integers_are_exact_and_larger_ones_are_refused() -> None:
    rule = "[<x:all>, <x:r>, ?n] :- AGGREGATE([?x, <x:v>, ?v] BIND SUM(?v) AS ?n) ."
    big = f'"{(1 << 62) - 1}"^^<{XSD}integer>'
    with Graph([(f"<x:{i}>", "<x:v>", big) for i in range(5)], rules=rule) as graph:
        (term,) = graph.texts(graph.match([("<x:all>", "<x:r>", "?n")]).rows[:, 0]).to_pylist()
        assert term == f'"{5 * ((1 << 62) - 1)}"^^<{XSD}integer>'
    with pytest.raises(TidelogError, match="too large to be added up exactly"):
        Graph([("<x:0>", "<x:v>", f'"{1 << 62}"^^<{XSD}integer>')], rules=rule)


def test_relations_of_rules_hold_tuples_of_any_number(data: str) -> None:
    rules = ":pair(?x, ?y, ?a) :- [?x, :knows, ?y], [?y, :age, ?a] .\n[?y, :r, ?a] :- :pair(:cid, ?y, ?a) ."
    assert derived(data, rules) == [(":ann", '"40"^^integer'), (":bob", '"7"^^int')]


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("[?x, :r, ?y] :- [?x, :age, ?a], BIND(SQUARE(?a) AS ?y) .", "TL1410.*unknown function `SQUARE`"),
        ("[?x, :r, ?y] :- [?x, :age, ?a], BIND(STRLEN(?a, 1) AS ?y) .", "does not take 2 arguments"),
        (":t(?x) :- [?x, :age, ?a] .\n[?x, :r, ?y] :- :t(?x, ?y) .", "has 1 arguments elsewhere"),
        ("[?x, :r, ?y] :- [?x, :age, ?a] .", "y"),
        ("[?x, :r, ?x] :- [?x, :age, ?a], NOT [?x, :knows, ?z] .", "z"),
    ],
)  # fmt: skip
def test_what_cannot_be_evaluated_is_refused(data: str, rule: str, message: str) -> None:
    with pytest.raises(TidelogError, match=message):
        derived(data, rule)
