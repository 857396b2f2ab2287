"""`tidelog run` on Spark, as processes of their own: started by itself, and by spark-submit."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest

import tidelog

REACH = """
.decl edge(from: number, to: number)
.input edge
.decl path(from: number, to: number)
path(x, y) :- edge(x, y).
path(x, z) :- path(x, y), edge(y, z).
.output path
.output path(IO="spark", format="parquet", path="{folder}/paths")
.printsize path
"""


@pytest.fixture
def reach(tmp_path: Path) -> Path:
    (tmp_path / "reach.dl").write_text(REACH.replace("{folder}", str(tmp_path)))
    (tmp_path / "edge.facts").write_text("1\t2\n2\t3\n")
    (tmp_path / "out").mkdir()
    return tmp_path


def run(folder: Path, *command: str | Path) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable}
    return subprocess.run(
        list(map(str, command)), cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
    )


def check(done: subprocess.CompletedProcess[str], folder: Path) -> None:
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("path\t3\n")  # spark-submit puts what goes to standard error there, too
    check_files(done, folder)


def check_files(done: subprocess.CompletedProcess[str], folder: Path) -> None:
    assert (folder / "out" / "path.csv").read_text() == "1\t2\n1\t3\n2\t3\n"
    assert list((folder / "paths").glob("*.parquet"))
    assert "Traceback" not in done.stderr


def check_run(done: subprocess.CompletedProcess[str], folder: Path) -> None:
    """What the first of several commands did."""
    assert done.stderr.startswith(f"Spark {pyspark.__version__} on local[*] (--local runs without it)\n")
    check_files(done, folder)
    assert done.stdout.startswith("path\t3\n")
    found = {total.task.text: total.tuples for total in tidelog.Profile.read(folder / "p.json").totals()}
    assert found["path(x, z) :- path(x, y), edge(y, z)."] == 1
    with tidelog.Session((folder / "reach.dl").read_text(), state=folder / "first") as s:
        assert (s.epoch, s["path"].count()) == (1, 3)


def test_spark_submit_runs_a_program(reach: Path) -> None:
    submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    settings = ("--conf", "spark.driver.host=127.0.0.1", "--conf", "spark.driver.bindAddress=127.0.0.1")
    main = Path(tidelog.__file__).parent / "__main__.py"
    check(run(reach, submit, "--master", "local[2]", *settings, main, "run", "reach.dl", "-D", "out"), reach)


COMMANDS = """
import io, sys
from tidelog.cli.command_line import command_line

class Typed(io.StringIO):
    @property
    def buffer(self):
        return io.BytesIO(self.getvalue().encode())

sys.stdin = Typed("start; insert edge(4, 5), delete edge(1, 2); commit dump_changes; dump path; path(3, X)? profile;")
for command in (
    ["run", "reach.dl", "-D", "out", "--state", "first", "-p", "p.json"],
    ["bootstrap", "reach.dl", "kept", "--master", "local[1]"],
    ["update", "kept", "--insert", "edge=new.facts", "--master", "local[1]"],
    ["shell", "reach.dl", "--state", "kept", "--master", "local[1]"],
):
    command_line(command)(command, standalone_mode=False)
"""


def test_commands_start_spark_say_so_and_keep_their_state(reach: Path) -> None:
    """One after the other in one process, which has one JVM. Their worker needs no slot: the session is their own."""
    (reach / "new.facts").write_text("3\t4\n")
    done = run(reach, sys.executable, "-c", COMMANDS)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("Spark ") == 4
    check_run(done, reach)
    _, first, second, *lines = done.stdout.splitlines()
    assert first.startswith("epoch 1: bootstrap")
    assert second.startswith("epoch 2: update")
    assert "edge +1, path +3" in second
    path = "path{{.from = {}, .to = {}}}".format
    gone, come = ((1, 2), (1, 3), (1, 4)), ((2, 5), (3, 5), (4, 5))
    there = ((2, 3), (2, 4), (2, 5), (3, 4), (3, 5), (4, 5))
    assert lines[:14] == [
        "path:", *(f"{path(*row)}: -1" for row in gone), *(f"{path(*row)}: +1" for row in come),
        *(path(*row) for row in there), "X = 4",
    ]  # fmt: skip
    assert lines[14] == "X = 5"
    assert lines[-2:] == ["edge: 3 tuples", "path: 6 tuples"]
    with tidelog.Session((reach / "reach.dl").read_text(), state=reach / "kept") as s:
        assert (s.epoch, s["path"].count()) == (3, 6)
