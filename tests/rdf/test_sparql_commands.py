"""`tidelog rdf query`."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from tidelog.cli.command_line import command_line
from tidelog.errors import TidelogError
from tidelog.rdf.graph import Graph

pytest.importorskip("rdflib")

DATA = "<http://e/a> <http://e/to> <http://e/b> .\n<http://e/b> <http://e/to> <http://e/c> .\n"
RULES = "@prefix : <http://e/> .\n[?x, :to, ?z] :- [?x, :to, ?y], [?y, :to, ?z] .\n"


@pytest.fixture
def data(tmp_path: Path) -> str:
    (tmp_path / "data.nt").write_text(DATA)
    (tmp_path / "r.rules").write_text(RULES)
    return str(tmp_path / "data.nt")


def run(*arguments: str) -> str:
    words = ["rdf", "query", *arguments]
    done = CliRunner().invoke(command_line(words), words, catch_exceptions=False)
    assert done.exit_code == 0
    return done.stdout_bytes.decode()


def test_solutions_are_a_table_unless_told(data: str) -> None:
    assert run(data, "SELECT ?x { ?x <http://e/to> <http://e/c> }") == "?x\n------------\n<http://e/b>\n"


def test_csv_of_what_follows_by_rules(data: str) -> None:
    rules = str(Path(data).with_name("r.rules"))
    query = "SELECT ?x { ?x <http://e/to> <http://e/c> } ORDER BY ?x"
    assert run(data, query, "--rules", rules, "--format", "csv") == "x\r\nhttp://e/a\r\nhttp://e/b\r\n"


def test_triples_are_n_triples_unless_told(data: str) -> None:
    assert run(data, "CONSTRUCT WHERE { <http://e/a> ?p ?o }") == "<http://e/a> <http://e/to> <http://e/b> .\n"


def test_a_query_from_a_file(data: str, tmp_path: Path) -> None:
    (tmp_path / "q.rq").write_text("ASK { <http://e/a> ?p ?o }")
    assert run(data, f"@{tmp_path / 'q.rq'}") == "true\n"
    with pytest.raises(TidelogError, match="TL1460"):
        run(data, "@nowhere.rq")


def test_an_update_of_a_state_is_seen_by_the_next_query(data: str, tmp_path: Path) -> None:
    state = str(tmp_path / "kb")
    with Graph(data, rules=[tmp_path / "r.rules"], state=state):
        pass
    insert = "INSERT DATA { <http://e/c> <http://e/to> <http://e/d> }"
    assert run(state, insert, "--update") == "1 epoch: 1 triples to insert, 0 to delete\n"
    assert run(state, "ASK { <http://e/a> <http://e/to> <http://e/d> }") == "true\n"
    with pytest.raises(TidelogError, match="TL1461"):
        run(data, insert, "--update")
