"""The registry of formats: what others add is known to directives, sessions and files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

import tidelog
from strategies.engine import checked_program
from tidelog import formats
from tidelog.errors import InternalError, TidelogError
from tidelog.formats import Format
from tidelog.io.write import write_file, write_relation

PROGRAM = """
.decl edge(from: number, to: number)
.input edge(IO=pairs)
.decl back(from: number, to: number)
.output back(IO=pairs)
back(y, x) :- edge(x, y).
"""


def read_pairs(place, info, types, bad_rows):  # type: ignore[no-untyped-def]
    rows = [tuple(map(int, word.split("-"))) for word in place.path.read_text().split()]
    return pa.table([pa.array(column, pa.int64()) for column in zip(*rows, strict=True)], names=list(info.attributes))


def write_pairs(place, info, types, parts):  # type: ignore[no-untyped-def]
    rows = [f"{a}-{b}" for table in parts.tables for a, b in zip(*table.to_pydict().values(), strict=True)]
    write_file(place, [" ".join(rows).encode()])
    return []


@pytest.fixture
def pairs() -> Iterator[None]:
    formats.add(
        Format(
            "pairs", io="pairs", suffixes=(".pairs",), extension=".pairs", parameters=frozenset(("filename",)),
            reads=f"{__name__}:read_pairs", writes=f"{__name__}:write_pairs",
        )
    )  # fmt: skip
    yield
    del formats.FORMATS["pairs"]


@pytest.mark.usefixtures("pairs")
def test_a_format_that_was_added_is_read_and_written_by_directives(tmp_path: Path) -> None:
    (tmp_path / "edge.pairs").write_text("1-2 2-3")
    checked = checked_program(PROGRAM)
    info, (directive,) = checked.relations["back"], checked.directives("output")
    with tidelog.Session(PROGRAM, facts=tmp_path) as session:
        session.bootstrap()
        assert write_relation(info, checked.types, session["back"].to_arrow(), directive, tmp_path) == []
    assert (tmp_path / "back.pairs").read_text() == "2-1 3-2"


@pytest.mark.usefixtures("pairs")
def test_a_file_in_a_format_that_was_added_is_known_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "some.pairs").write_text("7-8")
    with tidelog.Session(PROGRAM) as session:
        session.bootstrap({"edge": tmp_path / "some.pairs"})
        assert sorted(session["back"]) == [(8, 7)]


def test_a_kind_of_io_that_nobody_has_added_is_refused() -> None:
    with pytest.raises(TidelogError) as caught:
        tidelog.Session(PROGRAM.replace("pairs", "qqq"))
    assert caught.value.codes == ("TL0604", "TL0604")
    assert "IO is one of file, stdin, sqlite, jsonfile, json, parquet, arrow, spark" in str(caught.value)


def test_two_formats_do_not_share_a_suffix() -> None:
    with pytest.raises(InternalError, match="parquet"):
        formats.add(Format("mine", suffixes=(".pq",)))


def test_what_only_spark_reads_is_not_taken_for_text(tmp_path: Path) -> None:
    (tmp_path / "edge.avro").write_bytes(b"Obj\x01")
    program = PROGRAM.replace("(IO=pairs)", "", 1).replace("(IO=pairs)", "")
    with tidelog.Session(program) as session, pytest.raises(TidelogError, match="let Spark read it"):
        session.bootstrap({"edge": tmp_path / "edge.avro"})
