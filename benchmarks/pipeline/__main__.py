"""Facts into a session on Spark and results out of it, as ratios to `spark.read….count()` of the same file.

python -m benchmarks.pipeline [millions of rows …, 1 5 20 unless told] [--markdown FILE]

For each size and format: Spark counts the rows of a file; a session with a resident worker is bootstrapped from it; the
relation is read back as a DataFrame and computed by a `noop` write. Evaluation is trivial (one relation, no rules), so
that what is measured is the pipeline: reading, checking, encoding, moving, storing. Each is done three times; the
median counts. `read all` is Spark alone, made to look at every value: what count() avoids.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq

import tidelog
from tidelog.spark.start import started

SHAPES = {
    "numbers": (".decl edge(a: number, b: number)", "a bigint, b bigint"),
    "symbols": (".decl edge(a: symbol, b: symbol)", "a string, b string"),
}
REPEATS = 3


def table_of(shape: str, rows: int) -> pa.Table:
    distinct = max(rows // 4, 1)
    numbers = np.random.default_rng(7).integers(0, distinct, (2, rows))
    if shape == "numbers":
        return pa.table({"a": numbers[0], "b": numbers[1]})
    texts = pa.array([f"node-{i}" for i in range(distinct)])
    return pa.table({name: texts.take(pa.array(column)) for name, column in zip("ab", numbers, strict=True)})


def seconds(action: Callable[[], Any]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def median(action: Callable[[], Any]) -> float:
    return statistics.median(seconds(action) for _ in range(REPEATS))


def compute(frame: Any) -> None:
    frame.write.format("noop").mode("overwrite").save()


def measure(spark: Any, shape: str, format: str, rows: int, folder: Path) -> dict[str, Any]:
    declaration, schema = SHAPES[shape]
    path = folder / f"edge.{'facts' if format == 'text' else 'parquet'}"
    table = table_of(shape, rows)
    if format == "text":
        csv.write_csv(table, path, csv.WriteOptions(include_header=False, delimiter="\t", quoting_style="none"))
        source = lambda: spark.read.schema(schema).option("sep", "\t").csv(str(path))  # noqa: E731
        directive = f'.input edge(filename="{path}")'
    else:
        pq.write_table(table, path)
        source = lambda: spark.read.parquet(str(path))  # noqa: E731
        directive = f'.input edge(IO="spark", format="parquet", path="{path}")'
    distinct = table.group_by(["a", "b"]).aggregate([]).num_rows
    del table
    counting, reading = median(lambda: source().count()), median(lambda: compute(source()))
    ingests, results = [], []
    for _ in range(REPEATS):  # a session each: a second bootstrap of one would also find out what has changed
        with tidelog.Session(f"{declaration}\n{directive}\n", spark=spark, strategy="batch") as session:
            ingests.append(seconds(session.bootstrap))
            if session["edge"].count() != distinct:
                raise SystemExit(f"{shape} {format}: rows were lost or made up")
            results.append(seconds(lambda: compute(session["edge"])))
    path.unlink()
    return {"shape": shape, "format": format, "rows": rows, "count": counting, "read all": reading,
            "ingest": statistics.median(ingests), "results": statistics.median(results)}  # fmt: skip


def line(found: dict[str, Any]) -> str:
    count = found["count"]
    rate = {what: found["rows"] / found[what] / 1e6 for what in ("ingest", "results")}
    return (
        f"| {found['shape']} | {found['format']} | {found['rows'] / 1e6:g} M | {count:.2f} s "
        f"| {found['read all'] / count:.1f} | {found['ingest'] / count:.1f} | {found['results'] / count:.1f} "
        f"| {found['ingest'] / found['read all']:.1f} | {rate['ingest']:.2f} | {rate['results']:.2f} |"
    )


HEADER = [
    "| facts | format | rows | count() | read all / count() | ingest / count() | results / count() "
    "| ingest / read all | ingest, M rows/s | results, M rows/s |",
    "|---|---|---|---|---|---|---|---|---|---|",
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("millions", nargs="*", type=float, default=[1, 5, 20])
    parser.add_argument("--markdown", type=Path)
    options = parser.parse_args()
    lines = [*HEADER]
    print("\n".join(HEADER))
    with tempfile.TemporaryDirectory() as folder, started("local[2]", lambda text: None) as spark:
        for millions in options.millions:
            for shape in SHAPES:
                for format in ("text", "parquet"):
                    lines.append(line(measure(spark, shape, format, int(millions * 1e6), Path(folder))))
                    print(lines[-1], flush=True)
    if options.markdown:
        options.markdown.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
