"""How long the first answer of `tidelog run` on Spark takes, beside Spark itself and its first Python job.

    python -m benchmarks.first_answer [ROUNDS]

Each round starts a Spark without Tidelog, and then the command over two facts, each in a process of its own. The first
answer is the first line that the command prints.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

REACH = """
.decl edge(from: number, to: number)
.input edge
.decl path(from: number, to: number)
path(x, y) :- edge(x, y).
path(x, z) :- path(x, y), edge(y, z).
.output path
"""
ALONE = """
import sys
from pyspark.sql import SparkSession
def same(batches):
    yield from batches
builder = SparkSession.builder.master("local[*]").config("spark.ui.enabled", "false")
spark = builder.config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1").getOrCreate()
print("started", flush=True)
spark.range(0, 1, 1, 1).mapInArrow(same, "id long").collect()
print("first job", flush=True)
spark.stop()
"""


def lines_of(command: list[str]) -> list[float]:
    """When the lines of a command's output came, in seconds, and then its end."""
    begin = time.monotonic()
    environment = os.environ | {"PYSPARK_PYTHON": sys.executable}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment) as process:
        assert process.stdout is not None
        found = [time.monotonic() - begin for _ in process.stdout]
    assert process.returncode == 0
    return [*found, time.monotonic() - begin]


def main(rounds: int) -> None:
    spark, job, answer, end = [], [], [], []
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "reach.dl").write_text(REACH)
        (Path(folder) / "edge.facts").write_text("1\t2\n2\t3\n")
        run = [sys.executable, "-m", "tidelog", "run", f"{folder}/reach.dl", "-F", folder, "-D", "-"]
        for _ in range(rounds):
            started, first, _ = lines_of([sys.executable, "-c", ALONE])
            times = lines_of(run)
            for figures, value in ((spark, started), (job, first - started), (answer, times[0]), (end, times[-1])):
                figures.append(value)
    names = ("Spark starts", "its first Python job", "tidelog run: first answer", "tidelog run: end")
    for name, figures in zip(names, (spark, job, answer, end), strict=True):
        print(f"{name:26} {statistics.median(figures):6.2f} s   ({min(figures):.2f} to {max(figures):.2f})")
    beyond = [a - s - j for a, s, j in zip(answer, spark, job, strict=True)]
    print(f"{'beyond Spark and a job':26} {statistics.median(beyond):6.2f} s")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
