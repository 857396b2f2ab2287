"""RDF files as words: what is read is what pyoxigraph reads, whichever way a line takes."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidelog.errors import TidelogError
from tidelog.io.bad_rows import BadRows
from tidelog.rdf import lines as line_reading
from tidelog.rdf.files import format_of, read_triples
from tidelog.rdf.lines import LineReader
from tidelog.store.native import load
from tidelog.store.symbols import Symbols
from tidelog.store.triple_lines import split_lines

ox = pytest.importorskip("pyoxigraph")

Terms = tuple[str, ...]


def texts(words: np.ndarray, symbols: Symbols) -> list[Terms]:
    return [tuple(symbols.text(word) for word in row) for row in words.tolist()]


def read(text: bytes, suffix: str = "nt", skip: bool = False) -> tuple[list[Terms], BadRows]:
    """What a reader makes of a text."""
    symbols, bad = Symbols(load()), BadRows(skip)
    reader = LineReader(symbols, bad, "text", suffix)
    return [row for words in reader.read(io.BytesIO(text)) for row in texts(words, symbols)], bad


def by_pyoxigraph(line: bytes, suffix: str = "nt") -> list[Terms] | None:
    """What pyoxigraph makes of a line, None if it is malformed."""
    form = ox.RdfFormat.N_TRIPLES if suffix == "nt" else ox.RdfFormat.N_QUADS
    try:
        quads = list(ox.parse(input=line, format=form))
    except SyntaxError:
        return None
    return [(str(q.subject), str(q.predicate), str(q.object), str(q.graph_name).replace("DEFAULT", "")) for q in quads]


def is_plain(line: bytes, graphs: bool = False) -> bool:
    return len(split_lines(load(), line, graphs).codes) == 1


PLAIN = [
    b"<http://a.org/s> <http://a.org/p#q> <http://a.org/o?x=1&y=(2)> .\n",
    b'<urn:uuid:1-2:3> <http://a.org/p#q> "text" .\n',
    b'<mailto:me@example.org> <http://a.org/p#q> "" .\n',
    b'<http://a.org/C:x@y> <http://a.org/p#q> "caf\xc3\xa9 \\" \\\\ \\n"@en .\n',
    b'<http://a.org/s> <http://a.org/p#q> "1"^^<http://www.w3.org/2001/XMLSchema#integer> .\r\n',
    b'_:b1 <http://a.org/p#q> "colour"@en-gb .\n',
    b"<http://a.org/s> <http://a.org/p#q> _:B_2 .",
]
ODD = [
    b"# a comment\n",
    b"\n",
    b'<http://a.org:80/s> <http://a.org/p#q> "x" .\n',
    b'<http://a.org/%41> <http://a.org/p#q> "x" .\n',
    b'<http://a.org/\xc3\xa9> <http://a.org/p#q> "x" .\n',
    b'<http://a.org/s>  <http://a.org/p#q>\t"x" . # behind\n',
    b'<http://a.org/s> <http://a.org/p#q> "\\u0041\\U0001F600" .\n',
    b'<http://a.org/s> <http://a.org/p#q> "x"^^<http://www.w3.org/2001/XMLSchema#string> .\n',
    b'<http://a.org/s> <http://a.org/p#q> "x"@EN-US .\n',
    b'<http://a.org/s> <http://a.org/p#q> "a\ttab" .\n',
    b"_:a.b-c <http://a.org/p#q> _:x.y .\n",
    b"<http://a.org/s> <a:p> <b:c> .\n",
]
WRONG = [
    b'"x" <http://a.org/p#q> "x" .\n',
    b"<http://a.org/s> _:p <http://a.org/o> .\n",
    b"<http://a.org/s> <http://a.org/p#q> <http://a.org/a#b#c> .\n",
    b"<http://a.org/s> <http://a.org/p#q> <relative> .\n",
    b'<http://a.org/s> <http://a.org/p#q> "x\n',
    b'<http://a.org/s> <http://a.org/p#q> "x\\q" .\n',
    b'<http://a.org/s> <http://a.org/p#q> "x"@e .\n',
    b'<http://a.org/s> <http://a.org/p#q> "\xff" .\n',
    b'<http://a.org/s> <http://a.org/p#q> "x"\n',
    b"<http://a.org/s> <http://a.org/p#q> <http://a.org/o> <http://a.org/g> .\n",
]


@pytest.mark.parametrize("line", PLAIN)
def test_a_canonical_line_is_split_by_the_kernel(line: bytes) -> None:
    assert is_plain(line)
    assert read(line)[0] == by_pyoxigraph(line)


@pytest.mark.parametrize("line", ODD)
def test_any_other_line_is_read_by_the_grammar(line: bytes) -> None:
    assert not is_plain(line)
    assert read(line)[0] == by_pyoxigraph(line)


@pytest.mark.parametrize("line", WRONG)
def test_a_malformed_line_is_a_bad_row(line: bytes) -> None:
    found, bad = read(PLAIN[0] + line + PLAIN[1])
    assert len(found) == 2
    assert bad.count == 1
    with pytest.raises(TidelogError) as problem:
        bad.check()
    assert "TL1402" in str(problem.value)
    assert "--> text:2:" in str(problem.value)


PIECES = [
    b"<http://a.org/s>", b"<http://b.org:1/>", b"<urn:x>", b"<http://a.org/#x>", b"<a:b#c#d>", b"<x>", b"_:b", b"_:b.",
    b"_:", b'"t"', b'"t"@en', b'"t"@en-GB', b'"t"^^<http://a.org/t>', b'"t"^^<http://www.w3.org/2001/XMLSchema#string>',
    b'"\\n\\"', b'"\\""', b'"\\x"', b'"\xc3\xa9"', b'"\xc3"', b" ", b"  ", b"\t", b".", b" .", b"#", b"\r", b'"', b"<",
    b"<http://a.org/s> <http://a.org/p> ",
]  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.lists(st.lists(st.sampled_from(PIECES), max_size=7).map(b"".join), min_size=1, max_size=6), st.booleans())
def test_random_lines_are_read_as_pyoxigraph_reads_them(lines: list[bytes], quads: bool) -> None:
    suffix = "nq" if quads else "nt"
    text = [line.replace(b"\r", b"") + b"\n" for line in lines]
    expected = [by_pyoxigraph(line, suffix) for line in text]
    found, bad = read(b"".join(text), suffix, skip=True)
    assert sorted(found) == sorted(row for rows in expected if rows is not None for row in rows)
    assert bad.count == expected.count(None)


def test_lines_that_repeat_subjects_and_predicates_keep_their_own_terms() -> None:
    rows = [
        (f"<http://a.org/s{i // 3}>", f"<http://a.org/p{i % 5}>", f'"{i}"' if i % 2 else f"<http://a.org/s{i}>", "")
        for i in range(5000)
    ]
    text = "".join(f"{s} {p} {o} .\n" for s, p, o, _ in rows).encode()
    assert read(text)[0] == rows


def test_lines_may_end_anywhere_in_a_window(monkeypatch: pytest.MonkeyPatch) -> None:
    text = b"".join(PLAIN[:-1] + ODD) * 3
    whole = sorted(read(text)[0])
    for window in (1, 7, 64, 1000):
        monkeypatch.setattr(line_reading, "WINDOW", window)
        assert sorted(read(text)[0]) == whole


def test_the_graph_of_a_quad_is_its_fourth_word() -> None:
    text = (
        b'<http://a.org/s> <http://a.org/p#q> "x" <http://a.org/g> .\n<http://a.org/s> <http://a.org/p#q> _:b _:g .\n'
    )
    assert is_plain(text[: text.index(b"\n") + 1], graphs=True)
    assert [row[3] for row in read(text + PLAIN[0], "nq")[0]] == ["<http://a.org/g>", "_:g", ""]


# ---- files


TURTLE = b"@prefix : <http://a.org/> .\n:s :p :o , 3 ; a [ :q 'x'@de ] .\n"
COMPRESSIONS = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


def of_file(path: Path, **options: bool) -> list[Terms]:
    symbols = Symbols(load())
    return [row for words in read_triples(path, symbols, BadRows(), **options) for row in texts(words, symbols)]


@pytest.mark.parametrize("suffix", COMPRESSIONS)
def test_a_file_may_be_compressed(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"data.nt{suffix}"
    path.write_bytes(COMPRESSIONS[suffix](b"".join(PLAIN)))
    assert len(of_file(path)) == len(PLAIN)


def test_zstandard_too(tmp_path: Path) -> None:
    import pyarrow as pa

    path = tmp_path / "data.ttl.zst"
    with pa.CompressedOutputStream(str(path), "zstd") as file:
        file.write(TURTLE)
    assert len(of_file(path)) == 4


def test_other_formats_are_read_by_the_grammar(tmp_path: Path) -> None:
    path = tmp_path / "data.ttl"
    path.write_bytes(TURTLE)
    found = of_file(path)
    integer = '"3"^^<http://www.w3.org/2001/XMLSchema#integer>'
    assert ("<http://a.org/s>", "<http://a.org/p>", integer, "") in found
    triples = [quad.triple for quad in ox.parse(input=TURTLE, format=ox.RdfFormat.TURTLE)]
    for form, name in ((ox.RdfFormat.RDF_XML, "data.rdf"), (ox.RdfFormat.JSON_LD, "data.jsonld")):
        (tmp_path / name).write_bytes(ox.serialize(triples, format=form))
        assert len(of_file(tmp_path / name)) == 4


def test_blank_nodes_of_two_files_are_never_the_same_unless_labels_are_kept(tmp_path: Path) -> None:
    for name in ("one.nt", "two.nt", "three.ttl"):
        (tmp_path / name).write_bytes(b"_:b <http://a.org/p> _:a-b .\n")
    apart = {of_file(tmp_path / name)[0][0] for name in ("one.nt", "two.nt", "three.ttl")}
    assert len(apart) == 3
    assert all(ox.BlankNode(label.removeprefix("_:")) for label in apart)
    assert of_file(tmp_path / "one.nt") == of_file(tmp_path / "one.nt")
    kept = {of_file(tmp_path / name, keep_labels=True)[0][0] for name in ("one.nt", "two.nt", "three.ttl")}
    assert kept == {"_:b"}


def test_an_error_in_another_format_has_its_place(tmp_path: Path) -> None:
    path = tmp_path / "data.ttl"
    path.write_bytes(TURTLE + b":s :p .\n")
    with pytest.raises(TidelogError) as problem:
        of_file(path)
    assert f"--> {path}:3:" in str(problem.value)


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    with pytest.raises(TidelogError, match="there is no file"):
        of_file(tmp_path / "none.nt")
    with pytest.raises(TidelogError, match=r"no RDF format has the suffix `\.csv`"):
        format_of(Path("data.csv.gz"))
    (tmp_path / "data.nt.gz").write_bytes(b"\x1f\x8bnot gzip")
    with pytest.raises(TidelogError, match="cannot be read"):
        of_file(tmp_path / "data.nt.gz")
