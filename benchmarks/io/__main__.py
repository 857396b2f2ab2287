"""Reading, encoding and writing of facts, as ratios to Arrow's own CSV reader and writer in the same run.

python -m benchmarks.io [millions of facts, 10 unless told]
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv

from tidelog.analysis.check import check
from tidelog.io import BadRows, decode, encode, read_facts, write_relation
from tidelog.lang.souffle import parse
from tidelog.store.database import Database

_READ = csv.ReadOptions(column_names=["x", "y"])
_TAB = csv.ParseOptions(delimiter="\t")


def timed(action: Callable[[], Any], repeats: int = 3) -> tuple[float, Any]:
    """The best time of several, and the result."""
    best, result = float("inf"), None
    for _ in range(repeats):
        began = time.perf_counter()
        result = action()
        best = min(best, time.perf_counter() - began)
    return best, result


def table_of_kind(kind: str, rows: int) -> pa.Table:
    numbers = np.random.default_rng(1).integers(0, max(rows // 10, 1), (2, rows))
    if kind == "number":
        return pa.table({"x": numbers[0], "y": numbers[1]})
    texts = pa.array([f"<org.example.Some: void method{i}()>/local" for i in range(max(rows // 10, 1))])
    return pa.table({name: texts.take(pa.array(column)) for name, column in zip("xy", numbers, strict=True)})


def measure(kind: str, rows: int, folder: Path) -> None:
    checked = check(parse(f".decl r(x: {kind}, y: {kind})"))
    info, types = checked.relations["r"], checked.types
    table = table_of_kind(kind, rows)
    plain_write, _ = timed(
        lambda: csv.write_csv(table, folder / "plain.csv", csv.WriteOptions(include_header=False, delimiter="\t"))
    )
    write_relation(info, types, table, None, folder)
    (folder / "r.csv").rename(folder / "r.facts")
    plain_read, _ = timed(lambda: csv.read_csv(folder / "r.facts", _READ, _TAB))
    read, table = timed(lambda: read_facts(info, types, None, folder, BadRows()))
    database = Database()
    encoding, words = timed(lambda: encode(table, info, types, database), 1)
    decoding, decoded = timed(lambda: decode(words, info, types, database, compact=True))
    write, _ = timed(lambda: write_relation(info, types, decoded, None, folder))
    size = (folder / "r.facts").stat().st_size / 1e6
    print(f"{rows:,} pairs of {kind}, {size:,.0f} MB")
    print(f"  read   {read:7.2f} s   {read / plain_read:5.2f} of Arrow's {plain_read:.2f} s")
    print(f"  encode {encoding:7.2f} s   {encoding / plain_read:5.2f} of Arrow's reading")
    print(f"  decode {decoding:7.2f} s   {decoding / plain_write:5.2f} of Arrow's writing")
    print(f"  write  {write:7.2f} s   {write / plain_write:5.2f} of Arrow's {plain_write:.2f} s (ours is sorted)")


def main() -> None:
    rows = int(float(sys.argv[1] if len(sys.argv) > 1 else "10") * 1e6)
    for kind in ("number", "symbol"):
        with tempfile.TemporaryDirectory() as folder:
            measure(kind, rows, Path(folder))


if __name__ == "__main__":
    main()
