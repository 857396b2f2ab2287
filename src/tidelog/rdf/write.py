"""Triples to files: N-Triples, N-Quads and Parquet in bulk, the other formats through pyoxigraph.

What is always true: a term's text is canonical and is written as it stands, so that a file that was read and written is
read as the same triples; a file is replaced as a whole or not at all. Cost: in bulk a few copies of the texts, some
hundred thousand triples at a time; other formats cost a microsecond or two for each triple.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, cast

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from tidelog.errors import error
from tidelog.io.atomic import replacing
from tidelog.rdf.files import COMPRESSED
from tidelog.rdf.grammar import FORMATS, parser
from tidelog.store.memory import Array
from tidelog.store.symbols import Symbols

COLUMNS = ("subject", "predicate", "object", "graph")
WRITTEN = (*FORMATS, "parquet")
GRAPHS = ("nq", "trig", "parquet", "jsonld")
AT_ONCE = 1 << 18
_SCHEMA = pa.schema([(name, pa.large_string()) for name in COLUMNS])


def write_triples(
    path: str | Path, words: Iterable[Array], symbols: Symbols, prefixes: Mapping[str, str] | None = None
) -> int:
    """Write rows of (subject, predicate, object) or with a graph; how many. The file's name says how, as in reading.

    A format that has no graphs takes triples of the default graph only.
    """
    path = Path(path)
    suffix = _format_of(path)
    count = 0

    def counted() -> Iterator[Any]:
        nonlocal count
        for part in words:
            for first in range(0, len(part), AT_ONCE):
                some = part[first : first + AT_ONCE]
                count += len(some)
                yield texts_of(some, symbols)

    with replacing(path) as place, _opened(place, path.suffix) as stream:
        write_texts(stream, counted(), suffix, prefixes)
    return count


def texts_of(words: Array, symbols: Symbols) -> Any:
    """The texts of rows of terms, as a table; without a graph, that of the default graph."""
    columns = [symbols.decode(words[:, i]) for i in range(words.shape[1])]
    if len(columns) == 3:
        columns.append(pa.repeat(pa.scalar("", pa.large_string()), len(words)))
    return pa.Table.from_arrays(columns, schema=_SCHEMA)


def write_texts(
    stream: BinaryIO, tables: Iterable[Any], suffix: str, prefixes: Mapping[str, str] | None = None
) -> None:
    """Write tables of `texts_of` in a format, a key of `FORMATS` or parquet."""
    if suffix not in GRAPHS:
        tables = map(_without_graphs, tables)
    if suffix in ("nt", "nq"):
        for table in tables:
            stream.write(lines_of(table))
    elif suffix == "parquet":
        with pq.ParquetWriter(stream, _SCHEMA) as writer:
            for table in tables:
                writer.write_table(table)
    else:
        ox = parser()
        quads: Iterator[Any] = chain.from_iterable(
            ox.parse(input=lines_of(table), format=ox.RdfFormat.N_QUADS) for table in tables if len(table)
        )
        form = getattr(ox.RdfFormat, FORMATS[suffix])
        if suffix not in GRAPHS:
            quads = (quad.triple for quad in quads)
        ox.serialize(quads, stream, form, prefixes=dict(prefixes) if prefixes else None)


def lines_of(table: Any) -> bytes:
    """N-Quads; of triples of the default graph, N-Triples."""
    if not len(table):
        return b""
    space, end = (pa.scalar(text, pa.large_string()) for text in (" ", ".\n"))
    graph, named = table["graph"], pc.not_equal(table["graph"], "")
    if pc.any(named).as_py():
        end = pc.if_else(named, pc.binary_join_element_wise(graph, end, space), end)
    terms = [table[name] for name in COLUMNS[:3]]
    lines = pc.binary_join_element_wise(*terms, end, space)
    return b"".join(_bytes(chunk) for chunk in lines.chunks)


def _bytes(texts: Any) -> Any:
    """The bytes of an array of texts, one behind the other."""
    ends = memoryview(texts.buffers()[1]).cast("q")
    return memoryview(texts.buffers()[2])[ends[texts.offset] : ends[texts.offset + len(texts)]]


def _without_graphs(table: Any) -> Any:
    named = pc.filter(table["graph"], pc.not_equal(table["graph"], ""))
    if len(named):
        raise error("TL1451", f"a triple is in the graph {named[0].as_py()}, and the format has no graphs",
                    help="write .nq, .trig or .parquet, or only the triples of the default graph")  # fmt: skip
    return table


def _format_of(path: Path) -> str:
    """The format that a file's name says."""
    suffixes = [suffix for suffix in path.suffixes if suffix not in COMPRESSED]
    suffix = suffixes[-1][1:].lower() if suffixes else ""
    if suffix not in WRITTEN:
        raise error("TL1450", f"`{path}`: there is no way to write `.{suffix}`",
                    help=f"there are {', '.join('.' + name for name in WRITTEN)}")  # fmt: skip
    if suffix == "parquet" and path.suffix in COMPRESSED:
        raise error("TL1450", f"`{path}`: Parquet is compressed already", help="leave out the last suffix")
    return suffix


@contextmanager
def _opened(place: Path, suffix: str) -> Iterator[BinaryIO]:
    """A file to write to, compressed as the suffix says."""
    how = COMPRESSED.get(suffix)
    with open(place, "wb") as file:
        if how is None:
            yield file
        elif how == "xz":
            import lzma

            with lzma.LZMAFile(file, "wb") as xz:
                yield cast(BinaryIO, xz)
        else:
            with pa.CompressedOutputStream(file, how) as stream:
                yield cast(BinaryIO, _Stream(stream))


class _Stream(io.RawIOBase):
    """Arrow's compressed stream for those who ask how much was written."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._stream.write(data)
        return len(data)
