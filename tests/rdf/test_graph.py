"""Graphs against a naive oracle: what rules derive, what updates do, what patterns match."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import pyarrow as pa
import pytest
from triple_oracle import TYPE, Generator, Triple, closure, matches, text_of

from tidelog.errors import TidelogError
from tidelog.plan.rewrites.specialise import Key
from tidelog.rdf import Graph

PROGRAMS = int(os.environ.get("TIDELOG_FUZZ", "1")) * 40


def triples_of(graph: Graph) -> list[Triple]:
    table = graph.to_arrow()
    return list(zip(*(table.column(i).to_pylist() for i in range(3)), strict=True))


@pytest.mark.parametrize("variable_predicates", [False, True], ids=["named", "variable"])
@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_random_rules_and_updates_give_what_the_oracle_gives(seed: int, variable_predicates: bool) -> None:
    random = Random(seed)
    generator = Generator(random, variable_predicates)
    rules = [generator.rule() for _ in range(random.randint(1, 5))]
    given = generator.triples(random.randint(0, 25))
    with Graph(sorted(given), rules=text_of(rules)) as graph:
        for _ in range(3):
            found = triples_of(graph)
            assert sorted(found) == sorted(closure(rules, given)), text_of(rules)
            assert len(graph) == len(found)
            patterns = [generator.pattern(variable_predicates) for _ in range(random.randint(1, 3))]
            answered = graph.match(patterns)
            texts = [graph.texts(answered.rows[:, i]).to_pylist() for i in range(len(answered.names))]
            rows = list(zip(*texts, strict=True)) if texts else [()] * len(answered.rows)
            expected = {tuple(b[f"?{name}"] for name in answered.names) for b in matches(patterns, set(found), {})}
            assert sorted(rows) == sorted(expected), patterns
            gone = set(random.sample(sorted(given), len(given) // 3)) | {generator.triple()}
            come = generator.triples(random.randint(0, 5))
            graph.update(insert=sorted(come), delete=sorted(gone))
            given = given - gone | come


def test_a_graph_without_rules_holds_its_triples() -> None:
    with Graph([("<x:a>", "<x:p>", '"1"')]) as graph:
        assert triples_of(graph) == [("<x:a>", "<x:p>", '"1"')]
        assert len(graph.match([("?s", "<x:p>", '"2"')]).rows) == 0


def test_a_state_directory_is_gone_on_with(tmp_path: Path) -> None:
    rules = "[?y, <x:q>, ?x] :- [?x, <x:p>, ?y] ."
    with Graph([("<x:a>", "<x:p>", "<x:b>")], rules=rules, state=tmp_path / "kb") as graph:
        graph.update(insert=[("<x:c>", "<x:p>", "<x:d>")])
    with Graph(state=tmp_path / "kb") as graph:
        graph.update(delete=[("<x:a>", "<x:p>", "<x:b>")])
        assert sorted(triples_of(graph)) == [("<x:c>", "<x:p>", "<x:d>"), ("<x:d>", "<x:q>", "<x:c>")]


def test_tables_files_and_rdflib_graphs_are_sources(tmp_path: Path) -> None:
    (tmp_path / "a.nt").write_text("<x:a> <x:p> <x:b> .\n")
    (tmp_path / "b.ttl").write_text("<x:b> <x:p> 1 .\n")
    table = pa.table({"subject": ["<x:c>"], "predicate": ["<x:p>"], "object": ['"x"@en']})
    with Graph([tmp_path / "*.nt", tmp_path / "b.ttl", table]) as graph:
        assert sorted(triples_of(graph)) == [
            ("<x:a>", "<x:p>", "<x:b>"),
            ("<x:b>", "<x:p>", '"1"^^<http://www.w3.org/2001/XMLSchema#integer>'),
            ("<x:c>", "<x:p>", '"x"@en'),
        ]


@pytest.mark.parametrize(
    "row", [("<x:a>", '"p"', "<x:b>"), ("<x:a>", "<x:p>", "b"), ("a", "<x:p>", "<x:b>"), ("<x:a>", "<x:p>")]
)
def test_rows_that_are_no_triples_are_refused(row: tuple[str, ...]) -> None:
    with pytest.raises(TidelogError, match=r"TL141[12]"):
        Graph([row])


def test_negation_through_recursion_is_refused_with_the_predicates_names() -> None:
    with pytest.raises(TidelogError, match="`<x:p>` depends on `<x:q>` through negation"):
        Graph(rules="[?x, <x:p>, ?y] :- [?x, <x:r>, ?y], NOT [?x, <x:q>, ?y] .\n[?x, <x:q>, ?y] :- [?x, <x:p>, ?y] .")


P, Q, D = "<x:p>", "<x:q>", "<x:d>"


@pytest.mark.parametrize("durable", [False, True], ids=["memory", "state"])
def test_rules_and_axioms_that_change_take_effect_on_the_triples_that_are_there(tmp_path: Path, durable: bool) -> None:
    (tmp_path / "o.ttl").write_text(
        f"@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . {P} rdfs:subPropertyOf {Q} ."
    )
    (tmp_path / "more.ttl").write_text(
        f"@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . {Q} rdfs:subPropertyOf {D} ."
    )
    given = [("<x:a>", P, "<x:b>"), ("<x:c>", D, "<x:e>")]
    state = tmp_path / "kb" if durable else None
    with Graph(given, ontology=tmp_path / "o.ttl", state=state) as graph:
        assert len(graph) == 3
        done = graph.update(insert_ontology=tmp_path / "more.ttl", insert=[("<x:f>", Q, "<x:g>")])
        assert (done.strategy, done.inserted, done.deleted) == ("migration", 3, 0)
        expected = {*given, ("<x:a>", Q, "<x:b>"), ("<x:a>", D, "<x:b>"), ("<x:f>", Q, "<x:g>"), ("<x:f>", D, "<x:g>")}
        assert set(triples_of(graph)) == expected
        done = graph.update(delete_ontology=tmp_path / "o.ttl", rules=f"[?y, <x:back>, ?x] :- [?x, {D}, ?y] .")
        assert (done.inserted, done.deleted) == (2, 2)
        now = {
            *given,
            ("<x:f>", Q, "<x:g>"),
            ("<x:f>", D, "<x:g>"),
            ("<x:g>", "<x:back>", "<x:f>"),
            ("<x:e>", "<x:back>", "<x:c>"),
        }
        assert set(triples_of(graph)) == now
    if state is not None:
        with Graph(state=state) as again:
            assert set(triples_of(again)) == now
            again.update(delete=[("<x:c>", D, "<x:e>")])
            assert set(triples_of(again)) == now - {given[1], ("<x:e>", "<x:back>", "<x:c>")}


def test_triples_to_delete_that_were_never_given_are_counted() -> None:
    with Graph([("<x:a>", P, "<x:b>")], rules=f"[?x, {Q}, ?y] :- [?x, {P}, ?y] .") as graph:
        done = graph.update(delete=[("<x:a>", Q, "<x:b>"), ("<x:a>", D, "<x:b>")])
        assert (done.deleted, done.not_given) == (0, 2)
        assert str(done).endswith("0 triples inserted, 0 deleted (2 to delete were never given)")
        assert len(graph) == 2


def test_a_state_that_has_a_graph_is_not_overwritten(tmp_path: Path) -> None:
    with Graph([("<x:a>", P, "<x:b>")], state=tmp_path / "kb"):
        pass
    with pytest.raises(TidelogError, match="TL1415"):
        Graph([("<x:a>", P, "<x:c>")], state=tmp_path / "kb")
    with pytest.raises(TidelogError, match="TL1415"):
        Graph(rules=f"[?x, {Q}, ?y] :- [?x, {P}, ?y] .", state=tmp_path / "kb")
    with Graph(state=tmp_path / "kb", read_only=True) as graph:
        assert len(graph) == 1


def test_triples_with_literals_as_subjects_are_derived_and_not_written(tmp_path: Path) -> None:
    with Graph([("<x:a>", P, '"1"')], rules=f"[?y, {Q}, ?x] :- [?x, {P}, ?y] .") as graph:
        assert len(graph) == 2
        assert graph.write(tmp_path / "out.nt") == 1
        assert (tmp_path / "out.nt").read_text() == f'<x:a> {P} "1" .\n'
        assert len(graph.to_rdflib()) == 1


def test_rdflib_graphs_go_in_and_come_out() -> None:
    rdflib = pytest.importorskip("rdflib")
    source = rdflib.Graph()
    source.parse(data='@prefix : <x:> . :a :p 1, "x"@en, "y", _:b . _:b :q "2"^^:d .', format="turtle")
    with Graph(source) as graph:
        assert set(graph.to_rdflib()) == set(source)


def test_frequent_predicates_of_files_have_relations_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "a.nt").write_text("".join(f"<x:{i}> <x:p> <x:o> .\n<x:{i}> {TYPE} <x:C> .\n" for i in range(50)))
    with Graph(tmp_path / "a.nt") as graph:
        assert set(graph.program.layout.relations) == {Key(P), Key(TYPE, "<x:C>")}
        assert len(graph.match([("?s", P, "<x:o>"), ("?s", TYPE, "<x:C>")]).rows) == 50
        assert len(graph.match([("?s", "?p", "?o")]).rows) == 100
