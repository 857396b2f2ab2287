"""Folders of part files as facts: recognised by what is in them, and read without Spark."""

from __future__ import annotations

import gzip

import pyarrow as pa
import pyarrow.orc as orc
import pyarrow.parquet as parquet
import pytest

import tidelog
from tidelog.errors import TidelogError
from tidelog.io import BadRows, read_facts
from tidelog.io.given import given_table

EDGE = ".decl edge(from: number, to: number)\n.input edge"
FIRST, SECOND = pa.table({"to": [2], "from": [1]}), pa.table({"to": [4], "from": [3]})
EXPECTED = [{"from": 1, "to": 2}, {"from": 3, "to": 4}]


@pytest.fixture
def folder(tmp_path):
    """A folder with what Spark leaves beside its part files."""
    place = tmp_path / "edges"
    place.mkdir()
    (place / "_SUCCESS").touch()
    (place / "._SUCCESS.crc").write_bytes(b"crc")
    return place


def write_parts(folder, kind):
    match kind:
        case "parquet":
            parquet.write_table(FIRST, folder / "part-00000-c000.snappy.parquet")
            parquet.write_table(SECOND, folder / "part-00001-c000.snappy.parquet")
        case "parquet without suffixes":
            parquet.write_table(FIRST, folder / "000000_0")
            parquet.write_table(SECOND, folder / "000001_0")
        case "partitions":
            for value, table in ((2, FIRST), (4, SECOND)):
                (folder / f"to={value}").mkdir()
                parquet.write_table(table.select(["from"]), folder / f"to={value}" / "part-00000.parquet")
        case "orc":
            orc.write_table(FIRST, str(folder / "part-00000.snappy.orc"))
            orc.write_table(SECOND, str(folder / "part-00001.snappy.orc"))
        case "csv":
            (folder / "part-00000.csv").write_text("1,2\n")
            (folder / "part-00001.csv.gz").write_bytes(gzip.compress(b"3,4\n"))
        case "text":
            (folder / "part-00000").write_text("1\t2\n")
            (folder / "part-00001").write_text("3\t4\n")
            (folder / "part-00002").touch()
        case "json":
            (folder / "part-00000.json").write_text('{"to": 2, "from": 1}\n')
            (folder / "part-00001.json").write_text('{"FROM": 3, "TO": 4}\n')


@pytest.mark.parametrize("kind", ["parquet", "parquet without suffixes", "partitions", "orc", "csv", "text", "json"])
def test_a_folder_is_read_as_what_is_in_it(declared, folder, kind):
    write_parts(folder, kind)
    info, types, directive = declared(EDGE)
    for given in (folder, str(folder)):
        assert given_table(given, info, types, directive, BadRows()).to_pylist() == EXPECTED
    if kind != "csv":
        named = declared(f'{EDGE}(filename="edges")')[2]
        assert read_facts(info, types, named, folder.parent, BadRows()).to_pylist() == EXPECTED


def test_headers_of_parts_are_passed_over(declared, folder):
    (folder / "part-00000.csv").write_text("from,to\n1,2\n")
    (folder / "part-00001.csv").write_text("from,to\n3,4\n")
    info, types, directive = declared(EDGE + "(headers=true, rfc4180=true)")
    assert given_table(folder, info, types, directive, BadRows()).to_pylist() == EXPECTED


def test_what_is_wrong_in_a_part_names_its_file(declared, folder):
    (folder / "part-00000").write_text("1\t2\n")
    (folder / "part-00001").write_text("3\tx\n")
    info, types, directive = declared(EDGE)
    with pytest.raises(TidelogError, match=r"part-00001:1:3"):
        given_table(folder, info, types, directive, BadRows())


def test_a_job_that_wrote_nothing_has_no_facts(declared, folder):
    info, types, directive = declared(EDGE)
    assert given_table(folder, info, types, directive, BadRows()).num_rows == 0


def test_what_is_no_folder_of_facts_is_refused(declared, folder):
    info, types, directive = declared(EDGE)
    write_parts(folder, "parquet")
    (folder / "notes.txt").write_text("1\t2\n")
    with pytest.raises(TidelogError, match=r"TL1261.*files of several formats: text \(notes.txt\) and parquet"):
        given_table(folder, info, types, directive, BadRows())
    (folder / "_delta_log").mkdir()
    with pytest.raises(TidelogError, match=r"TL1262.*is a table of Delta, which is more than its files"):
        given_table(folder, info, types, directive, BadRows())


def test_orc_is_written_and_read_back(tmp_path):
    program = (
        ".decl n(x: number, u: unsigned, s: symbol)\n.input n\n.decl r(x: number, u: unsigned, s: symbol)\n"
        'r(x, u, s) :- n(x, u, s).\n.output r(filename="r.orc")\n'
    )
    rows = {(-1, 2**64 - 1, "ä"), (2, 0, "")}
    with tidelog.Session(program) as s:
        s.bootstrap({"n": list(rows)})
        s.write_outputs(tmp_path)
        s.bootstrap({"n": tmp_path / "r.orc"})
        assert set(s["r"]) == rows
