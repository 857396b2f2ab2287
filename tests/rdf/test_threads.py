"""Several threads read what one reads."""

from __future__ import annotations

import gzip
import threading
from pathlib import Path

import pyarrow as pa
import pytest

from tidelog.errors import TidelogError
from tidelog.io.bad_rows import BadRows
from tidelog.rdf import threads as reading
from tidelog.rdf.threads import read_files
from tidelog.store.native import load
from tidelog.store.symbols import Symbols

pytest.importorskip("pyoxigraph")


def lines(of: int, count: int) -> bytes:
    """Triples with terms that many lines share, and a blank node."""
    return "".join(
        f"<http://a.org/{i % 7}> <http://a.org/p> <http://a.org/o{i * of % 13}> .\n"
        f'_:b{i % 3} <http://a.org/name> "n{i % 50} é"@en .\n'
        for i in range(count)
    ).encode()


def read(paths: list[Path], threads: int, skip: bool = False) -> list[tuple[str, ...]]:
    symbols, bad = Symbols(load()), BadRows(skip)
    found = [row for words in read_files(paths, symbols, bad, threads) for row in words.tolist()]
    return sorted(tuple(symbols.text(word) for word in row) for row in found)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Five files, some compressed, with many windows each."""
    monkeypatch.setattr(reading, "WINDOW", 500)
    paths = [tmp_path / name for name in ("a.nt", "b.nt.gz", "c.nq.zst", "d.nt.bz2", "e.ttl")]
    paths[0].write_bytes(lines(1, 200))
    paths[1].write_bytes(gzip.compress(lines(2, 200)))
    with pa.CompressedOutputStream(str(paths[2]), "zstd") as stream:
        stream.write(lines(3, 200))
    with pa.CompressedOutputStream(str(paths[3]), "bz2") as stream:
        stream.write(lines(4, 200))
    paths[4].write_text("@prefix : <http://a.org/> . :x :p _:y . _:y :q 1 .")
    return paths


@pytest.mark.parametrize("threads", [2, 5])
def test_threads_read_what_one_reads(files: list[Path], threads: int) -> None:
    alone = read(files, 1)
    assert len(alone) == 4 * 400 + 2
    assert read(files, threads) == alone


def test_blank_nodes_of_two_files_are_apart(files: list[Path]) -> None:
    blank = {term for row in read(files[:2], 3) for term in row if term.startswith("_:")}
    assert len(blank) == 6


def test_the_words_of_one_file_are_those_that_one_thread_gives(files: list[Path]) -> None:
    found = []
    for threads in (1, 3):
        symbols = Symbols(load())
        words = [row for part in read_files(files[:1], symbols, BadRows(), threads) for row in part.tolist()]
        found.append([tuple(symbols.text(word) for word in row) for row in words])
    assert found[0] == found[1]


def test_malformed_lines_are_told_with_their_numbers(files: list[Path]) -> None:
    files[0].write_bytes(lines(1, 50) + b"nonsense\n" + lines(1, 50) + b"<a> .\n")
    with pytest.raises(TidelogError) as problem:
        read(files, 3)
    assert f"{files[0]}:101:" in str(problem.value)
    assert f"{files[0]}:202:" in str(problem.value)
    assert len(read(files, 3, skip=True)) == 200 + 3 * 400 + 2


def test_a_broken_file_ends_all_threads(files: list[Path]) -> None:
    files[1].write_bytes(files[1].read_bytes()[:60])
    with pytest.raises(TidelogError, match=r"TL1404.*b\.nt\.gz"):
        read(files, 3)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("tidelog-rdf")]


def test_all_threads_end_when_nobody_asks_for_more(files: list[Path]) -> None:
    some = read_files(files, Symbols(load()), BadRows(), 3)
    next(some)
    some.close()  # type: ignore[attr-defined]
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("tidelog-rdf")]
