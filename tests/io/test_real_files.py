"""Real fact files, where they are at hand: every line is read, and what is written is what was read."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from tidelog.io import BadRows, read_facts, write_relation

DATA = Path(__file__).parents[3] / "shared" / "data"


@pytest.mark.parametrize(
    ("archive", "file", "attributes"),
    [
        ("galen", "q.facts", "a: number, b: number, c: number"),
        ("crdt", "insert_input.facts", "a: number, b: number, c: number, d: number"),
        ("doop", "AssignHeapAllocation.facts", "i: symbol, n: number, h: symbol, t: symbol, m: symbol, l: number"),
        ("doop", "StringConstant.facts", "heap: symbol"),
        ("doop", "Method.facts", "a: symbol, b: symbol, c: symbol, d: symbol, e: symbol, f: symbol, n: number"),
    ],
)
def test_real_facts_are_read_and_written_as_they_are(archive, file, attributes, declared, tmp_path):
    if not (DATA / f"{archive}.tar.xz").exists():
        pytest.skip("the data is not here")
    with tarfile.open(DATA / f"{archive}.tar.xz") as packed:
        member = next(m for m in packed if Path(m.name).name == file)
        content = packed.extractfile(member).read()
    (tmp_path / file).write_bytes(content)
    info, types, directive = declared(f'.decl r({attributes})\n.input r(filename="{file}")')
    bad = BadRows()
    table = read_facts(info, types, directive, tmp_path, bad)
    assert bad.report() == []
    lines = content.decode().replace("\r\n", "\n").split("\n")
    assert table.num_rows == len(lines) - (lines[-1] == "")
    write_relation(info, types, table, None, tmp_path)
    assert sorted((tmp_path / "r.csv").read_bytes().decode().split("\n")) == sorted(lines)
