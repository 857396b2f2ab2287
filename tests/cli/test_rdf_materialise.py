"""`tidelog rdf materialise`, `update` and `rules`, from outside."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from tidelog.cli.command_line import command_line
from tidelog.errors import TidelogError

run = CliRunner().invoke
ONTOLOGY = """
@prefix : <x:> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
:headOf rdfs:subPropertyOf :worksFor . :Dog owl:disjointWith :Cat . :Cat rdfs:subClassOf [ owl:unionOf (:Dog :Fish) ] .
"""


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "a.nt").write_text("<x:ann> <x:headOf> <x:lab> .\n<x:bob> <x:headOf> <x:shop> .\n")
    (tmp_path / "o.ttl").write_text(ONTOLOGY)
    (tmp_path / "r.rules").write_text("[?y, <x:employs>, ?x] :- [?x, <x:worksFor>, ?y] .\n")
    return tmp_path


def told(*args: object) -> tuple[str, str]:
    words = ["rdf", *map(str, args)]
    done = run(command_line(words), words)
    if done.exception is not None:
        raise done.exception
    return done.stdout, done.stderr


def test_files_are_materialised_and_updated_in_a_state_directory(files: Path) -> None:
    out, err = told(
        "materialise", files / "*.nt", "--ontology", files / "o.ttl", "--rules", files / "r.rules",
        "--state", files / "kb", "--local",
    )  # fmt: skip
    assert out == "2 triples were given, and 4 follow: 6\n"
    assert "1 axioms outside of OWL 2 RL:" in err
    assert "owl:unionOf on the right" in err
    (files / "gone.nt").write_text("<x:bob> <x:headOf> <x:shop> .\n")
    (files / "new.ttl").write_text("@prefix : <x:> . :rex a :Dog, :Cat .")
    out, err = told("update", files / "kb", "--delete", files / "gone.nt", "--insert", files / "new.ttl")
    assert out.endswith("2 triples inserted, 3 deleted; 5 triples\n")
    assert "1 violations:" in err
    assert "cax-dw: <x:rex>" in err
    out, _ = told("update", files / "kb", "--delete-ontology", files / "o.ttl")
    assert out.endswith("3 triples\n")


def test_all_triples_are_written_to_a_file(files: Path) -> None:
    out, _ = told("materialise", files / "a.nt", "--rules", files / "r.rules", "--output", files / "all.nt")
    assert out == f"2 triples were given, and 0 follow: 2\n2 triples are in {files / 'all.nt'}\n"
    assert sorted((files / "all.nt").read_text().splitlines()) == (files / "a.nt").read_text().splitlines()


def test_the_rules_of_an_ontology_are_printed(files: Path) -> None:
    out, err = told("rules", files / "o.ttl")
    assert "[?x, <x:worksFor>, ?y] :- [?x, <x:headOf>, ?y] .\n" in out
    assert "outside of OWL 2 RL" in err


def test_what_is_not_there_is_refused(files: Path) -> None:
    with pytest.raises(TidelogError, match="TL1404"):
        told("update", files / "nothing", "--insert", files / "a.nt")
    with pytest.raises(TidelogError, match="TL1404"):
        told("materialise", files / "*.nq", "--rules", files / "r.rules")
    told("materialise", files / "a.nt", "--state", files / "kb")
    with pytest.raises(TidelogError, match="TL1415"):
        told("materialise", files / "a.nt", "--state", files / "kb")
