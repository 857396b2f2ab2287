"""RDF files as DataFrames: `spark.read.format("ntriples")`."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from tidelog.errors import TidelogError
from tidelog.rdf.source import files_of, skips
from tidelog.spark import files

pytest.importorskip("pyoxigraph")

LINES = [f'<http://a.org/s{i // 2}> <http://a.org/p> "{i}" .\n' for i in range(200)]


@pytest.fixture
def ntriples(spark: Any) -> Any:
    from tidelog.rdf.source import TriplesDataSource

    spark.dataSource.register(TriplesDataSource)
    return spark.read.format("ntriples")


def test_files_of_a_folder_are_one_data_frame(ntriples: Any, tmp_path: Path) -> None:
    (tmp_path / "one.nt").write_text("".join(LINES[:150]))
    (tmp_path / "two.nt.gz").write_bytes(gzip.compress("".join(LINES[150:]).encode()))
    (tmp_path / "three.ttl").write_text("@prefix : <http://a.org/> . :s :p :o .")
    (tmp_path / "_SUCCESS").write_text("")
    rows = {tuple(row) for row in ntriples.load(str(tmp_path)).collect()}
    expected = {(f"<http://a.org/s{i // 2}>", "<http://a.org/p>", f'"{i}"', "") for i in range(200)}
    assert rows == expected | {("<http://a.org/s>", "<http://a.org/p>", "<http://a.org/o>", "")}


def test_a_malformed_line_ends_the_job_with_its_place_or_is_dropped(ntriples: Any, tmp_path: Path) -> None:
    path = tmp_path / "data.nt"
    path.write_text("".join([*LINES[:99], "<http://a.org/s> nonsense .\n", *LINES[99:]]))
    with pytest.raises(Exception, match=rf"{path}:100:"):
        ntriples.load(str(path)).collect()
    assert ntriples.option("mode", "DROPMALFORMED").load(str(path)).count() == 200


def test_stretches_of_a_file_have_all_of_its_lines_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tidelog.rdf.source import TriplesReader

    path = tmp_path / "data.nt"
    path.write_text("".join(LINES))
    monkeypatch.setattr(files, "TEXT_STRETCH", 1000)
    reader = TriplesReader(files_of({"path": str(path)}), skip=False)
    parts = reader.partitions()
    assert len(parts) > 5
    found = [row["object"] for part in parts for batch in reader.read(part) for row in batch.to_pylist()]
    assert found == [f'"{i}"' for i in range(200)]


def test_options_that_mean_nothing_are_refused() -> None:
    with pytest.raises(TidelogError, match="which files"):
        files_of({})
    with pytest.raises(TidelogError, match="there is no mode `PERMISSIVE`"):
        skips({"mode": "permissive"})
