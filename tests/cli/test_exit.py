"""The end of a process: a command that has printed its result ends with status 0, whatever threads still hold.

`make exits` does it 2,000 times at a load of four.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

import tidelog
from tidelog.cli import check, main
from tidelog.io.arrow_memory import reader_of

RUNS = int(os.environ.get("TIDELOG_EXITS", "6"))
LOAD = 4  # runs at a time

PROGRESS = re.compile(r"^(reading facts|stratum).* MiB\n", re.MULTILINE)
"""What a run says that takes more than two seconds, as it may on a busy machine."""

PROGRAM = """
.decl text(x: number, y: symbol)
.input text
.decl zipped(x: number, y: symbol)
.input zipped(filename="zipped.facts.gz")
.decl columns(x: number, y: symbol)
.input columns(filename="columns.parquet")
.decl object(x: number, y: symbol)
.input object(IO=jsonfile, filename="object.json")
.decl table(x: number, y: symbol)
.input table(IO=sqlite, dbname="table.sqlite")
.decl all(x: number, y: symbol)
all(x, y) :- text(x, y).
all(x, y) :- zipped(x, y).
all(x, y) :- columns(x, y).
all(x, y) :- object(x, y).
all(x, y) :- table(x, y).
.printsize all
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Facts of every format, ten each."""
    Path(tmp_path, "all.dl").write_text(PROGRAM)
    lines = "".join(f"{i}\ttext\n" for i in range(10))
    Path(tmp_path, "text.facts").write_text(lines)
    Path(tmp_path, "zipped.facts.gz").write_bytes(gzip.compress(lines.replace("text", "zipped").encode()))
    parquet.write_table(pa.table({"x": range(10), "y": ["columns"] * 10}), Path(tmp_path, "columns.parquet"))
    Path(tmp_path, "object.json").write_text(json.dumps([[i, "object"] for i in range(10)]))
    with sqlite3.connect(Path(tmp_path, "table.sqlite")) as database:
        database.execute('CREATE TABLE "table" (x INTEGER, y TEXT)')
        database.executemany('INSERT INTO "table" VALUES (?, ?)', [(i, "table") for i in range(10)])
    database.close()
    return tmp_path


@pytest.mark.timeout(4 * 3600 if RUNS > 100 else 300)
def test_a_run_ends_with_status_0_after_reading_facts_of_every_format(folder: Path) -> None:
    command = [sys.executable, "-m", "tidelog", "run", "all.dl", "--local"]

    def run(_: int) -> tuple[int, str, str]:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, PROGRESS.sub("", done.stderr)

    with ThreadPoolExecutor(LOAD if RUNS > 100 else 2) as pool:
        ends = set(pool.map(run, range(RUNS)))
    assert ends == {(0, "all\t50\n", "")}


def test_memory_that_arrow_reads_is_not_pythons() -> None:
    data = bytes(range(256))
    held = sys.getrefcount(data)
    reader = reader_of(data)
    assert sys.getrefcount(data) == held
    assert reader.read() == data


def test_threads_of_arrow_get_no_memory_of_python() -> None:
    """Every reader of bytes goes through `reader_of`, and what is grouped or joined by Arrow is so on one thread."""
    sources = Path(tidelog.__file__).parent.rglob("*.py")
    suspects = re.compile(r"BufferReader\(|\.group_by\((?!.*use_threads=False)|join_type=(?!.*use_threads=False)")
    found = {path.name for path in sources if suspects.search(path.read_text())}
    assert found == {"arrow_memory.py"}


def test_an_error_that_nobody_foresaw_is_told_in_two_lines_and_its_traceback_kept(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object) -> None:
        raise KeyError("edge")

    monkeypatch.setattr(check, "checked_file", broken)
    monkeypatch.setattr(sys, "argv", ["tidelog", "check", "reach.dl"])
    with pytest.raises(SystemExit) as end:
        main.main()
    assert end.value.code == 70
    first, second = capsys.readouterr().err.splitlines()
    assert first == "internal error: KeyError: 'edge'"
    kept = Path(second.removeprefix("This is a bug in Tidelog; please report it, with the file ").removesuffix("."))
    assert "tidelog check reach.dl" in kept.read_text()
    assert 'raise KeyError("edge")' in kept.read_text()
    kept.unlink()
