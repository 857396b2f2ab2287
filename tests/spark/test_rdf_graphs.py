"""Graphs made and updated on Spark; the same state without it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tidelog.errors import TidelogError
from tidelog.rdf.graph import Graph, stored_program
from tidelog.rdf.program import GraphProgram, parsed_rules

pytest.importorskip("pyoxigraph")

RULES = "[?y, <x:q>, ?x] :- [?x, <x:p>, ?y] .\n[?x, a, <x:C>] :- [?x, <x:q>, ?y], FILTER(?y != <x:none>) ."


def test_a_graph_on_spark_is_the_one_without_it(spark: Any, tmp_path: Path) -> None:
    from tidelog.rdf import on_spark

    typed = "<x:k> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <x:D> .\n"
    (tmp_path / "a.nt").write_text(f"<x:a> <x:p> <x:b> .\n<x:a> <x:other> _:b .\n{typed}")
    (tmp_path / "b.ttl").write_text("<x:c> <x:p> <x:d> .")
    (tmp_path / "gone.nt").write_text("<x:a> <x:p> <x:b> .\n")
    state = tmp_path / "kb"
    program = GraphProgram(parsed_rules(RULES))
    files = [tmp_path / "a.nt", tmp_path / "b.ttl"]
    epoch, count = on_spark.materialise(spark, files, program, state)
    assert (epoch.inserted, count) == (8, 8)
    epoch, count = on_spark.update(spark, state, delete=tmp_path / "gone.nt")
    assert (epoch.deleted, count) == (3, 5)
    with Graph(state=state) as graph, Graph(files, rules=RULES) as local:
        graph.update(insert=tmp_path / "gone.nt")
        assert {len(graph), len(local)} == {8}
        assert set(graph.to_rdflib()) == set(local.to_rdflib())
    with pytest.raises(TidelogError, match="TL1415"):
        on_spark.materialise(spark, files, program, state)
    stored = stored_program(state)
    assert stored is not None
    assert stored.layout.apart
