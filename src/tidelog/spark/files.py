"""Files that tasks read by themselves, without Spark's readers in between: text by lines, Parquet by row groups.

A file is cut into *stretches*, and a DataFrame of numbers tells each task which of them are its own. What a task reads
it has as Arrow at once; Spark's readers would make rows of it, and Arrow of these again, at several times the cost.
Only files on a file system that this process sees are read so, and of Parquet only what Spark would read just like
that: flat columns of plain types, in a file or in a folder without partitions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq

from tidelog.io.folders import part_files
from tidelog.plain import dataclass
from tidelog.spark.slots import shares

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TEXT_STRETCH = 4 << 20
ROWS = 1 << 17
"""Rows per batch."""


@dataclass(frozen=True)
class Stretch:
    """A part of a file: from `first` to before `last`, in bytes of a text or in row groups of Parquet. Of these it is
    known how many rows they have."""

    path: str
    first: int
    last: int
    rows: int = 0


Shares: TypeAlias = tuple[tuple[Stretch, ...], ...]
"""Stretches by the task that reads them."""


def shared_out(spark: SparkSession, stretches: Sequence[Stretch]) -> tuple[DataFrame, Shares]:
    """A row for each task, with its number, and what these numbers mean."""
    n = shares(spark, len(stretches))
    bounds = [len(stretches) * i // n for i in range(n + 1)]
    parts = tuple(tuple(stretches[start:stop]) for start, stop in pairwise(bounds))
    return spark.range(0, n, 1, n), parts


def share_of(parts: Shares, batches: Iterable[pa.RecordBatch]) -> Iterator[Stretch]:
    """For tasks: the stretches that the numbers in these batches stand for."""
    for number in (n for batch in batches for n in batch.column(0).to_pylist()):
        yield from parts[number]


# ---- text


def text_stretches(path: Path) -> list[Stretch]:
    size = path.stat().st_size
    return [Stretch(str(path), first, min(first + TEXT_STRETCH, size)) for first in range(0, size, TEXT_STRETCH)]


def text_of(stretch: Stretch) -> bytes:
    """The lines that begin in a stretch, whole."""
    with open(stretch.path, "rb") as file:
        if stretch.first:
            file.seek(stretch.first - 1)
            file.readline()  # the rest of a line that began before; nothing, if one ends just there
        begin = file.tell()
        if begin >= stretch.last:
            return b""
        text = file.read(stretch.last - begin)
        return text if text.endswith(b"\n") else text + file.readline()


def lines_before(stretch: Stretch) -> int:
    """How many lines of the file begin before a stretch. Cost: reading all that is before it."""
    with open(stretch.path, "rb") as file:
        count, left = 0, stretch.first
        while left > 0 and (block := file.read(min(left, TEXT_STRETCH))):
            count += block.count(b"\n")
            left -= len(block)
        file.seek(max(stretch.first - 1, 0))
        inside = stretch.first > 0 and file.read(1) != b"\n"
    return count + inside


# ---- Parquet


def parquet_stretches(path: Path, names: Sequence[str]) -> list[Stretch] | None:
    """The row groups of a file, or of the files in a folder; None if Spark should read them."""
    files = [path] if path.is_file() else part_files(path)
    found: list[Stretch] = []
    for file in files:
        try:
            opened = pq.ParquetFile(file)
        except (OSError, pa.ArrowException):
            return None
        with opened:
            plain = all(_is_plain(field.type) for field in opened.schema_arrow)
            if not plain or opened.schema_arrow.names != list(names) or (file != path and file.parent != path):
                return None
            rows = (opened.metadata.row_group(group).num_rows for group in range(opened.num_row_groups))
            found += (Stretch(str(file), group, group + 1, count) for group, count in enumerate(rows))
    return found


def _is_plain(kind: pa.DataType) -> bool:
    return any(test(kind) for test in (pa.types.is_integer, pa.types.is_floating, pa.types.is_string))


def batches_of(stretch: Stretch, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """The rows of row groups, with these columns in this order."""
    with pq.ParquetFile(stretch.path) as file:
        for batch in file.iter_batches(ROWS, list(range(stretch.first, stretch.last)), list(names)):
            yield batch.select(list(names))
