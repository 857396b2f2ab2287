"""Tuples as text: the columns of a batch are joined by Arrow into the bytes of the file.

As Soufflé writes: values between delimiters, symbols as they are; with rfc4180, symbols and records in quotes and
the quotes inside of them doubled. Distinct texts are prepared once, not once per row.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv

from tidelog.analysis.types import RelationInfo, Type, TypeSystem
from tidelog.arrow import FEW, bytes_of, pc, texts_of
from tidelog.errors import Diagnostic, Severity
from tidelog.io.numbers import float_texts
from tidelog.io.place import Place
from tidelog.io.record_text import Quotes, requoted
from tidelog.values import Kind

BATCH = 1 << 18


def header_line(place: Place, info: RelationInfo) -> str:
    return place.header if place.header is not None else place.delimiter.join(info.attributes)


def text_parts(place: Place, info: RelationInfo, types: TypeSystem, table: pa.Table) -> Iterator[bytes | memoryview]:
    """The lines of the tuples, in parts; `table` comes from `order.sorted_table`."""
    if not info.arity:
        if table.num_rows:
            yield b"()\n"
        return
    plain = all(kind in (Kind.NUMBER, Kind.UNSIGNED) for kind in info.kinds) and len(place.delimiter.encode()) == 1
    declared = [types.types[name] for name in info.types]
    columns = [_prepared(c.combine_chunks(), t, place.rfc4180) for c, t in zip(table.columns, declared, strict=True)]
    for start in range(0, table.num_rows, BATCH):
        parts = [column.slice(start, BATCH) for column in columns]
        if len(parts[0]) <= FEW:
            yield _joined_few(parts, place.delimiter)
        else:
            yield _numbers(parts, place.delimiter) if plain else _joined(parts, place.delimiter)


def _numbers(columns: list[pa.Array], delimiter: str) -> memoryview:
    """Numbers need no care; Arrow's own writer is the fastest."""
    sink = pa.BufferOutputStream()
    options = csv.WriteOptions(include_header=False, delimiter=delimiter, quoting_style="needed")
    csv.write_csv(pa.table(columns, names=[str(i) for i in range(len(columns))]), sink, options)
    return memoryview(sink.getvalue())


def _joined(columns: list[pa.Array], delimiter: str) -> memoryview:
    pieces: list[pa.Array | str] = []
    for column in columns:
        pieces += [_texts(column), delimiter]
    pieces[-1] = "\n"
    lines = pc.binary_join_element_wise(*pieces, "")
    _, offsets, data = lines.buffers()
    width = np.int64 if pa.types.is_large_string(lines.type) else np.int32
    return memoryview(data)[: int(np.frombuffer(offsets, width)[len(lines)])]


def _joined_few(columns: list[pa.Array], delimiter: str) -> bytes:
    """The same, in Python."""
    texts = [
        bytes_of(column) if pa.types.is_dictionary(column.type) else [b"%d" % value for value in column.to_pylist()]
        for column in columns
    ]
    return b"".join(delimiter.encode().join(row) + b"\n" for row in zip(*texts, strict=True))


def _texts(column: pa.Array) -> pa.Array:
    if pa.types.is_dictionary(column.type):
        return column.dictionary.take(column.indices)
    return pc.cast(column, pa.string())


def _prepared(column: pa.Array | pa.ChunkedArray, declared: Type, rfc4180: bool) -> pa.Array:
    """A column as it is to be printed: integers, or a dictionary of texts."""
    if isinstance(column, pa.ChunkedArray):
        column = column.chunk(0) if column.num_chunks else pa.array([], column.type)
    if not pa.types.is_dictionary(column.type):
        return column
    texts = column.dictionary
    if declared.kind is Kind.FLOAT:
        texts = float_texts(texts.to_numpy())
    elif declared.kind is Kind.RECORD:
        texts = _printed_records(texts, declared, rfc4180)
    if rfc4180 and declared.kind is not Kind.FLOAT:
        if len(texts) <= FEW:
            texts = texts_of([b'"%b"' % text.replace(b'"', b'""') for text in bytes_of(texts)])
        else:
            doubled = pc.replace_substring(texts, '"', '""')
            texts = pc.binary_join_element_wise('"', doubled, '"', "")
    return pa.DictionaryArray.from_arrays(column.indices, texts)


def _printed_records(texts: pa.Array, declared: Type, rfc4180: bool) -> pa.Array:
    """With rfc4180 every symbol in a record is quoted, otherwise none."""
    quotes = Quotes.ALWAYS if rfc4180 else Quotes.NEVER
    return pa.array(
        [requoted(t, declared, quotes) if rfc4180 or '"' in t else t for t in texts.to_pylist()], pa.string()
    )


def unreadable(place: Place, info: RelationInfo, table: pa.Table) -> list[Diagnostic]:
    """A warning when symbols contain what separates values or lines, so that the file cannot be read back."""
    if place.rfc4180:
        return []
    for name, kind, column in zip(info.attributes, info.kinds, table.columns, strict=True):
        if kind is not Kind.SYMBOL or not column.num_chunks:
            continue
        for what, text in (("a line end", "\n"), ("the delimiter", place.delimiter)):
            if _any_has(column.chunk(0).dictionary, text):
                message = f"`{place.shown}`: symbols in attribute `{name}` of `{info.name}` contain {what}"
                advice = "such lines do not read back as they were; write the relation with rfc4180=true"
                return [Diagnostic("TL0638", message, place.span, advice, severity=Severity.WARNING)]
    return []


def _any_has(texts: pa.Array, part: str) -> bool:
    if len(texts) <= FEW:
        return any(part.encode() in text for text in bytes_of(texts))
    return bool(pc.any(pc.match_substring(texts, part)).as_py())
