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
    assert (folder / "out" / "path.csv").read_text() == "1\t2\n1\t3\n2\t3\n"
    assert list((folder / "paths").glob("*.parquet"))
    assert "Traceback" not in done.stderr


def test_run_starts_spark_says_so_and_can_keep_its_state(reach: Path) -> None:
    done = run(reach, sys.executable, "-m", "tidelog", "run", "reach.dl", "-D", "out", "--state", "kept")
    check(done, reach)
    assert done.stderr.startswith(f"Spark {pyspark.__version__} on local[*] (--local runs without it)\n")
    with tidelog.Session((reach / "reach.dl").read_text(), state=reach / "kept") as s:
        assert (s.epoch, s["path"].count()) == (1, 3)


def test_spark_submit_runs_a_program(reach: Path) -> None:
    submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    settings = ("--conf", "spark.driver.host=127.0.0.1", "--conf", "spark.driver.bindAddress=127.0.0.1")
    main = Path(tidelog.__file__).parent / "__main__.py"
    check(run(reach, submit, "--master", "local[2]", *settings, main, "run", "reach.dl", "-D", "out"), reach)
