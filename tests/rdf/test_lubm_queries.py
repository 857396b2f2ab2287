"""The 14 queries of LUBM over LUBM(1,0) itself, whose counts are published. The data is not part of the project."""

from __future__ import annotations

from collections.abc import Iterator
from lzma import open as open_compressed
from pathlib import Path

import pytest
from benchmarks.lubm.__main__ import PUBLISHED, SHARED
from benchmarks.lubm.measure import QUERIES

from tidelog.rdf import Graph
from tidelog.rdf.sparql import query
from tidelog.rdf.sparql.answers import SolutionRows

DATA, ONTOLOGY = SHARED / "lubm-1.nt.xz", SHARED / "univ-bench.owl"
pytestmark = pytest.mark.skipif(not (DATA.exists() and ONTOLOGY.exists()), reason=f"no LUBM(1,0) in {SHARED}")


@pytest.fixture(scope="module")
def lubm() -> Iterator[Graph]:
    with Graph(DATA, ontology=ONTOLOGY) as graph:
        yield graph


def counts(graph: Graph) -> tuple[int, ...]:
    rows = [query(path.read_text(encoding="utf-8"), graph) for path in sorted(Path(QUERIES).glob("*.rq"))]
    return tuple(len(found) for found in rows if isinstance(found, SolutionRows))


def test_the_14_queries_give_the_published_counts(lubm: Graph) -> None:
    assert counts(lubm) == PUBLISHED


def test_reasonable_derives_the_same_of_individuals(lubm: Graph, tmp_path: Path) -> None:
    """But that everything is an owl:Thing, and memberships of unnamed classes."""
    reasonable = pytest.importorskip("reasonable")
    pyoxigraph = pytest.importorskip("pyoxigraph")
    rdflib = pytest.importorskip("rdflib")
    given, schema = tmp_path / "given.ttl", rdflib.Graph().parse(ONTOLOGY, format="xml")
    with open_compressed(DATA) as lines, open(given, "wb") as stream:
        read = pyoxigraph.parse(input=lines.read(), format=pyoxigraph.RdfFormat.N_TRIPLES)
        pyoxigraph.serialize((quad.triple for quad in read), stream, pyoxigraph.RdfFormat.TURTLE)
    reasoner = reasonable.PyReasoner()
    reasoner.from_graph(schema)
    reasoner.load_file(str(given))
    ontology = {term.n3() for term in schema.subjects()}
    theirs = {(s.n3(), p.n3(), o.n3().removesuffix(f"^^<{rdflib.XSD.string}>")) for s, p, o in reasoner.reason()}
    unsaid, kind = ("_:", f"<{rdflib.OWL.Thing}>"), f"<{rdflib.RDF.type}>"
    table = lubm.to_arrow().to_pydict()
    ours = set(zip(table["subject"], table["predicate"], table["object"], strict=True))
    outside = ("_:", "<http://www.w3.org/")
    assert ours == {
        (s, p, o) for s, p, o in theirs
        if s not in ontology and not s.startswith(outside) and not (p == kind and o.startswith(unsaid))
    }  # fmt: skip


def test_they_still_do_after_a_department_has_gone_and_come_back(lubm: Graph) -> None:
    table = lubm.to_arrow().to_pydict()
    triples = zip(table["subject"], table["predicate"], table["object"], strict=True)
    department = [triple for triple in triples if "Department3.University0" in triple[0]]
    gone = lubm.update(delete=department)
    assert gone.deleted > 5_000
    assert counts(lubm) != PUBLISHED
    lubm.update(insert=department[: len(department) // 2])
    lubm.update(insert=department)
    assert counts(lubm) == PUBLISHED
