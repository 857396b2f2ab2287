"""A Python data source for RDF files: triples as a DataFrame.

    spark.dataSource.register(TriplesDataSource)
    spark.read.format("ntriples").load("data/*.nt.gz")

The columns are `subject`, `predicate`, `object` and `graph`, each a term's canonical N-Triples text; the graph is empty
but for N-Quads and TriG. `path` is a file, a folder or a pattern that driver and tasks both see; the suffix of a file
says its format. Plain N-Triples and N-Quads are cut into stretches for several tasks, every other file is one task's. A
malformed line ends the job with its place; with `mode` DROPMALFORMED it is left out, as with Spark's own readers.
"""

from __future__ import annotations

import glob
import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from tidelog.errors import error
from tidelog.io.bad_rows import BadRows
from tidelog.rdf.files import LINES, format_of, read_triples, scope_of
from tidelog.rdf.lines import LineReader
from tidelog.spark.files import Stretch, lines_before, text_of, text_stretches
from tidelog.store.native import load
from tidelog.store.symbols import Symbols

COLUMNS = ("subject", "predicate", "object", "graph")
FAIL, DROP = "FAILFAST", "DROPMALFORMED"


class TriplesDataSource(DataSource):
    """See the module's docstring."""

    @classmethod
    def name(cls) -> str:
        return "ntriples"

    def schema(self) -> str:
        return ", ".join(f"{name} string" for name in COLUMNS)

    def reader(self, schema: StructType) -> DataSourceReader:
        return TriplesReader(files_of(self.options), skips(self.options))


class TriplesPartition(InputPartition):
    """A stretch of a file of lines, or a whole file."""

    def __init__(self, part: Stretch | Path) -> None:
        super().__init__(None)
        self.part = part


class TriplesReader(DataSourceReader):
    """Reads files, in a task for each part."""

    def __init__(self, files: list[Path], skip: bool) -> None:
        self.files, self.skip = files, skip

    def partitions(self) -> Sequence[InputPartition]:
        return [TriplesPartition(part) for file in self.files for part in parts_of(file)]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        assert isinstance(partition, TriplesPartition)
        symbols, bad = Symbols(load()), BadRows(self.skip)
        for words in _words(partition.part, symbols, bad):
            columns = [symbols.decode(words[:, i]).cast(pa.string()) for i in range(len(COLUMNS))]
            yield pa.RecordBatch.from_arrays(columns, list(COLUMNS))
        bad.check()


def parts_of(file: Path) -> list[Stretch | Path]:
    """What the tasks read of a file: stretches, if its lines can be found without reading all before them."""
    if format_of(file) in LINES and file.suffix[1:] in LINES:
        return list(text_stretches(file))
    return [file]


def _words(part: Stretch | Path, symbols: Symbols, bad: BadRows) -> Iterator[Any]:
    if isinstance(part, Path):
        yield from read_triples(part, symbols, bad)
        return
    path = Path(part.path)
    reader = LineReader(symbols, bad, part.path, format_of(path), scope_of(path))
    text = text_of(part)
    yield from reader.read(io.BytesIO(text))
    if bad.count and not bad.skip:  # once more, with the numbers of lines: to count them reads all that is before
        numbered = BadRows()
        for _ in LineReader(symbols, numbered, part.path, reader.suffix).read(io.BytesIO(text), 1 + lines_before(part)):
            pass
        numbered.check()


def files_of(options: Mapping[str, str]) -> list[Path]:
    """The files that the option `path` names; hidden ones are passed over."""
    if "path" not in options:
        raise error("TL1405", "which files are to be read?", help="say .load(path): a file, a folder or a pattern")
    path = Path(options["path"].removeprefix("file://"))
    found = sorted(path.iterdir()) if path.is_dir() else [Path(name) for name in sorted(glob.glob(str(path)))]
    files = [file.resolve() for file in found if not file.name.startswith((".", "_"))]
    if not files:
        raise error("TL1404", f"there is no file `{path}`")
    for file in files:
        format_of(file)
    return files


def skips(options: Mapping[str, str]) -> bool:
    """Whether malformed lines are left out."""
    mode = options.get("mode", FAIL).upper()
    if mode not in (FAIL, DROP):
        raise error("TL1405", f"there is no mode `{mode}`", help=f"there are {FAIL} and {DROP}")
    return mode == DROP
