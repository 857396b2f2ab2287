"""What is written is read as the same triples."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from tidelog.errors import TidelogError
from tidelog.io.bad_rows import BadRows
from tidelog.rdf.files import read_triples
from tidelog.rdf.write import write_triples
from tidelog.store.native import load
from tidelog.store.symbols import Symbols

pytest.importorskip("pyoxigraph")

TRIPLES = [
    ("<http://a.org/s>", "<http://a.org/p>", "<http://a.org/é>", ""),
    ("<http://a.org/s>", "<http://a.org/p>", '"two\\nlines \\"quoted\\""', ""),
    ("<http://a.org/s>", "<http://a.org/q>", '"ciao"@it', ""),
    ("_:b1", "<http://a.org/q>", '"1"^^<http://www.w3.org/2001/XMLSchema#integer>', ""),
]
NAMED = [*TRIPLES, ("_:b1", "<http://a.org/q>", "_:b1", "<http://a.org/g>")]


def written(path: Path, triples: list[tuple[str, ...]]) -> Symbols:
    symbols = Symbols(load())
    words = np.array([[symbols.id(term) for term in row] for row in triples], np.int64)
    assert write_triples(path, [words[:2], words[2:]], symbols) == len(triples)
    return symbols


def read(path: Path) -> list[tuple[str, ...]]:
    symbols = Symbols(load())
    found = read_triples(path, symbols, BadRows(), keep_labels=True)
    return sorted(tuple(symbols.text(word) for word in row) for words in found for row in words.tolist())


@pytest.mark.parametrize("name", ["x.nt", "x.nt.gz", "x.nt.bz2", "x.nt.zst", "x.nt.xz", "x.ttl", "x.rdf", "x.ttl.gz"])
def test_triples_are_read_back(tmp_path: Path, name: str) -> None:
    written(tmp_path / name, TRIPLES)
    assert read(tmp_path / name) == sorted(TRIPLES)


@pytest.mark.parametrize("name", ["x.nq", "x.trig", "x.nq.zst"])
def test_graphs_are_read_back(tmp_path: Path, name: str) -> None:
    written(tmp_path / name, NAMED)
    assert read(tmp_path / name) == sorted(NAMED)


def test_n_triples_are_canonical_lines_in_order(tmp_path: Path) -> None:
    written(tmp_path / "x.nt", TRIPLES[:2])
    assert (tmp_path / "x.nt").read_text() == (
        "<http://a.org/s> <http://a.org/p> <http://a.org/é> .\n"
        '<http://a.org/s> <http://a.org/p> "two\\nlines \\"quoted\\"" .\n'
    )


def test_parquet_has_a_column_for_each_term(tmp_path: Path) -> None:
    written(tmp_path / "x.parquet", NAMED)
    table = pq.read_table(tmp_path / "x.parquet")
    assert table.column_names == ["subject", "predicate", "object", "graph"]
    assert [tuple(row.values()) for row in table.to_pylist()] == NAMED


def test_no_triples_are_an_empty_file(tmp_path: Path) -> None:
    assert write_triples(tmp_path / "x.nt", [np.zeros((0, 3), np.int64)], Symbols(load())) == 0
    assert (tmp_path / "x.nt").read_bytes() == b""


@pytest.mark.parametrize("name", ["x.nt", "x.ttl"])
def test_a_graph_is_refused_where_there_are_none_and_nothing_is_written(tmp_path: Path, name: str) -> None:
    with pytest.raises(TidelogError, match="TL1451"):
        written(tmp_path / name, NAMED)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["x.csv", "x", "x.parquet.gz"])
def test_an_unknown_format_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(TidelogError, match="TL1450"):
        written(tmp_path / name, TRIPLES)
