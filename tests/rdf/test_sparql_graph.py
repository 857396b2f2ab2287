"""Queries over a graph: its plans give what trying all triples gives, and LUBM's queries what pyoxigraph says."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from benchmarks.lubm.generate import ONTOLOGY, Department
from naive_triples import NaiveTriples

from tidelog.errors import TidelogError
from tidelog.evaluate.limits import Limits
from tidelog.rdf.graph import Graph
from tidelog.rdf.sparql import query
from tidelog.rdf.sparql.answers import SolutionRows
from tidelog.rdf.sparql.graph_triples import GraphTriples
from tidelog.rdf.sparql.triples import Place
from tidelog.room import resident_bytes

ox = pytest.importorskip("pyoxigraph")

QUERIES = sorted((Path(__file__).parents[2] / "benchmarks" / "lubm" / "queries").glob("*.rq"))
SUBCLASSES = [
    ("UndergraduateStudent", "Student"), ("GraduateStudent", "Student"), ("Student", "Person"),
    ("Professor", "Faculty"),
    ("FullProfessor", "Professor"), ("AssociateProfessor", "Professor"), ("AssistantProfessor", "Professor"),
    ("GraduateCourse", "Course"),
]  # fmt: skip
TERMS = [f"<http://e/{name}>" for name in "abcdpq"] + ["<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"]


def solutions(found: object, triples: GraphTriples | NaiveTriples) -> list[list[str]]:
    columns = dict(sorted(found.columns.items()))  # type: ignore[attr-defined]
    texts = [triples.symbols.decode(column).to_pylist() for column in columns.values()]
    return sorted(map(list, zip(*texts, strict=True))) if texts else [[str(found.count)]]  # type: ignore[attr-defined]


def test_a_graph_matches_what_trying_all_triples_matches() -> None:
    for seed in range(25):
        chance = Random(seed)
        rows = {tuple(chance.choice(TERMS) for _ in range(3)) for _ in range(25)}
        naive = NaiveTriples(rows)  # type: ignore[arg-type]
        with Graph(sorted(rows)) as graph:
            real = GraphTriples(graph)
            patterns = [
                tuple(chance.choice(["x", "y", "z", chance.choice(TERMS)]) for _ in range(3))
                for _ in range(chance.randint(1, 3))
            ]

            def places(
                triples: GraphTriples | NaiveTriples, of: list[tuple[str, ...]] = patterns
            ) -> list[tuple[Place, ...]]:
                return [tuple(p if p in "xyz" else triples.symbols.id(p) for p in pattern) for pattern in of]

            found = solutions(real.match(places(real)), real)  # type: ignore[arg-type]
            assert found == solutions(naive.match(places(naive)), naive), f"seed {seed}: {patterns}"  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def department(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("lubm") / "department.nt"
    path.write_text(Department(0, 0, Random(1)).text())
    return path


def test_the_queries_of_lubm_give_what_pyoxigraph_gives(department: Path) -> None:
    classes = "\n".join(f"[?x, a, ub:{more}] :- [?x, a, ub:{less}] ." for less, more in SUBCLASSES)
    counts = []
    with Graph(department, rules=f"@prefix ub: <{ONTOLOGY}> .\n{classes}") as graph:
        graph.write(department.with_name("all.nt"))
        store = ox.Store()
        store.bulk_load(path=str(department.with_name("all.nt")), format=ox.RdfFormat.N_TRIPLES)
        for path in QUERIES:
            rows = query(path.read_text(), graph)
            assert isinstance(rows, SolutionRows)
            expected = sorted(tuple(str(term) for term in row) for row in store.query(path.read_text()))
            assert sorted(tuple(str(term and term.text) for term in row) for row in rows.terms()) == expected
            counts.append(len(rows))
    assert len(counts) == 14
    assert [number for number, count in enumerate(counts, 1) if count] == [1, 3, 4, 5, 6, 7, 8, 9, 10, 14]


def test_a_query_that_needs_too_much_memory_is_refused() -> None:
    rows = [(f"<http://e/{i}>", f"<http://e/p{i % 2}>", f"<http://e/{i + 1}>") for i in range(20_000)]
    with Graph(rows, limits=Limits(max_memory=resident_bytes() + (300 << 20))) as graph:
        assert len(query("SELECT ?x { ?x <http://e/p0> ?y }", graph)) == 10_000  # type: ignore[arg-type]
        with pytest.raises(TidelogError, match="TL0903"):
            query("SELECT ?x ?z { { ?x <http://e/p0> ?y } { SELECT ?z { ?z <http://e/p1> ?w } } }", graph)
